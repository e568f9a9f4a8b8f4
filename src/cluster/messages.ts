import type { Bytes } from "../base/bytes.ts";
import { KeyReader, key, keyAfter, SPACE } from "../base/keys.ts";
import type { Store, Transaction, View } from "../store/store.ts";
import type { FrontEnd } from "./front-end.ts";

const MESSAGES_PER_READ = 256;
const READ_AGAIN_MS = 1_000;

/**
 * Messages between front ends, as records: a message is sent with a commit or not at all, arrives in
 * the order of the commits, and is not lost while its receiver runs.
 */
export class Messages {
  readonly #store: Store;
  readonly #frontEnd: FrontEnd;
  #receive: (message: Bytes) => void = () => {};
  #isReading = false;
  #isDue = false;
  /** Keys of messages that were received, but perhaps not deleted. */
  #received: ReadonlySet<string> = new Set();
  #again: NodeJS.Timeout | null = null;
  #stop: () => void = () => {};

  constructor(store: Store, frontEnd: FrontEnd) {
    this.#store = store;
    this.#frontEnd = frontEnd;
  }

  epoch(): bigint {
    return this.#frontEnd.epoch;
  }

  post(tx: Transaction, epoch: bigint, message: Bytes): void {
    tx.set(key(SPACE.peerMessage, epoch, tx.stamp()), message);
  }

  listen(receive: (message: Bytes) => void): void {
    this.#receive = receive;
    this.#stop();
    this.#stop = this.#store.changes((keys) => this.#hear(keys));
    this.#hear(null);
  }

  close(): void {
    this.#stop();
    if (this.#again !== null) clearTimeout(this.#again);
  }

  #hear(keys: readonly Bytes[] | null): void {
    const own = key(SPACE.peerMessage, this.#frontEnd.epoch);
    const isOwn = (one: Bytes) => one.subarray(0, own.length).equals(own);
    if (keys?.some(isOwn) === false) return;
    this.#isDue = true;
    // Listeners are called between bodies, and must not throw.
    if (!this.#isReading) void this.#read();
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    while (this.#isDue) {
      this.#isDue = false;
      try {
        if ((await this.#readPage()) === MESSAGES_PER_READ) this.#isDue = true;
      } catch {
        // Out of reach. The engine tells its listeners that it lost track when it has connected
        // again, but a call may also fail while the connection stays.
        this.#again ??= setTimeout(() => this.#readAgain(), READ_AGAIN_MS).unref();
      }
    }
    this.#isReading = false;
  }

  #readAgain(): void {
    this.#again = null;
    this.#hear(null);
  }

  /**
   * A message is received before it is deleted: a deletion whose outcome is unknown may have taken
   * effect. So a page may have messages that were received before. They are its first ones.
   */
  async #readPage(): Promise<number> {
    const own = key(SPACE.peerMessage, this.#frontEnd.epoch);
    const found = await this.#store.read((view) =>
      view.range(own, keyAfter(own), { limit: MESSAGES_PER_READ }),
    );
    const before = this.#received;
    this.#received = new Set(found.map((entry) => entry.key.toString("hex")));
    if (found.length === 0) return 0;
    for (const entry of found) {
      if (!before.has(entry.key.toString("hex"))) this.#receive(entry.value);
    }
    await this.#store.transact((tx) => {
      for (const entry of found) tx.delete(entry.key);
    });
    return found.length;
  }
}

/** Deletes messages to front ends that do not run. */
export async function clearMessages(
  store: Store,
  runs: (view: View, epoch: bigint) => boolean,
): Promise<void> {
  const all = key(SPACE.peerMessage);
  for (let from = all; ; ) {
    const start = from;
    const last = await store.transact((tx) => {
      const page = tx.range(start, keyAfter(all), { limit: MESSAGES_PER_READ });
      for (const entry of page) {
        if (!runs(tx, new KeyReader(entry.key).u64())) tx.delete(entry.key);
      }
      return page.at(-1);
    });
    if (last === undefined) return;
    from = keyAfter(last.key);
  }
}
