import type { StoreError } from "../../store/store.ts";
import type { Cell } from "./memtable.ts";

/** A group commit: writes that become durable together. */
export class Group {
  readonly number: number;
  /** Each changed record once, as it is when the group is written. */
  readonly cells: Cell[] = [];
  /** The most bytes that the records take in the WAL. */
  bytes = 0;
  /** Whether a call waits for it. */
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
    // A group without waiting calls must not cause an unhandled rejection.
    this.written.catch(() => {});
  }
}
