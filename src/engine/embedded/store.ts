import type { Clock, Instant } from "../../base/clock.ts";
import type { Space } from "../../base/keys.ts";
import { MIB } from "../../base/limits.ts";
import { type Stamp, stampAfter } from "../../base/stamp.ts";
import {
  type FailStop,
  type Store,
  StoreError,
  type Transaction,
  type View,
} from "../../store/store.ts";
import { BodyTransaction, BodyView, runBody } from "../body-view.ts";
import { CachedRanges } from "../cached-ranges.ts";
import {
  checkpointIfRoom,
  isMerelyFull,
  LONG_STEPS,
  type Milestone,
  SHORT_STEPS,
} from "./checkpoint.ts";
import { fullError, isDiskFull } from "./disk-full.ts";
import type { DiskSpace } from "./disk-space.ts";
import { Group } from "./group.ts";
import { growthOf } from "./growth.ts";
import { InTime } from "./in-time.ts";
import { LayeredView } from "./layered-view.ts";
import { isLmdbDamage, type Lmdb, openLmdb } from "./lmdb.ts";
import type { Memtable } from "./memtable.ts";
import { type RecoveredWal, type RecoverWal, recoverWal, type WalOptions } from "./recover-wal.ts";
import { SealedRecords } from "./sealed-records.ts";
import { WAL_BYTES_ENOUGH, type Wal } from "./wal.ts";
import { findWalFiles } from "./wal-file.ts";
import { bytesOfRecord } from "./wal-groups.ts";
import { WalNotes, writeWalNote } from "./wal-notes.ts";

/** Records go from the WAL to LMDB when there are so many: each takes some memory of its own. */
const RECORDS_ENOUGH = 50_000;
/** Records that nobody waits for are written with the next ones, or when there are so many. */
const UNWANTED_BYTES_MAX = MIB;

/**
 * Opens the store in a folder that is there and belongs to this process alone. Throws a `WalLossError`,
 * and leaves the WAL as it is, if acknowledged writes are missing in it.
 */
export async function openEmbeddedStore(
  folder: string,
  clock: Clock,
  failStop: FailStop,
  walBytesEnough = WAL_BYTES_ENOUGH,
  options?: Partial<WalOptions> & Pick<RecoverWal, "space"> & EphemeralOption,
): Promise<Store> {
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
   * Spaces of records that die with their process. A write to them alone does not wait for the disk.
   * Default: none.
   */
  readonly ephemeral?: ReadonlySet<Space>;
}

export interface EmbeddedStoreSetup extends RecoverWal, EphemeralOption {
  readonly folder: string;
  readonly clock: Clock;
  readonly failStop: FailStop;
}

/**
 * Bodies run at once, on the newest state. What they write goes to the WAL in groups: whatever has
 * gathered while one group was being written makes the next one. An answer leaves when all that it
 * rests on is durable. From the WAL, records go to LMDB in the background.
 */
export class EmbeddedStore implements Store {
  readonly #lmdb: Lmdb;
  readonly #records: SealedRecords;
  readonly #folder: string;
  readonly #space: DiskSpace | null;
  readonly #clock: Clock;
  readonly #failStop: FailStop;
  readonly #ephemeral: ReadonlySet<Space>;
  readonly #wal: Wal;
  readonly #state: LayeredView;
  readonly #kept = new CachedRanges();
  readonly #inTime = new InTime();
  readonly #notes = new WalNotes(
    (note) => writeWalNote(this.#lmdb, this.#records, note),
    (error) => void this.#failUnlessFull(error),
  );
  #lastStamp: Stamp;
  /** Has got all that was written since the one before it left for the disk. */
  #gathering: Group;
  /** On its way to the disk. */
  #writing: Group | null = null;
  /** All groups up to this one are durable. */
  #durable: number;
  #isWriteDue = false;
  #isSwitchWanted = false;
  /** Puts records from the WAL into LMDB. */
  #checkpoint: Promise<void> = Promise.resolve();
  /** Those that did not get there for want of space. */
  #unfinished: { readonly memtable: Memtable; readonly milestone: Milestone } | null = null;
  #makingRoom: Promise<void> | null = null;
  readonly #preparations: (() => Promise<void>)[] = [];
  /** Ends the wait for them. */
  #hurry: () => void = () => {};
  /** Why calls are no longer taken. */
  #refusal: StoreError | null = null;
  #failed = false;
  #callsUnderWay = 0;
  #onLastCall: () => void = () => {};

  private constructor(setup: EmbeddedStoreSetup, { wal, milestone, unfinished }: RecoveredWal) {
    this.#lmdb = setup.lmdb;
    this.#records = new SealedRecords(setup.lmdb, setup.onDamage);
    this.#wal = wal;
    this.#folder = setup.folder;
    this.#space = setup.space ?? null;
    this.#clock = setup.clock;
    this.#failStop = setup.failStop;
    this.#ephemeral = setup.ephemeral ?? new Set();
    this.#state = new LayeredView(this.#records);
    this.#durable = milestone.group;
    this.#gathering = new Group(milestone.group + 1);
    this.#lastStamp = milestone.lastStamp;
    if (unfinished === null) return;
    this.#state.resumeCheckpoint(unfinished);
    this.#unfinished = { memtable: unfinished, milestone };
  }

  /** First of all LMDB gets what an earlier process has left in the WAL, if it has room. */
  static async open(setup: EmbeddedStoreSetup): Promise<EmbeddedStore> {
    return new EmbeddedStore(setup, await recoverWal(setup));
  }

  async read<T>(body: (view: View) => T): Promise<T> {
    this.#begin();
    let view: BodyView | null = null;
    try {
      // Never inside the body of another call.
      await undefined;
      view = new BodyView(this.#state, this.#clock.now(), this.#kept);
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
        while (this.#makingRoom !== null) await this.#makingRoom.catch(() => {});
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

  /** Even a refusal waits for what it rests on: hence the result is not told at once. */
  #run<V extends BodyView, T>(body: (view: V) => T, view: V): Ran<T> {
    this.#state.newest = 0;
    this.#records.forgetMisses();
    try {
      const result = runBody(body, view);
      return { isRefused: false, result, newest: this.#state.newest };
    } catch (refusal) {
      // Behind damage LMDB reads nothing more in this view, so misses cannot be proved.
      const reason = isLmdbDamage(refusal) ? refusal : (this.#damageBehind() ?? refusal);
      return { isRefused: true, reason: this.#damageIn(reason), newest: this.#state.newest };
    }
  }

  /** What LMDB finds wrong in its own pages is damage, too. After that it reads no more in this view. */
  #damageIn(reason: unknown): unknown {
    if (!isLmdbDamage(reason)) return reason;
    this.#lmdb.resetReadTxn();
    return new StoreError("damaged", `the database is damaged (${reason.message})`);
  }

  /** Nobody is told that something is missing because its key is damaged. Null if all is well. */
  #damageBehind(): unknown {
    try {
      this.#records.proveMisses();
      return null;
    } catch (damage) {
      return damage;
    }
  }

  /** True if the caller has to wait until it is durable. */
  #apply(tx: BodyTransaction): boolean {
    const group = this.#gathering;
    let isLasting = false;
    let isEmpty = true;
    for (const { name, key, value, isAppend } of tx.writes) {
      isEmpty = false;
      const isEphemeral = this.#ephemeral.has(key[0] as Space);
      if (!isEphemeral) isLasting = true;
      this.#kept.change(key);
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
    if (!isLasting && group.bytes > UNWANTED_BYTES_MAX) this.#want();
    return isLasting || (isEmpty && tx.tookStamp);
  }

  readonly #nextStamp = (nowMs: Instant): Stamp => {
    this.#lastStamp = stampAfter(this.#lastStamp, nowMs);
    return this.#lastStamp;
  };

  #whenWritten(group: Group): Promise<void> {
    this.#want();
    return group.written;
  }

  /** For those who have written nothing, a failure is no reason to be unsure. */
  async #whenSeen(number: number): Promise<void> {
    const group = number === this.#gathering.number ? this.#gathering : this.#writing;
    if (group === this.#gathering) this.#want();
    await group?.written.catch(() => {
      throw this.#refusal;
    });
  }

  /** Somebody waits for the group that is gathering. It leaves when this turn of the event loop ends. */
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
    try {
      const milestone = { group: group.number, lastStamp: this.#lastStamp };
      const appended = this.#wal.append(group.number, this.#lastStamp, group.cells, group.bytes);
      const turned = this.#switchIfDue();
      await this.#inTime.watch(appended);
      if (this.#failed) return;
      this.#durable = group.number;
      this.#writing = null;
      group.succeed();
      this.#notes.reached(this.#wal.noteAt(group.number));
      if (turned !== null) this.#checkpoint = this.#runCheckpoint(turned, milestone);
      if (this.#gathering.isWanted) this.#want();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** What is to be put into LMDB once the group that has just left is durable. */
  #switchIfDue(): Memtable | null {
    if (this.#state.isCheckpointing) return null;
    const isEnough = this.#wal.hasEnough || this.#state.top.size >= RECORDS_ENOUGH;
    if (!isEnough && !this.#isSwitchWanted) return null;
    this.#isSwitchWanted = false;
    this.#wal.switchFiles();
    return this.#state.beginCheckpoint();
  }

  async #runCheckpoint(memtable: Memtable, milestone: Milestone): Promise<void> {
    try {
      this.#unfinished = null;
      if (this.#refusal === null) await this.#prepareCheckpoint();
      const steps = this.#refusal === null ? SHORT_STEPS : LONG_STEPS;
      const place = { lmdb: this.#lmdb, folder: this.#folder, space: this.#space };
      const records = this.#records;
      if (await checkpointIfRoom(place, records, memtable, milestone, steps, this.#isReplaced)) {
        this.#state.endCheckpoint();
        await this.#space?.look();
      } else {
        this.#unfinished = { memtable, milestone };
      }
    } catch (error) {
      this.#fail(error);
    }
  }

  /** A note that found no space is followed by others. */
  async #failUnlessFull(error: unknown): Promise<void> {
    if (!(await isMerelyFull(this.#lmdb, this.#folder, error))) this.#fail(error);
  }

  /** Whoever needs room in the WAL waits for this, and may be one of those who prepare. */
  async #prepareCheckpoint(): Promise<void> {
    const hurried = new Promise<void>((resolve) => {
      this.#hurry = resolve;
    });
    // What goes wrong there spares the store nothing, and is the business of who wants it.
    const prepared = Promise.allSettled(this.#preparations.map((prepare) => prepare()));
    await Promise.race([prepared, hurried]);
  }

  /** Whether what is settling of a record need not: who starts again finds a later one in the WAL. */
  readonly #isReplaced = (name: string): boolean => {
    const cell = this.#state.top.get(name);
    return cell !== undefined && cell.group <= this.#durable;
  };

  /** Everything up to now goes into LMDB, so that the next process finds nothing to do. */
  async #checkpointAll(): Promise<void> {
    this.#hurry();
    await this.#checkpoint;
    if (this.#unfinished !== null || this.#state.top.size === 0) return;
    this.#isSwitchWanted = true;
    await this.#whenWritten(this.#gathering);
    await this.#checkpoint;
  }

  /** Rejects with "full" if there is no space for so many more bytes of records. */
  #makeRoom(bytes: number): Promise<void> {
    this.#makingRoom ??= this.#makeRoomFor(bytes).finally(() => {
      this.#makingRoom = null;
    });
    return this.#makingRoom;
  }

  async #makeRoomFor(bytes: number): Promise<void> {
    const wanted = this.#gathering.bytes + bytes;
    if (this.#wal.mayGrowFor(wanted) && (await this.#growWal(wanted))) return;
    // The other file is of no use to what does not fit into an empty one.
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

  /** False if the disk has no space for it, or none for LMDB to get it all later. */
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
    this.#failStop(error);
  }
}

/** What a body came to, and the group that this rests on. */
type Ran<T> =
  | { readonly isRefused: false; readonly result: T; readonly newest: number }
  | { readonly isRefused: true; readonly reason: unknown; readonly newest: number };

/** What it returned, or else throws what it threw. */
function resultOf<T>(ran: Ran<T>): T {
  if (ran.isRefused) throw ran.reason;
  return ran.result;
}

function bytesOf(tx: BodyTransaction): number {
  let bytes = 0;
  for (const { key, value } of tx.writes) bytes += bytesOfRecord(key, value);
  return bytes;
}
