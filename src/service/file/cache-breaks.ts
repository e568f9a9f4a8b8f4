import { AsyncResource } from "node:async_hooks";
import type { Bytes } from "../../base/bytes.ts";
import { SPACE } from "../../base/keys.ts";
import { Waits } from "../../base/waits.ts";
import { awaitsBreak, beginBreak, forceBreak } from "../../rules/caching.ts";
import {
  isUnknown,
  isUnreachable,
  type Store,
  type Transaction,
  type View,
} from "../../store/store.ts";
import type { CacheBreakNeeded } from "./cache-break-needed.ts";
import type { CacheOwner } from "./cache-owner.ts";
import {
  type Cache,
  epochsOfCache,
  itemOfCacheKey,
  readCache,
  writeCache,
} from "./cache-records.ts";
import { type BreakNotice, cachesToBreak, writeStep } from "./caches.ts";
import { type OpenItem, readOpens } from "./open-records.ts";
import { encodeMessage } from "./peer-messages.ts";
import type { Peers } from "./peers.ts";

/** Tells another front end to send a break to its client. */
export interface BreakMessage {
  readonly kind: "break";
  readonly notice: BreakNotice;
}

/** How long a client has to answer a break. */
export const BREAK_MS_MAX = 35_000;

/** When to force a break again, after the store could not be reached. */
const FORCE_AGAIN_MS = 1_000;

/** Starts timeouts. Tests use a manual timer. */
export interface Timer {
  /** Calls `done` after `ms`, unless the returned function is called first. */
  start(ms: number, done: () => void): () => void;
}

export const systemTimer: Timer = {
  start(ms, done) {
    const timeout = setTimeout(done, ms).unref();
    return () => clearTimeout(timeout);
  },
};

/** When a client that was sent this notice loses its caching. */
interface Deadline {
  readonly notice: BreakNotice;
  takeBack(): void;
}

/**
 * Sends breaks of oplocks and leases to clients and waits for the answers. The store holds what is
 * decided. Clients of other front ends get their notices from there, and the changed records tell
 * of their answers.
 */
export class CacheBreaks {
  readonly timer: Timer;
  readonly #peers: Peers | null;
  readonly #waits = new Waits();
  readonly #deadlines = new Map<string, Deadline>();
  /** Apart from the request that needs a break: a lab must not take the break for a part of it. */
  readonly #scope = new AsyncResource("CacheBreaks");
  #tell: (notice: BreakNotice) => void = () => {};

  /** `peers` is null for a process that is alone. */
  constructor(timer: Timer = systemTimer, peers: Peers | null = null) {
    this.timer = timer;
    this.#peers = peers;
  }

  /** Registers the function that sends notices to clients. */
  listen(tell: (notice: BreakNotice) => void): void {
    this.#tell = tell;
  }

  /**
   * Tells clients to give up the caching in conflict, and waits for their answers where an
   * operation must wait. False if `patience` ended first; it is called only if there is a wait.
   */
  async breakCaches(
    store: Store,
    needed: CacheBreakNeeded,
    patience: () => AbortSignal,
  ): Promise<boolean> {
    const end = new AbortController();
    const settled = this.#waits.next(nameOf(needed.item), [end.signal]);
    try {
      const { notices, mustWait } = await this.#begin(store, needed);
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

  /** Begins breaks. Resolves to the notices for clients of this front end. */
  async #begin(store: Store, needed: CacheBreakNeeded): Promise<BegunBreaks> {
    let notices: readonly BreakNotice[] = [];
    const begin = (tx: Transaction) => {
      const begun = beginBreaks(tx, needed);
      // Of the last run: if its outcome is unknown, nobody else knows them.
      notices = begun.notices.filter((notice) => this.#isOwn(tx, notice));
      return { ...begun, notices };
    };
    try {
      return await this.#scope.runInAsyncScope(() => store.transact(begin));
    } catch (error) {
      // If the records have the breaks nevertheless, nobody would be told of them later. If not, the
      // clients give up caching that they might have kept.
      if (isUnknown(error)) for (const notice of notices) this.send(store, notice);
      throw error;
    }
  }

  /** Sends a notice. A repeated one is sent only if its client must still answer and was not told. */
  send(store: Store, notice: BreakNotice): void {
    if (notice.isRepeat) void this.#sendAgain(store, notice);
    else this.#sendNow(store, notice);
  }

  /** Every operation that waits for a break repeats its notice. */
  async #sendAgain(store: Store, notice: BreakNotice): Promise<void> {
    if (this.#isTold(notice)) return;
    // The client may have answered since the notice was written, above all if another front end
    // wrote it. Without the records, the next operation that waits repeats it.
    const isDue = await store.read((view) => isInProgress(view, notice)).catch(() => false);
    if (isDue && !this.#isTold(notice)) this.#sendNow(store, notice);
  }

  /** Whether the client was told, and has time to answer. */
  #isTold({ item, owner, from, to }: BreakNotice): boolean {
    const told = this.#deadlines.get(nameOf(item, owner))?.notice;
    return told?.from === from && told.to === to;
  }

  /** Sends a notice, and starts the deadline if the client must answer. */
  #sendNow(store: Store, notice: BreakNotice): void {
    const { item, owner, mustAnswer } = notice;
    this.#takeBackDeadline(item, owner);
    if (mustAnswer) this.#startDeadline(store, notice, BREAK_MS_MAX);
    this.#tell(notice);
  }

  /**
   * Called when a client has answered, and when a handle was closed. `owner` has no deadline any
   * more; null if the client of the handle still has caching, and perhaps a break to answer.
   */
  finish(item: OpenItem, owner: CacheOwner | null): void {
    // Called with every close; nearly always there is nothing to wake.
    if (owner !== null && this.#deadlines.size > 0) this.#takeBackDeadline(item, owner);
    if (this.#waits.areThere) this.#waits.wake(nameOf(item));
  }

  /** Learns of commits at other front ends: their clients may have answered. */
  hear(keys: readonly Bytes[] | null): void {
    if (!this.#waits.areThere) return;
    if (keys === null) this.#waits.wakeAll();
    for (const key of keys ?? []) {
      if (key[0] === SPACE.cache) this.#waits.wake(nameOf(itemOfCacheKey(key)));
    }
  }

  /** Whether the client is one of ours. Sends the notice to the other front ends that serve it. */
  #isOwn(tx: Transaction, notice: BreakNotice): boolean {
    const peers = this.#peers;
    if (peers === null) return true;
    const epochs = epochsOfCache(tx, notice.item, notice.owner);
    const message = encodeMessage<BreakMessage>({ kind: "break", notice });
    for (const epoch of epochs) if (epoch !== peers.epoch()) peers.post(tx, epoch, message);
    return epochs.has(peers.epoch());
  }

  /** Cancels all deadlines. */
  close(): void {
    for (const { takeBack } of this.#deadlines.values()) takeBack();
    this.#deadlines.clear();
  }

  #startDeadline(store: Store, notice: BreakNotice, ms: number): void {
    const force = () => this.#force(store, notice);
    const takeBack = this.#scope.runInAsyncScope(() => this.timer.start(ms, force));
    this.#deadlines.set(nameOf(notice.item, notice.owner), { notice, takeBack });
  }

  #force(store: Store, notice: BreakNotice): void {
    const { item, owner } = notice;
    store
      .transact((tx) => {
        const cache = readCache(tx, item, owner);
        if (cache === null || cache.caching.breaking === null) return;
        const { isVersioned, epoch, handles, users } = cache;
        const caching = forceBreak(cache.caching);
        writeCache(tx, item, { owner, caching, isVersioned, epoch, handles, users });
      })
      .then(
        () => this.finish(item, owner),
        (error) => {
          if (isUnreachable(error) || isUnknown(error))
            this.#startDeadline(store, notice, FORCE_AGAIN_MS);
          // Any other failure stops the process; a store that is closing has nobody waiting.
          else this.finish(item, owner);
        },
      );
  }

  #takeBackDeadline(item: OpenItem, owner: CacheOwner): void {
    const name = nameOf(item, owner);
    this.#deadlines.get(name)?.takeBack();
    this.#deadlines.delete(name);
  }
}

function nameOf({ share, id }: OpenItem, owner?: CacheOwner): string {
  return owner === undefined ? `${share}/${id}` : `${share}/${id}/${owner.toString("hex")}`;
}

interface BegunBreaks {
  readonly notices: readonly BreakNotice[];
  readonly mustWait: boolean;
}

function beginBreaks(tx: Transaction, { item, own, intrusion }: CacheBreakNeeded): BegunBreaks {
  const notices: BreakNotice[] = [];
  let mustWait = false;
  const opens = readOpens(tx, item);
  const caches = opens === null ? [] : cachesToBreak(tx, item, opens, own, intrusion);
  for (const cache of caches) {
    const step = beginBreak(cache.caching, intrusion);
    const notice = writeStep(tx, item, cache, step);
    if (notice !== null) notices.push(notice);
    // The notice of a break in progress may have been lost, with the front end of its client.
    else if (cache.caching.breaking !== null) notices.push(noticeInProgress(item, cache));
    if (awaitsBreak(step.caching, intrusion)) mustWait = true;
  }
  return { notices, mustWait };
}

/** The notice of a step that waits for its answer. */
function noticeInProgress(item: OpenItem, { owner, caching, epoch }: Cache): BreakNotice {
  const { kind, state, breaking } = caching;
  const to = breaking?.to ?? state;
  return { item, kind, owner, from: state, to, mustAnswer: true, epoch, isRepeat: true };
}

/** Whether the step of this notice still waits for its answer. */
function isInProgress(view: View, { item, owner, from, to }: BreakNotice): boolean {
  const { state, breaking } = readCache(view, item, owner)?.caching ?? {};
  return state === from && breaking?.to === to;
}
