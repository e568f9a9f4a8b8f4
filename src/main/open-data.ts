import { resolve } from "node:path";
import type { Clock } from "../base/clock.ts";
import { MIB } from "../base/limits.ts";
import type { Schedule } from "../base/schedule.ts";
import { findEndOfUse } from "../content/content-uses.ts";
import { readPlace } from "../content/extent-makers.ts";
import { StoredContents } from "../content/stored-contents.ts";
import { openDataFolder } from "../engine/embedded/data-folder.ts";
import { isDiskFull } from "../engine/embedded/disk-full.ts";
import { DiskSpace, partOfVolume } from "../engine/embedded/disk-space.ts";
import { EngineFigures } from "../engine/embedded/engine-figures.ts";
import { EmbeddedExtents, EXTENT_BYTES_MAX } from "../engine/embedded/extents.ts";
import type { FolderLock } from "../engine/embedded/folder-lock.ts";
import { GuardedWrites } from "../engine/embedded/guarded-writes.ts";
import type { WalOptions } from "../engine/embedded/recover-wal.ts";
import { openEmbeddedStore } from "../engine/embedded/store.ts";
import { WAL_BYTES_ENOUGH } from "../engine/embedded/wal.ts";
import { WalLossError } from "../engine/embedded/wal-check.ts";
import { MemoryExtents } from "../engine/memory/extents.ts";
import { MemoryStore } from "../engine/memory/store.ts";
import type { S3Place } from "../engine/s3/s3-place.ts";
import { directIoNote } from "../machine/direct-io.ts";
import { Machine } from "../machine/machine.ts";
import { CacheBreaks } from "../service/file/cache-breaks.ts";
import { EPHEMERAL_SPACES } from "../service/file/open-records.ts";
import type { Contents } from "../store/contents.ts";
import type { Extents } from "../store/extents.ts";
import type { SavableStore, SavedState } from "../store/saved-state.ts";
import { type FailStop, type Store, StoreError } from "../store/store.ts";
import { systemSchedule } from "./background.ts";
import { LimitedWrites } from "./limited-writes.ts";
import type { SeenEngine } from "./metrics/engine-metrics.ts";
import type { Dependency } from "./readiness.ts";
import type { Member } from "./shared-data.ts";
import type { SharedPlace } from "./shared-place.ts";
import { StartError } from "./start-error.ts";
import { Undo } from "./undo.ts";

export interface DataPlace {
  /** Null for memory. */
  readonly location: string | null;
  readonly memoryBytesMax: number | null;
  /** A bucket for large bodies; by default they are with the records. */
  readonly bucket?: S3Place | null;
  readonly acceptDataLoss?: boolean;
  /** Records and bytes that several front ends share, instead of a folder or memory. */
  readonly shared?: SharedPlace | null;
  /** The lock of a restore to the folder, which keeps it. */
  readonly restoreLock?: FolderLock;
}

/** The store and contents that the services use. */
export interface Data {
  readonly store: Store;
  readonly contents: Contents;
  readonly breaks: CacheBreaks;
  /** Warnings for the operator about the data folder. */
  readonly warnings: readonly string[];
  /** Null for data in memory. */
  readonly space: DiskSpace | null;
  /** For metrics. Null for data in memory. */
  readonly engine: SeenEngine | null;
  /** The time that all front ends have in common; null for that of this machine. */
  readonly clock: Clock | null;
  /** Keeps the present state of everything; null unless it is all in memory. */
  readonly save: (() => SavedState) | null;
  /** A further round of background work; null if there is none. */
  readonly collect: (() => Promise<boolean>) | null;
  /** What has to be reached over a network; none for data of this machine. */
  readonly dependencies: readonly Dependency[];
  /** Null if no other process has these records. */
  readonly member: Member | null;
  close(): Promise<void>;
}

/** For records that several processes have. */
interface SharedOptions {
  readonly schedule: Schedule;
  /** For tests: a clock instead of the database's time. */
  readonly sharedClock: Clock | undefined;
  /** Throws a `StartError` if this process has the records of this cluster open already. */
  readonly requireOther: (cluster: string) => void;
  /** The name of a command that joins the front ends for as long as it works. */
  readonly guest: string;
  /** The name of the backup that this command restores. */
  readonly restores: string;
}

/** The WAL and extents as parts of a small volume: compacting a small extent takes little space. */
const WAL_PART = 1 / 64;
const EXTENT_PART = 1 / 32;
const EXTENT_BYTES_MIN = 4 * MIB;

/** Opens the data, and makes the folder if it is missing. Throws a `StartError`. */
export async function openData(
  place: DataPlace,
  clock: Clock,
  failStop: FailStop,
  options: Partial<Pick<WalOptions, "tell" | "onDamage">> & Partial<SharedOptions> = {},
): Promise<Data> {
  const { location, memoryBytesMax, acceptDataLoss = false, shared = null, bucket = null } = place;
  if (shared !== null) {
    // Loaded only when it is asked for: most servers keep their data in a folder.
    const { openSharedData } = await import("./shared-data.ts");
    const { schedule = systemSchedule, sharedClock, requireOther, guest, restores } = options;
    const around = { schedule, failStop, clock: sharedClock, requireOther, guest, restores };
    return openSharedData(shared, bucket, around);
  }
  if (location === null) return memoryData(new MemoryStore(clock), memoryBytesMax);
  try {
    const wal = { ...options, acceptDataLoss };
    return await openFolder(resolve(location), place, clock, failStop, wal);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw await startError(error, resolve(location));
  }
}

const RESTORE = "Restore the data folder from a backup, or choose another one with --location.";
const ADVICE_ON_LOSS =
  "Put the log files back where they were, or restore the whole data folder from a backup. " +
  "To start without the lost writes, add --acceptDataLoss once, then run `lazuli verify`.";

const BYTES_ELSEWHERE =
  "The large bodies of this data folder are in an object store: name it with --bytes s3://bucket/prefix.";

async function startError(error: unknown, folder: string): Promise<StartError> {
  // A start first copies the WAL into the database, which takes space.
  if (await isDiskFull(error, folder).catch(() => false)) {
    return new StartError(
      `The data cannot be opened: no space is left for ${folder}. Free some, then start again.`,
    );
  }
  if (error instanceof WalLossError) {
    return new StartError(`The data cannot be opened: ${error.message}. ${ADVICE_ON_LOSS}`);
  }
  const isDamage = error instanceof StoreError && error.kind === "damaged";
  const advice = isDamage ? ` ${RESTORE}` : "";
  return new StartError(`The data cannot be opened: ${(error as Error).message}.${advice}`);
}

/** Data in memory, which ends with the process. */
export function memoryData(
  store: Store & Partial<SavableStore>,
  bytesMax: number | null,
  extents: Extents & Partial<SavableStore> = new MemoryExtents(),
): Data {
  const incoming = bytesMax === null ? extents : new LimitedWrites(extents, bytesMax);
  const machine = new Machine();
  const contents = new StoredContents(store, extents, machine, incoming);
  const breaks = new CacheBreaks();
  const close = async () => {
    await store.close();
    await machine.close();
  };
  const canSave = store.save !== undefined && extents.save !== undefined;
  const save = () =>
    saveAll([store.save?.() ?? NOTHING_SAVED, extents.save?.() ?? NOTHING_SAVED], contents);
  const none = { warnings: [], space: null, engine: null, clock: null, collect: null };
  const alone = { ...none, dependencies: [], member: null };
  return { store, contents, breaks, ...alone, save: canSave ? save : null, close };
}

const NOTHING_SAVED: SavedState = { restore() {}, forget() {} };

function saveAll(states: readonly SavedState[], contents: StoredContents): SavedState {
  return {
    restore: () => {
      for (const state of states) state.restore();
      contents.recheckSpace();
    },
    forget: () => {
      for (const state of states) state.forget();
    },
  };
}

async function openFolder(
  path: string,
  { bucket = null, restoreLock }: DataPlace,
  clock: Clock,
  failStop: FailStop,
  options: Partial<WalOptions>,
): Promise<Data> {
  const undo = new Undo();
  const machine = new Machine();
  undo.add(() => machine.close());
  try {
    const folder = await openDataFolder(path, restoreLock);
    undo.add(() => folder.release());
    const space = await DiskSpace.open(folder.storeFolder);
    const { volumeBytes } = space;
    const figures = new EngineFigures();
    const store = await openEmbeddedStore(
      folder.storeFolder,
      clock,
      failStop,
      partOfVolume(volumeBytes, WAL_PART, MIB, WAL_BYTES_ENOUGH),
      { ...options, space, ephemeral: EPHEMERAL_SPACES, figures },
    );
    undo.add(() => store.close());
    const breaks = new CacheBreaks();
    const close = () => undo.run();
    const own = { store, breaks, space, clock: null, member: null, save: null, close };
    const seen = { figures, store, space, machine };
    if (bucket !== null) {
      const { openBucket } = await import("./open-bucket.ts");
      const { extents, collect, dependency } = await openBucket(bucket, store, machine, undo);
      const contents = new StoredContents(store, extents, machine);
      const engine = { ...seen, extents: null };
      const warnings = folder.openToOthers;
      return { ...own, contents, warnings, engine, collect, dependencies: [dependency] };
    }
    if ((await store.read(readPlace)) !== null) throw new StartError(BYTES_ELSEWHERE);
    const extents = await EmbeddedExtents.open({
      folder: folder.extentsFolder,
      machine,
      endOfUse: await findEndOfUse(store),
      failStop,
      extentBytesMax: partOfVolume(volumeBytes, EXTENT_PART, EXTENT_BYTES_MIN, EXTENT_BYTES_MAX),
      space,
      figures,
    });
    undo.add(() => extents.close());
    const guarded = new GuardedWrites(extents, space);
    const contents = new StoredContents(store, extents, machine, guarded);
    const note = directIoNote(folder.extentsFolder, extents.directFlag);
    const warnings = note === null ? folder.openToOthers : [...folder.openToOthers, note];
    const engine = { ...seen, extents };
    return { ...own, contents, warnings, engine, collect: null, dependencies: [] };
  } catch (error) {
    await undo.run();
    throw error;
  }
}
