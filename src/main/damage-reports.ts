import type { Bytes } from "../base/bytes.ts";
import type { Store } from "../store/store.ts";
import { nameOfRecord } from "./object-names.ts";

/** The most damaged records that are reported. */
const REPORTS_MAX = 10_000;

/** Reports the names of objects whose records are damaged, each once. */
export class DamageReports {
  readonly #report: (name: string) => void;
  readonly #reported = new Set<string>();
  #store: Store | null = null;
  #naming: Promise<void> = Promise.resolve();

  constructor(report: (name: string) => void) {
    this.#report = report;
  }

  /** Sets the store in which names are looked up. */
  lookIn(store: Store): void {
    this.#store = store;
  }

  readonly onDamage = (key: Bytes): void => {
    const hex = key.toString("hex");
    if (this.#reported.has(hex) || this.#reported.size >= REPORTS_MAX) return;
    this.#reported.add(hex);
    this.#naming = this.#naming.then(() => this.#name(key));
  };

  /** Resolves once all damage found so far is reported. */
  async finish(): Promise<void> {
    for (let last: Promise<void> | null = null; last !== this.#naming; ) {
      last = this.#naming;
      await last;
    }
  }

  async #name(key: Bytes): Promise<void> {
    const hex = `record ${key.toString("hex")}`;
    try {
      this.#report((await this.#store?.read((view) => nameOfRecord(view, key))) ?? hex);
    } catch {
      this.#report(hex);
    }
  }
}
