import { resolve } from "node:path";
import type { Clock } from "../base/clock.ts";
import { key, SPACE } from "../base/keys.ts";
import type { FrontEnd } from "../cluster/front-end.ts";
import { LeaderStore } from "../cluster/member-store.ts";
import { readPlace } from "../content/extent-makers.ts";
import { StoredContents } from "../content/stored-contents.ts";
import { claimFolder, probeFolder } from "../engine/folder/claim-folder.ts";
import { FolderExtents } from "../engine/folder/extents.ts";
import type { PostgresStore } from "../engine/postgres/store.ts";
import type { S3Place } from "../engine/s3/s3-place.ts";
import { Machine } from "../machine/machine.ts";
import { CacheBreaks, systemTimer } from "../service/file/cache-breaks.ts";
import type { Extents } from "../store/extents.ts";
import type { LeftExtents } from "../store/left-extents.ts";
import { isUnreachable, type Store } from "../store/store.ts";
import type { SeenRecords } from "./metrics/records-metrics.ts";
import { openSharedBucket } from "./open-bucket.ts";
import { type Joined, type JoinSurroundings, joinFrontEnds, openRecords } from "./open-records.ts";
import type { Dependency } from "./readiness.ts";
import { RESTORE_KEY, type SharedPlace } from "./shared-place.ts";
import { OutOfReach, StartError } from "./start-error.ts";
import { Undo } from "./undo.ts";

/** What shared data needs from its process. */
export interface SharedSurroundings extends JoinSurroundings {
  /** For tests: a clock instead of the database's time. */
  readonly clock?: Clock | undefined;
  /** Throws a `StartError` if this process has the records of this cluster open already. */
  readonly requireOther?: ((cluster: string) => void) | undefined;
  /** The name of the backup that is being restored to these records. */
  readonly restores?: string | undefined;
}

/** This process as one of several that have the same records. */
export interface Member extends Joined {
  readonly records: SeenRecords;
  /** Identifies the records. */
  readonly cluster: string;
  /** The store for what only the leader does. */
  readonly leaderStore: Store;
  readonly extents: Extents & LeftExtents;
}

/** Opens records and bytes. Throws a `StartError`, with nothing left open. */
export async function openSharedData(
  { records: url, bytes }: SharedPlace,
  bucket: S3Place | null,
  around: SharedSurroundings,
) {
  const undo = new Undo();
  const machine = new Machine();
  undo.add(() => machine.close());
  try {
    const makesSchema = around.guest === undefined || around.restores !== undefined;
    const records = await openRecords(url, around.clock, makesSchema);
    undo.add(() => records.close());
    around.requireOther?.(records.cluster);
    if (around.restores === undefined) await requireComplete(records);
    const { frontEnd, store, messages } = await joinFrontEnds(records, around, undo);
    const { extents, dependency } =
      bucket === null
        ? await openFolderBytes(bytes, records, frontEnd, undo)
        : await openBucketBytes(bucket, records, frontEnd, machine, undo);
    const leaderStore = new LeaderStore(store, frontEnd);
    const shared = { others: frontEnd, sweepStore: leaderStore };
    const contents = new StoredContents(store, extents, machine, extents, shared);
    const breaks = new CacheBreaks(systemTimer, messages);
    store.changes((keys) => breaks.hear(keys));
    const none = { warnings: [], space: null, engine: null, save: null, collect: null };
    const { cluster } = records;
    const member: Member = { frontEnd, store, records, cluster, leaderStore, messages, extents };
    const { clock } = records;
    const database = { name: "the database", reach: () => records.reach() };
    const dependencies = [database, dependency];
    const own = { store, contents, breaks, ...none, clock, member, dependencies };
    return { ...own, close: () => undo.run() };
  } catch (error) {
    await undo.run();
    throw isUnreachable(error) ? new OutOfReach(`${(error as Error).message}.`) : error;
  }
}

async function requireComplete(records: PostgresStore): Promise<void> {
  const backup = await records.read((view) => view.get(RESTORE_KEY));
  if (backup === undefined) return;
  throw new StartError(
    `These records are not complete: the restore of the backup ${backup} did not end. Run it again.`,
  );
}

/** Only its maker knows which extents are being written, so others sweep them after its end. */
function sweepsOf(frontEnd: FrontEnd): (maker: number) => boolean {
  return (maker) =>
    maker === frontEnd.number || (frontEnd.isSweeper && frontEnd.ended.includes(maker));
}

const BYTES_KEY = key(SPACE.engine, "bytes");

/** Notes where the bytes of these records are, unless another place was noted before. */
function chooseBytes(store: Store, id: string): Promise<string> {
  return store.transact((tx) => {
    const chosen = tx.get(BYTES_KEY);
    if (chosen !== undefined) return chosen.toString();
    tx.set(BYTES_KEY, Buffer.from(id));
    return id;
  });
}

interface Bytes {
  readonly extents: Extents & LeftExtents;
  readonly dependency: Dependency;
}

async function openFolderBytes(
  bytes: string,
  store: PostgresStore,
  frontEnd: FrontEnd,
  undo: Undo,
): Promise<Bytes> {
  const folder = resolve(bytes);
  if ((await store.read(readPlace)) !== null) throw new StartError(BYTES_IN_BUCKET);
  try {
    await claimFolder(folder, store.cluster, (id) => chooseBytes(store, id));
    const extents = await FolderExtents.open({
      folder,
      frontEnd: store.frontEnd,
      sweeps: sweepsOf(frontEnd),
      unread: () => frontEnd.unread(),
    });
    undo.add(() => extents.close());
    const reach = () => probeFolder(folder);
    return { extents, dependency: { name: "the folder of bytes", reach } };
  } catch (error) {
    throw new StartError(`The bytes cannot be opened: ${(error as Error).message}.`);
  }
}

const BYTES_IN_BUCKET =
  "The large bodies of these records are in an object store: name it with --bytes s3://bucket/prefix.";
const BYTES_IN_FOLDER =
  "The large bodies of these records are in a folder: name it with --bytes, or choose other records.";

async function openBucketBytes(
  bucket: S3Place,
  store: PostgresStore,
  frontEnd: FrontEnd,
  machine: Machine,
  undo: Undo,
): Promise<Bytes> {
  if (await store.read((view) => view.get(BYTES_KEY) !== undefined)) {
    throw new StartError(BYTES_IN_FOLDER);
  }
  return openSharedBucket(bucket, store, machine, undo, {
    frontEnd: store.frontEnd,
    sweeps: sweepsOf(frontEnd),
    unread: () => frontEnd.unread(),
  });
}
