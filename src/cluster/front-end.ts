import type { Bytes } from "../base/bytes.ts";
import type { Clock } from "../base/clock.ts";
import type { Schedule } from "../base/schedule.ts";
import type { Stamp } from "../base/stamp.ts";
import type { Others } from "../store/others.ts";
import { type Store, StoreError, type Transaction } from "../store/store.ts";
import {
  endFrontEnd,
  frontEndKey,
  listEnded,
  listFrontEnds,
  readFrontEnd,
  readLeader,
  renewLeader,
  resignLeader,
  writeFrontEnd,
} from "./front-end-records.ts";

/** How long a front end may be out of touch before others end it. */
export const LEASE_MS = 30_000;
/** The pause between heartbeats, and after one that failed. */
export const BEAT_MS = 5_000;
const BEAT_AGAIN_MS = 1_000;
/** A front end gives up its SMB clients this long before its lease ends. */
export const LAPSE_MARGIN_MS = 5_000;

export interface FrontEndSetup {
  readonly store: Store;
  /** No other front end has it, at any time. */
  readonly number: number;
  /** Measures the time since the last heartbeat. */
  readonly clock: Pick<Clock, "elapsedMs">;
  readonly schedule: Schedule;
  /** Tests whose clock jumps take a longer lease than `LEASE_MS`. */
  readonly leaseMs?: number | undefined;
  /** Whether it may become the leader. Default: yes. */
  readonly mayLead?: boolean;
  /** Called once, when others have ended this front end: it can write nothing any more. */
  readonly onEnded: (error: StoreError) => void;
}

/** The name and address of a front end, as people see them. */
export interface AboutFrontEnd {
  /** The machine and the process. */
  readonly name: string;
  /** Where it listens. */
  readonly address: string;
}

const UNKNOWN: AboutFrontEnd = { name: "", address: "" };

/** A front end, as another one sees it. */
export interface FrontEndSeen extends AboutFrontEnd {
  readonly number: number;
  /** Marks messages to it. */
  readonly epoch: bigint;
  /** Since its last heartbeat, by the clock of the records. */
  readonly heartbeatAgeMs: number;
  readonly isLeader: boolean;
  /** Whether it is the one that tells. */
  readonly isThis: boolean;
}

/** Calls of the store, and readings, that began after the same heartbeat. */
interface Generation {
  /** The stamp of that heartbeat: all of them see its commit. */
  readonly floor: Stamp;
  pins: number;
}

/**
 * One of the processes that serve the same records. Its heartbeat renews a lease in the records and
 * reports which states it still reads. One front end leads: it ends those whose lease is over, and
 * sweeps. All of this is decided in transactions, by the time of the records.
 */
export class FrontEnd implements Others {
  readonly areThere = true;
  readonly number: number;
  readonly #setup: FrontEndSetup;
  readonly #lapseListeners: (() => void)[] = [];
  /** Oldest first; the last one is that of new calls. */
  #generations: Generation[];
  /** The generation of the call whose body runs. */
  #ofBody: Generation | null = null;
  #epoch: bigint;
  /** Clients have lost their handles, so that the next heartbeat begins a new epoch. */
  #hasLapsed = false;
  #leads = false;
  /** No front end reads a state from before this stamp was given. */
  #unreadBefore: Stamp;
  #waiting: { readonly died: Stamp; readonly done: () => void }[] = [];
  #epochs: ReadonlySet<bigint>;
  #ended: readonly number[] = [];
  #next: { cancel(): void } | null = null;
  #lapse: { cancel(): void } | null = null;
  #beating: Promise<void> = Promise.resolve();
  #about: AboutFrontEnd = UNKNOWN;
  #isOver = false;

  private constructor(setup: FrontEndSetup, stamp: Stamp) {
    this.#setup = setup;
    this.number = setup.number;
    this.#epoch = stamp;
    this.#epochs = new Set([stamp]);
    this.#unreadBefore = 0n;
    this.#generations = [{ floor: stamp, pins: 0 }];
  }

  /** Begins to run. Call `start` to go on. */
  static async join(setup: FrontEndSetup): Promise<FrontEnd> {
    const stamp = await setup.store.transact((tx) => {
      const epoch = tx.stamp();
      const untilMs = tx.now() + (setup.leaseMs ?? LEASE_MS);
      writeFrontEnd(tx, setup.number, { epoch, untilMs, readsFrom: epoch, ...UNKNOWN });
      return epoch;
    });
    const frontEnd = new FrontEnd(setup, stamp);
    await frontEnd.beat();
    return frontEnd;
  }

  /** Marks the SMB handles of this front end, and messages to it. */
  get epoch(): bigint {
    return this.#epoch;
  }

  /**
   * The epoch of a handle that is opened now. Throws as "unreachable" between a lapse and the next
   * heartbeat, which begins a new epoch: the leader would end the handle with the old one, and
   * nobody would tell its client. A handle that asked before the lapse is closed with its session.
   */
  epochToOpenIn(): bigint {
    if (this.#hasLapsed) throw new StoreError("unreachable", "the next heartbeat is due");
    return this.#epoch;
  }

  get isSweeper(): boolean {
    return this.#leads && !this.#hasLapsed && !this.#isOver;
  }

  /** The epochs of all front ends, as of the last heartbeat. */
  get epochs(): ReadonlySet<bigint> {
    return this.#epochs;
  }

  /** Front ends that have left something behind, as of the last heartbeat. */
  get ended(): readonly number[] {
    return this.#ended;
  }

  /** Calls `listener` when SMB clients must be told that their handles and caches are lost. */
  onLapse(listener: () => void): void {
    this.#lapseListeners.push(listener);
  }

  /** Sends heartbeats until `leave`. */
  start(): void {
    this.#beatAfter(BEAT_MS);
  }

  /** Renews the lease, and learns of the others. Does nothing if the store cannot be reached. */
  beat(): Promise<void> {
    this.#beating = this.#beating.then(() => this.#beat());
    return this.#beating;
  }

  /** Tells the others, with the next heartbeat, who this is. */
  introduce(about: AboutFrontEnd): void {
    this.#about = about;
    if (this.#next !== null) this.#beatAfter(0);
  }

  /** All front ends, as the records have them now. */
  members(): Promise<FrontEndSeen[]> {
    const leaseMs = this.#setup.leaseMs ?? LEASE_MS;
    return this.#setup.store.read((view) => {
      const nowMs = view.now();
      const leader = readLeader(view)?.frontEnd;
      return listFrontEnds(view).map(({ number, epoch, name, address, untilMs }) => ({
        number,
        epoch,
        name,
        address,
        heartbeatAgeMs: Math.max(0, nowMs - (untilMs - leaseMs)),
        isLeader: number === leader,
        isThis: number === this.number,
      }));
    });
  }

  /** Ends this front end. Whoever leads then cleans up at once. */
  async leave(): Promise<void> {
    this.#isOver = true;
    this.#next?.cancel();
    this.#lapse?.cancel();
    await this.#beating;
    await this.#setup.store
      .transact((tx) => {
        resignLeader(tx, this.number);
        if (readFrontEnd(tx, this.number) !== null) endFrontEnd(tx, this.number);
      })
      // Without the records, the lease ends by itself.
      .catch(() => {});
  }

  pin(): () => void {
    return this.#pin(this.#ofBody ?? this.#current);
  }

  isUnread(died: Stamp): boolean {
    return died <= this.#unreadBefore;
  }

  /** Resolves once no front end reads a state of the store from before this call. */
  async unread(): Promise<void> {
    const died = await this.#setup.store.transact((tx) => tx.stamp());
    if (this.isUnread(died)) return;
    await new Promise<void>((done) => {
      this.#waiting.push({ died, done });
    });
  }

  /** Runs a call of the store. Its bodies run by `inBody`. */
  async during<T>(
    call: (inBody: <V, R>(body: (view: V) => R) => (view: V) => R) => Promise<T>,
  ): Promise<T> {
    const generation = this.#current;
    const unpin = this.#pin(generation);
    try {
      return await call((body) => (view) => {
        const before = this.#ofBody;
        this.#ofBody = generation;
        try {
          return body(view);
        } finally {
          this.#ofBody = before;
        }
      });
    } finally {
      unpin();
    }
  }

  /** Called in every body that writes: nothing is written in the name of an ended front end. */
  requireRunning(tx: Transaction): void {
    // The run may be discarded, so only who gets the error knows that it is true.
    if (tx.get(this.#key) === undefined) throw new FrontEndEnded();
  }

  /** Called in every body that only the leader may run. */
  requireLeader(tx: Transaction): void {
    if (readLeader(tx)?.frontEnd !== this.number) throw new NotLeader();
  }

  /** Called when a call of the store has found out that others have ended this front end. */
  end(error: FrontEndEnded): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#giveUpClients();
    this.#setup.onEnded(error);
  }

  get #key(): Bytes {
    return frontEndKey(this.number);
  }

  get #current(): Generation {
    return this.#generations.at(-1) as Generation;
  }

  #pin(generation: Generation): () => void {
    generation.pins++;
    let isPinned = true;
    return () => {
      if (isPinned) generation.pins--;
      isPinned = false;
    };
  }

  async #beat(): Promise<void> {
    if (this.#isOver) return;
    const { clock, store } = this.#setup;
    const beganMs = clock.elapsedMs();
    try {
      const readsFrom = this.#readsFrom();
      const beaten = await store.transact((tx) => this.#renew(tx, readsFrom));
      if (beaten === null) this.end(new FrontEndEnded());
      else this.#learn(beaten, clock.elapsedMs() - beganMs);
    } catch {
      // The calls that need the records report the outage.
      this.#leads = false;
    }
    if (this.#next !== null) this.#beatAfter(this.#hasFailed(beganMs) ? BEAT_AGAIN_MS : BEAT_MS);
  }

  #lastBeatMs = Number.NEGATIVE_INFINITY;

  #hasFailed(beganMs: number): boolean {
    return this.#lastBeatMs < beganMs;
  }

  /** Null if this front end was ended. */
  #renew(tx: Transaction, readsFrom: Stamp): Beaten | null {
    const own = readFrontEnd(tx, this.number);
    if (own === null) return null;
    const stamp = tx.stamp();
    const nowMs = tx.now();
    const untilMs = nowMs + (this.#setup.leaseMs ?? LEASE_MS);
    const epoch = this.#hasLapsed ? stamp : this.#epoch;
    writeFrontEnd(tx, this.number, { epoch, untilMs, readsFrom, ...this.#about });
    const { mayLead = true } = this.#setup;
    const leader = mayLead ? renewLeader(tx, this.number, nowMs, untilMs) : null;
    const leads = leader?.frontEnd === this.number;
    // After an outage of the records, all leases are over: those who can renew theirs get the time.
    if (leads && leader.sinceMs + LEASE_MS <= nowMs) {
      for (const other of listFrontEnds(tx)) {
        if (other.untilMs <= nowMs) endFrontEnd(tx, other.number);
      }
    }
    return { stamp, epoch, leads, frontEnds: listFrontEnds(tx), ended: listEnded(tx) };
  }

  #learn({ stamp, epoch, leads, frontEnds, ended }: Beaten, tookMs: number): void {
    this.#lastBeatMs = this.#setup.clock.elapsedMs();
    this.#epoch = epoch;
    this.#hasLapsed = false;
    this.#leads = leads;
    this.#epochs = new Set(frontEnds.map((one) => one.epoch));
    this.#ended = ended;
    this.#generations.push({ floor: stamp, pins: 0 });
    let unreadBefore = stamp;
    for (const { readsFrom } of frontEnds) if (readsFrom < unreadBefore) unreadBefore = readsFrom;
    this.#unreadBefore = unreadBefore;
    const done = this.#waiting.filter(({ died }) => this.isUnread(died));
    this.#waiting = this.#waiting.filter(({ died }) => !this.isUnread(died));
    for (const waiting of done) waiting.done();
    this.#lapse?.cancel();
    const leftMs = LEASE_MS - LAPSE_MARGIN_MS - tookMs;
    this.#lapse = this.#setup.schedule(() => this.#giveUpClients(), Math.max(leftMs, 0));
  }

  /** The lease ends soon, and others may then end the handles of our clients. */
  #giveUpClients(): void {
    this.#lapse = null;
    this.#hasLapsed = true;
    for (const listener of this.#lapseListeners) listener();
  }

  #readsFrom(): Stamp {
    while (this.#generations.length > 1 && this.#generations[0]?.pins === 0) {
      this.#generations.shift();
    }
    return (this.#generations[0] as Generation).floor;
  }

  #beatAfter(pauseMs: number): void {
    if (this.#isOver) return;
    this.#next?.cancel();
    this.#next = this.#setup.schedule(() => this.beat(), pauseMs);
  }
}

interface Beaten {
  readonly stamp: Stamp;
  readonly epoch: bigint;
  readonly leads: boolean;
  readonly frontEnds: readonly { readonly epoch: bigint; readonly readsFrom: Stamp }[];
  readonly ended: readonly number[];
}

/** Others have ended this front end, and it begins anew. Clients may try another one. */
export class FrontEndEnded extends StoreError {
  constructor() {
    super(
      "unreachable",
      "this front end was out of touch for too long, and the others have ended it",
    );
  }
}

/** Another front end leads by now. */
export class NotLeader extends Error {
  constructor() {
    super("another front end leads now");
    this.name = "NotLeader";
  }
}
