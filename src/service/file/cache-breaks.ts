import { Waits } from "../../base/waits.ts";
import { awaitsBreak, beginBreak, forceBreak } from "../../rules/caching.ts";
import type { Store, Transaction } from "../../store/store.ts";
import { type CacheOwner, readCache, writeCache } from "./cache-records.ts";
import { type BreakNotice, cachesInTheWay, writeStep } from "./caches.ts";
import type { CachesInTheWay } from "./caches-in-the-way.ts";
import { type OpenItem, readOpens } from "./open-records.ts";

/** How long a client has to give up what it was told to. */
export const BREAK_MS_MAX = 35_000;

/** Time that passes by itself; tests let it pass by hand. */
export interface Timer {
  /** Calls `done` later, unless what this returns is called before. */
  start(ms: number, done: () => void): () => void;
}

export const systemTimer: Timer = {
  start(ms, done) {
    const timeout = setTimeout(done, ms).unref();
    return () => clearTimeout(timeout);
  },
};

/**
 * Between those who keep something of files and those in whose way it is. What is decided is in the
 * store; here are only the telling and the waiting, within one process.
 */
export class CacheBreaks {
  readonly timer: Timer;
  readonly #waits = new Waits();
  readonly #deadlines = new Map<string, () => void>();
  #tell: (notice: BreakNotice) => void = () => {};

  constructor(timer: Timer = systemTimer) {
    this.timer = timer;
  }

  /** Who passes notices on to clients. */
  listen(tell: (notice: BreakNotice) => void): void {
    this.#tell = tell;
  }

  /**
   * Tells clients to give up what is in the way, and waits until it is settled where one has to wait.
   * False if `patience` ended before; it is asked for only then.
   */
  async makeWay(store: Store, way: CachesInTheWay, patience: () => AbortSignal): Promise<boolean> {
    const end = new AbortController();
    const settled = this.#waits.next(nameOf(way.item), [end.signal]);
    try {
      const { notices, mustWait } = await store.transact((tx) => breakCaches(tx, way));
      for (const notice of notices) this.send(store, notice);
      if (!mustWait) return true;
      const signal = patience();
      if (signal.aborted) return false;
      signal.addEventListener("abort", () => end.abort(), { once: true });
      await settled;
      return !signal.aborted;
    } finally {
      end.abort();
    }
  }

  /** Passes a notice on, and sees to it that the answer does not take forever. */
  send(store: Store, notice: BreakNotice): void {
    const { item, owner, mustAnswer } = notice;
    this.#takeBackDeadline(item, owner);
    if (mustAnswer) {
      const late = this.timer.start(BREAK_MS_MAX, () => this.#force(store, item, owner));
      this.#deadlines.set(nameOf(item, owner), late);
    }
    this.#tell(notice);
  }

  /** A client has answered, or has closed the file. */
  finish(item: OpenItem, owner: CacheOwner): void {
    // With every handle that is closed; nearly always nobody waits for anything.
    if (this.#deadlines.size > 0) this.#takeBackDeadline(item, owner);
    if (this.#waits.areThere) this.#waits.wake(nameOf(item));
  }

  /** Nobody waits for anything any more. */
  close(): void {
    for (const takeBack of this.#deadlines.values()) takeBack();
    this.#deadlines.clear();
  }

  #force(store: Store, item: OpenItem, owner: CacheOwner): void {
    store
      .transact((tx) => {
        const cache = readCache(tx, item, owner);
        if (cache === null || cache.caching.breaking === null) return;
        const { isVersioned, epoch, handles, users } = cache;
        const caching = forceBreak(cache.caching);
        writeCache(tx, item, { owner, caching, isVersioned, epoch, handles, users });
      })
      // A store that fails stops the process; one that is being closed has nobody waiting.
      .catch(() => {})
      .finally(() => this.finish(item, owner));
  }

  #takeBackDeadline(item: OpenItem, owner: CacheOwner): void {
    const name = nameOf(item, owner);
    this.#deadlines.get(name)?.();
    this.#deadlines.delete(name);
  }
}

function nameOf({ share, id }: OpenItem, owner?: CacheOwner): string {
  return owner === undefined ? `${share}/${id}` : `${share}/${id}/${owner.toString("hex")}`;
}

function breakCaches(
  tx: Transaction,
  { item, own, intrusion }: CachesInTheWay,
): { readonly notices: readonly BreakNotice[]; readonly mustWait: boolean } {
  const notices: BreakNotice[] = [];
  let mustWait = false;
  const opens = readOpens(tx, item);
  const caches = opens === null ? [] : cachesInTheWay(tx, item, opens, own, intrusion);
  for (const cache of caches) {
    const step = beginBreak(cache.caching, intrusion);
    const notice = writeStep(tx, item, cache, step);
    if (notice !== null) notices.push(notice);
    if (awaitsBreak(step.caching, intrusion)) mustWait = true;
  }
  return { notices, mustWait };
}
