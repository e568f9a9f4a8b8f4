import { MIB } from "../../base/limits.ts";
import type { StoreError } from "../../store/store.ts";
import type { Cell } from "./memtable.ts";

/**
 * A group with this many bytes takes no more writes. Encoding a group and its checksum holds up the
 * event loop for about 1.5 ms per MiB.
 */
const GROUP_BYTES_ENOUGH = 2 * MIB;

/** A group commit: writes that become durable together. */
export class Group {
  readonly number: number;
  /** Each changed record once, as it is when the group is written. */
  readonly cells: Cell[] = [];
  /** The most bytes that the records take in the WAL. */
  bytes = 0;
  /** Transactions that have written to it. */
  transactions = 0;
  /** Whether a call waits for it. */
  isWanted = false;
  readonly written: Promise<void>;
  succeed: () => void = () => {};
  fail: (error: StoreError) => void = () => {};
  #closed: Promise<void> | null = null;
  #onClose = () => {};

  constructor(number: number) {
    this.number = number;
    this.written = new Promise((resolve, reject) => {
      this.succeed = resolve;
      this.fail = reject;
    });
    // A group without waiting calls must not cause an unhandled rejection.
    this.written.catch(() => {});
  }

  get isFull(): boolean {
    return this.bytes >= GROUP_BYTES_ENOUGH;
  }

  /** Resolves once the group takes no more writes. */
  whenClosed(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#onClose = resolve;
    });
    return this.#closed;
  }

  close(): void {
    this.#onClose();
  }
}
