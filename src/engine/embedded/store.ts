import type { Clock, Instant } from "../../base/clock.ts";
import { KEY_BYTES_MAX, type Space } from "../../base/keys.ts";
import { MIB } from "../../base/limits.ts";
import { type Stamp, stampAfter } from "../../base/stamp.ts";
import type { Slabs } from "../../machine/slabs.ts";
import {
  type ChangeListener,
  type FailStop,
  type Store,
  StoreError,
  type Transaction,
  type View,
} from "../../store/store.ts";
import { BodyTransaction, BodyView, runBody } from "../body-view.ts";
import { CachedRanges } from "../cached-ranges.ts";
import { ChangeListeners } from "../change-listeners.ts";
import {
  checkpointIfRoom,
  isMerelyFull,
  LONG_STEPS,
  type Milestone,
  SHORT_STEPS,
} from "./checkpoint.ts";
import { fullError, isDiskFull } from "./disk-full.ts";
import type { DiskSpace } from "./disk-space.ts";
import { EngineFigures, type FiguresOption, type StoreUsage } from "./engine-figures.ts";
import { Group } from "./group.ts";
import { growthOf } from "./growth.ts";
import { LayeredView } from "./layered-view.ts";
import { isLmdbDamage, type Lmdb, openLmdb } from "./lmdb.ts";
import { type Memtable, memtableSlabs } from "./memtable.ts";
import { type RecoveredWal, type RecoverWal, recoverWal, type WalOptions } from "./recover-wal.ts";
import { SealedRecords } from "./sealed-records.ts";
import { WAL_BYTES_ENOUGH, type Wal } from "./wal.ts";
import { findWalFiles } from "./wal-file.ts";
import { bytesOfRecord } from "./wal-groups.ts";
import { WalNotes, writeWalNote } from "./wal-notes.ts";
import { WriteWatchdog } from "./write-watchdog.ts";

/** Starts a checkpoint at this many records, because each takes memory in the memtable. */
const RECORDS_ENOUGH = 50_000;
/** Ephemeral records wait for the next durable write, or until they take this much. */
const UNAWAITED_BYTES_MAX = MIB;

/**
 * Opens the store in an existing folder that belongs to this process alone. Throws a `WalLossError`
 * and leaves the WAL unchanged if acknowledged writes are missing from it.
 */
export async function openEmbeddedStore(
  folder: string,
  clock: Clock,
  failStop: FailStop,
  walBytesEnough = WAL_BYTES_ENOUGH,
  options?: Partial<WalOptions> & Pick<RecoverWal, "space"> & EphemeralOption & FiguresOption,
): Promise<EmbeddedStore> {
  const lmdb = await openLmdb(folder);
  try {
    const wal = await findWalFiles(folder);
    const parts = { lmdb, wal, folder, clock, failStop, walBytesEnough };
    return await EmbeddedStore.open({ ...parts, ...options });
  } catch (error) {
    await lmdb.close();
    throw error;
  }
}

export interface EphemeralOption {
  /**
   * Spaces whose records end with the process. A transaction that writes to no other space does not
   * wait for the disk. Default: none.
   */
  readonly ephemeral?: ReadonlySet<Space>;
}

export interface EmbeddedStoreSetup extends RecoverWal, EphemeralOption, FiguresOption {
  readonly folder: string;
  readonly clock: Clock;
  readonly failStop: FailStop;
}

/**
 * The embedded store: a memtable and a WAL in front of LMDB. Bodies run immediately, on the newest
 * state. Their writes reach the WAL by group commit: all writes that arrive while one group is
 * being written form the next one. A call returns once every write it made or read is durable.
 * Checkpoints copy records from the WAL into LMDB in the background.
 */
export class EmbeddedStore implements Store {
  readonly keyBytesMax = KEY_BYTES_MAX;
  readonly #lmdb: Lmdb;
  readonly #records: SealedRecords;
  readonly #folder: string;
  readonly #space: DiskSpace | null;
  readonly #clock: Clock;
  readonly #failStop: FailStop;
  readonly #ephemeral: ReadonlySet<Space>;
  readonly #figures: EngineFigures;
  readonly #wal: Wal;
  readonly #state: LayeredView;
  readonly #cachedRanges = new CachedRanges();
  readonly #listeners = new ChangeListeners();
  readonly #watchdog = new WriteWatchdog();
  readonly #notes = new WalNotes(
    (note) => writeWalNote(this.#lmdb, this.#records, note),
    (error) => void this.#failUnlessFull(error),
  );
  #lastStamp: Stamp;
  /** Collects writes until the group before it is on the disk. */
  #gathering: Group;
  /** The group that is being written to the WAL. */
  #writing: Group | null = null;
  /** The number of the last durable group; all before it are durable, too. */
  #durable: number;
  #isWriteDue = false;
  #isSwitchWanted = false;
  /** The current checkpoint, or the last one. */
  #checkpoint: Promise<void> = Promise.resolve();
  /** A checkpoint that stopped because the disk was full. */
  #unfinished: { readonly memtable: Memtable; readonly milestone: Milestone } | null = null;
  #makingRoom: Promise<void> | null = null;
  readonly #preparations: (() => Promise<void>)[] = [];
  /** Ends the wait for the preparations. */
  #hurry: () => void = () => {};
  /** The error of every further call, once the store is closed or has failed. */
  #refusal: StoreError | null = null;
  #failed = false;
  #callsUnderWay = 0;
  #onLastCall: () => void = () => {};

  private constructor(setup: EmbeddedStoreSetup, recovered: RecoveredWal, slabs: Slabs) {
    const { wal, milestone, unfinished } = recovered;
    this.#lmdb = setup.lmdb;
    this.#records = new SealedRecords(setup.lmdb, setup.onDamage);
    this.#wal = wal;
    this.#folder = setup.folder;
    this.#space = setup.space ?? null;
    this.#clock = setup.clock;
    this.#failStop = setup.failStop;
    this.#ephemeral = setup.ephemeral ?? new Set();
    this.#figures = setup.figures ?? new EngineFigures();
    this.#state = new LayeredView(this.#records, slabs);
    this.#durable = milestone.group;
    this.#gathering = new Group(milestone.group + 1);
    this.#lastStamp = milestone.lastStamp;
    if (unfinished === null) return;
    this.#state.resumeCheckpoint(unfinished);
    this.#unfinished = { memtable: unfinished, milestone };
  }

  /** Opens a store, and first recovers what an earlier process left in the WAL. */
  static async open(setup: EmbeddedStoreSetup): Promise<EmbeddedStore> {
    const slabs = memtableSlabs();
    return new EmbeddedStore(setup, await recoverWal(setup, slabs), slabs);
  }

  async read<T>(body: (view: View) => T): Promise<T> {
    this.#begin();
    let view: BodyView | null = null;
    try {
      // Yield first: a body never runs inside the body of another call.
      await undefined;
      view = new BodyView(this.#state, this.#clock.now(), this.#cachedRanges);
      const ran = this.#run(body, view);
      if (ran.newest > this.#durable) await this.#whenSeen(ran.newest);
      return resultOf(ran);
    } catch (error) {
      view?.discard();
      throw error;
    } finally {
      this.#end();
    }
  }

  async transact<T>(body: (tx: Transaction) => T): Promise<T> {
    this.#begin();
    let tx: BodyTransaction | null = null;
    try {
      await undefined;
      for (;;) {
        while (this.#makingRoom !== null || this.#gathering.isFull) await this.#whenAdmitted();
        if (this.#failed) throw this.#refusal;
        tx = new BodyTransaction(this.#state, this.#clock.now(), this.#nextStamp);
        const ran = this.#run(body, tx);
        const bytes = ran.isRefused ? 0 : bytesOf(tx);
        const takesRoom = !ran.isRefused && (bytes > 0 || tx.tookStamp);
        const growth =
          takesRoom && this.#space?.mayGrow === false
            ? growthOf(tx.writes, this.#state, this.#ephemeral)
            : 0;
        if (growth > 0 && this.#space?.admits(growth) === false) {
          if (await this.#space.hasSpaceAgain()) continue;
          throw fullError();
        }
        if (takesRoom && !this.#wal.fits(this.#gathering.bytes + bytes)) {
          tx.discard();
          await this.#makeRoom(bytes);
          continue;
        }
        if (growth !== 0) this.#space?.spend(growth);
        if (!ran.isRefused && this.#apply(tx)) await this.#whenWritten(this.#gathering);
        else if (ran.newest > this.#durable) await this.#whenSeen(ran.newest);
        return resultOf(ran);
      }
    } catch (error) {
      tx?.discard();
      throw error;
    } finally {
      this.#end();
    }
  }

  /** Waits for room in the WAL or in a group; the caller then looks again. */
  async #whenAdmitted(): Promise<void> {
    if (this.#failed) throw this.#refusal;
    if (this.#makingRoom !== null) return this.#makingRoom.catch(() => {});
    this.#want();
    return this.#gathering.whenClosed();
  }

  changes(listener: ChangeListener): () => void {
    return this.#listeners.add(listener);
  }

  get usage(): StoreUsage {
    const { bytes: walBytes, capacity: walCapacity } = this.#wal;
    return { walBytes, walCapacity, memtableRecords: this.#state.top.size };
  }

  beforeCheckpoint(prepare: () => Promise<void>): void {
    this.#preparations.push(prepare);
  }

  async close(): Promise<void> {
    this.#refusal ??= new StoreError("broken", "the store is closed");
    if (this.#callsUnderWay > 0) {
      await new Promise<void>((resolve) => {
        this.#onLastCall = resolve;
      });
    }
    if (!this.#failed) await this.#checkpointAll();
    // After a failure the disk may never answer again.
    if (this.#failed) return;
    await this.#notes.stop();
    await this.#wal.close();
    await this.#lmdb.close();
  }

  #begin(): void {
    if (this.#refusal !== null) throw this.#refusal;
    this.#callsUnderWay++;
  }

  #end(): void {
    this.#callsUnderWay--;
    if (this.#callsUnderWay === 0) this.#onLastCall();
  }

  /** Captures a refusal, which the caller throws only once the writes it read are durable. */
  #run<V extends BodyView, T>(body: (view: V) => T, view: V): Ran<T> {
    this.#state.newest = 0;
    this.#records.forgetMisses();
    try {
      const result = runBody(body, view);
      return { isRefused: false, result, newest: this.#state.newest };
    } catch (refusal) {
      // After damage LMDB reads nothing more in this view, so misses cannot be proved.
      const reason = isLmdbDamage(refusal) ? refusal : (this.#damageBehind() ?? refusal);
      return { isRefused: true, reason: this.#damageIn(reason), newest: this.#state.newest };
    }
  }

  /** Reports LMDB's page errors as damage, and resets the read transaction, now unusable. */
  #damageIn(reason: unknown): unknown {
    if (!isLmdbDamage(reason)) return reason;
    this.#lmdb.resetReadTxn();
    return new StoreError("damaged", `the database is damaged (${reason.message})`);
  }

  /** The damage that made a key look missing; null if every missing key is really missing. */
  #damageBehind(): unknown {
    try {
      this.#records.proveMisses();
      return null;
    } catch (damage) {
      return damage;
    }
  }

  /** Applies writes to the memtable. True if the caller must wait until they are durable. */
  #apply(tx: BodyTransaction): boolean {
    const group = this.#gathering;
    let isDurable = false;
    let isEmpty = true;
    for (const { name, key, value, isAppend } of tx.writes) {
      isEmpty = false;
      const isEphemeral = this.#ephemeral.has(key[0] as Space);
      if (!isEphemeral) isDurable = true;
      this.#cachedRanges.change(key);
      this.#state.change(name, value);
      const { top } = this.#state;
      const awaited = isEphemeral ? 0 : group.number;
      const cell =
        isAppend && value !== null
          ? top.append(name, value, group.number, awaited)
          : top.set(name, value, group.number, awaited);
      if (cell !== null) group.cells.push(cell);
      group.bytes += bytesOfRecord(key, value);
    }
    if (!isEmpty || tx.tookStamp) group.transactions++;
    if (!isEmpty && this.#listeners.areThere) this.#listeners.tell(tx.writes.map(({ key }) => key));
    if (!isDurable && group.bytes > UNAWAITED_BYTES_MAX) this.#want();
    return isDurable || (isEmpty && tx.tookStamp);
  }

  readonly #nextStamp = (nowMs: Instant): Stamp => {
    this.#lastStamp = stampAfter(this.#lastStamp, nowMs);
    return this.#lastStamp;
  };

  #whenWritten(group: Group): Promise<void> {
    this.#want();
    return group.written;
  }

  /** Waits for a group that was read. Its failure is not "unknown": the reader wrote nothing. */
  async #whenSeen(number: number): Promise<void> {
    const group = number === this.#gathering.number ? this.#gathering : this.#writing;
    if (group === this.#gathering) this.#want();
    await group?.written.catch(() => {
      throw this.#refusal;
    });
  }

  /** Schedules the gathering group to be written at the end of this iteration of the event loop. */
  #want(): void {
    this.#gathering.isWanted = true;
    if (this.#isWriteDue || this.#writing !== null || this.#failed) return;
    this.#isWriteDue = true;
    setImmediate(() => {
      this.#isWriteDue = false;
      if (!this.#failed) void this.#writeGroup();
    });
  }

  async #writeGroup(): Promise<void> {
    const group = this.#gathering;
    this.#writing = group;
    this.#gathering = new Group(group.number + 1);
    group.close();
    try {
      const begunMs = performance.now();
      const milestone = { group: group.number, lastStamp: this.#lastStamp };
      const appended = this.#wal.append(group.number, this.#lastStamp, group.cells, group.bytes);
      const immutable = this.#switchIfDue();
      await this.#watchdog.watch(appended);
      if (this.#failed) return;
      this.#figures.noteGroup(group.transactions, group.bytes, begunMs);
      this.#durable = group.number;
      this.#writing = null;
      group.succeed();
      this.#notes.reached(this.#wal.noteAt(group.number));
      if (immutable !== null) this.#checkpoint = this.#runCheckpoint(immutable, milestone);
      if (this.#gathering.isWanted) this.#want();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Switches WAL files if due. Returns the memtable to checkpoint after the current group. */
  #switchIfDue(): Memtable | null {
    if (this.#state.isCheckpointing) return null;
    const isEnough = this.#wal.hasEnough || this.#state.top.size >= RECORDS_ENOUGH;
    if (!isEnough && !this.#isSwitchWanted) return null;
    this.#isSwitchWanted = false;
    this.#wal.switchFiles();
    return this.#state.beginCheckpoint();
  }

  async #runCheckpoint(memtable: Memtable, milestone: Milestone): Promise<void> {
    const begunMs = performance.now();
    try {
      this.#unfinished = null;
      if (this.#refusal === null) await this.#prepareCheckpoint();
      const steps = this.#refusal === null ? SHORT_STEPS : LONG_STEPS;
      const place = { lmdb: this.#lmdb, folder: this.#folder, space: this.#space };
      const records = this.#records;
      if (await checkpointIfRoom(place, records, memtable, milestone, steps, this.#isReplaced)) {
        this.#state.endCheckpoint();
        this.#figures.noteCheckpoint(begunMs, this.#clock.now());
        await this.#space?.look();
      } else {
        this.#unfinished = { memtable, milestone };
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Ignores a full disk: the next note makes up for one that found no space. */
  async #failUnlessFull(error: unknown): Promise<void> {
    if (!(await isMerelyFull(this.#lmdb, this.#folder, error))) this.#fail(error);
  }

  /** Can be cut short: a preparation may wait for WAL room, which only a checkpoint frees. */
  async #prepareCheckpoint(): Promise<void> {
    const hurried = new Promise<void>((resolve) => {
      this.#hurry = resolve;
    });
    // A failed preparation only means more to checkpoint; its owner handles the error.
    const prepared = Promise.allSettled(this.#preparations.map((prepare) => prepare()));
    await Promise.race([prepared, hurried]);
  }

  /** Whether a checkpoint may skip a record, because the WAL holds a later, durable one. */
  readonly #isReplaced = (name: string): boolean => {
    const cell = this.#state.top.get(name);
    return cell !== undefined && cell.group <= this.#durable;
  };

  /** Checkpoints everything, so that the next process finds nothing to recover. */
  async #checkpointAll(): Promise<void> {
    this.#hurry();
    await this.#checkpoint;
    if (this.#unfinished !== null || this.#state.top.size === 0) return;
    this.#isSwitchWanted = true;
    await this.#whenWritten(this.#gathering);
    await this.#checkpoint;
  }

  /** Makes room in the WAL for this many bytes of records. Rejects with "full" without space. */
  #makeRoom(bytes: number): Promise<void> {
    this.#makingRoom ??= this.#makeRoomFor(bytes).finally(() => {
      this.#makingRoom = null;
    });
    return this.#makingRoom;
  }

  async #makeRoomFor(bytes: number): Promise<void> {
    const wanted = this.#gathering.bytes + bytes;
    if (this.#wal.mayGrowFor(wanted) && (await this.#growWal(wanted))) return;
    // Switching files does not help a group that does not fit into an empty one.
    if (this.#wal.isEmpty && this.#gathering.bytes === 0) throw fullError();
    if (this.#unfinished !== null) {
      const { memtable, milestone } = this.#unfinished;
      this.#checkpoint = this.#runCheckpoint(memtable, milestone);
    }
    this.#hurry();
    await this.#checkpoint;
    if (this.#failed) throw this.#refusal;
    if (this.#unfinished !== null) throw fullError();
    this.#isSwitchWanted = true;
    await this.#whenWritten(this.#gathering);
  }

  /** False if the disk lacks space for the WAL, or for the checkpoint of a WAL of that size. */
  async #growWal(bytes: number): Promise<boolean> {
    try {
      const walBytes = this.#wal.capacityFor(bytes);
      if ((await this.#space?.mayGrowWal(walBytes)) === false) return false;
      await this.#wal.growFor(bytes);
      return true;
    } catch (error) {
      if (await isDiskFull(error, this.#folder)) {
        this.#space?.noteFull();
        return false;
      }
      this.#fail(error);
      throw this.#refusal;
    }
  }

  #fail(cause: unknown): void {
    if (this.#failed) return;
    const reason = cause instanceof Error ? cause.message : String(cause);
    const error = new StoreError("unknown", `a commit failed: ${reason}`, { cause });
    this.#failed = true;
    this.#refusal = new StoreError("broken", `the store has stopped: ${error.message}`);
    this.#writing?.fail(error);
    this.#gathering.fail(this.#refusal);
    this.#gathering.close();
    this.#failStop(error);
  }
}

/** The result of a body, and the newest group that it read. */
type Ran<T> =
  | { readonly isRefused: false; readonly result: T; readonly newest: number }
  | { readonly isRefused: true; readonly reason: unknown; readonly newest: number };

/** Returns what the body returned, or throws what it threw. */
function resultOf<T>(ran: Ran<T>): T {
  if (ran.isRefused) throw ran.reason;
  return ran.result;
}

function bytesOf(tx: BodyTransaction): number {
  let bytes = 0;
  for (const { key, value } of tx.writes) bytes += bytesOfRecord(key, value);
  return bytes;
}
