import type { Bytes } from "../base/bytes.ts";
import type { Store } from "../store/store.ts";
import { nameOfRecord } from "./object-names.ts";

/** Damaged records that are told once each; of more, nothing is said. */
const TOLD_MAX = 10_000;

/** Tells the names of objects whose records are damaged, each once. */
export class DamageReports {
  readonly #tell: (name: string) => void;
  readonly #told = new Set<string>();
  #store: Store | null = null;
  #naming: Promise<void> = Promise.resolve();

  constructor(tell: (name: string) => void) {
    this.#tell = tell;
  }

  /** Names are looked up here from now on. */
  lookIn(store: Store): void {
    this.#store = store;
  }

  readonly onDamage = (key: Bytes): void => {
    const hex = key.toString("hex");
    if (this.#told.has(hex) || this.#told.size >= TOLD_MAX) return;
    this.#told.add(hex);
    this.#naming = this.#naming.then(() => this.#name(key));
  };

  /** Resolves once all that was met has been told. */
  async finish(): Promise<void> {
    for (let last: Promise<void> | null = null; last !== this.#naming; ) {
      last = this.#naming;
      await last;
    }
  }

  async #name(key: Bytes): Promise<void> {
    const hex = `record ${key.toString("hex")}`;
    try {
      this.#tell((await this.#store?.read((view) => nameOfRecord(view, key))) ?? hex);
    } catch {
      this.#tell(hex);
    }
  }
}
