import type { StoreError } from "../../store/store.ts";
import type { Cell } from "./memtable.ts";

/** Writes that become durable together. */
export class Group {
  readonly number: number;
  /** Each record once, as it is when the group leaves for the disk. */
  readonly cells: Cell[] = [];
  /** At most what the records take in the WAL. */
  bytes = 0;
  /** Somebody waits for it. */
  isWanted = false;
  readonly written: Promise<void>;
  succeed: () => void = () => {};
  fail: (error: StoreError) => void = () => {};

  constructor(number: number) {
    this.number = number;
    this.written = new Promise((resolve, reject) => {
      this.succeed = resolve;
      this.fail = reject;
    });
    // Perhaps nobody waits for it.
    this.written.catch(() => {});
  }
}
