import { resolve } from "node:path";
import type { Clock } from "../base/clock.ts";
import { key, SPACE } from "../base/keys.ts";
import type { Schedule } from "../base/schedule.ts";
import { FrontEnd } from "../cluster/front-end.ts";
import { LeaderStore, MemberStore } from "../cluster/member-store.ts";
import { Messages } from "../cluster/messages.ts";
import { readPlace } from "../content/extent-makers.ts";
import { StoredContents } from "../content/stored-contents.ts";
import { claimFolder, probeFolder } from "../engine/folder/claim-folder.ts";
import { FolderExtents } from "../engine/folder/extents.ts";
import type { PostgresAddress } from "../engine/postgres/address.ts";
import { openPostgresStore, type PostgresStore } from "../engine/postgres/store.ts";
import type { S3Place } from "../engine/s3/s3-place.ts";
import { Machine } from "../machine/machine.ts";
import { CacheBreaks, systemTimer } from "../service/file/cache-breaks.ts";
import type { Extents } from "../store/extents.ts";
import type { LeftExtents } from "../store/left-extents.ts";
import { type FailStop, isUnreachable, type Store } from "../store/store.ts";
import { openSharedBucket } from "./open-bucket.ts";
import type { Dependency } from "./readiness.ts";
import { readRecordsAddress, type SharedPlace } from "./shared-place.ts";
import { OutOfReach, StartError } from "./start-error.ts";
import { Undo } from "./undo.ts";

/** What a front end needs from its process. */
export interface SharedSurroundings {
  readonly schedule: Schedule;
  readonly failStop: FailStop;
  /** For tests: a clock instead of the database's time. */
  readonly clock?: Clock | undefined;
  /** For tests with such a clock, which jumps: how long a front end may be out of touch. */
  readonly leaseMs?: number | undefined;
  /** Throws a `StartError` if this process has the records of this cluster open already. */
  readonly requireOther?: ((cluster: string) => void) | undefined;
}

/** This process as one of several that have the same records. */
export interface Member {
  readonly frontEnd: FrontEnd;
  /** Identifies the records. */
  readonly cluster: string;
  /** The store for what only the leader does. */
  readonly leaderStore: Store;
  readonly messages: Messages;
  readonly extents: LeftExtents;
}

/** Opens records and bytes. Throws a `StartError`, with nothing left open. */
export async function openSharedData(
  { records: url, bytes }: SharedPlace,
  bucket: S3Place | null,
  around: SharedSurroundings,
) {
  const address = readRecordsAddress(url);
  const undo = new Undo();
  const machine = new Machine();
  undo.add(() => machine.close());
  try {
    const records = await openRecords(address, around.clock);
    undo.add(() => records.close());
    around.requireOther?.(records.cluster);
    const frontEnd = await join(records, around);
    undo.add(() => frontEnd.leave());
    const { extents, dependency } =
      bucket === null
        ? await openFolderBytes(bytes, records, frontEnd, undo)
        : await openBucketBytes(bucket, records, frontEnd, machine, undo);
    const store = new MemberStore(records, frontEnd);
    const leaderStore = new LeaderStore(store, frontEnd);
    const shared = { others: frontEnd, sweepStore: leaderStore };
    const contents = new StoredContents(store, extents, machine, extents, shared);
    const messages = new Messages(store, frontEnd);
    undo.add(async () => messages.close());
    const breaks = new CacheBreaks(systemTimer, messages);
    store.changes((keys) => breaks.hear(keys));
    const none = { warnings: [], space: null, engine: null, save: null, collect: null };
    const { cluster } = records;
    const member: Member = { frontEnd, cluster, leaderStore, messages, extents };
    const { clock } = records;
    const database = { name: "the database", reach: () => records.read(() => null) };
    const dependencies = [database, dependency];
    const own = { store, contents, breaks, ...none, clock, member, dependencies };
    frontEnd.start();
    return { ...own, close: () => undo.run() };
  } catch (error) {
    await undo.run();
    throw isUnreachable(error) ? new OutOfReach(`${(error as Error).message}.`) : error;
  }
}

function join(store: PostgresStore, around: SharedSurroundings): Promise<FrontEnd> {
  const { frontEnd: number, clock } = store;
  const { schedule, leaseMs, failStop } = around;
  return FrontEnd.join({ store, number, clock, schedule, leaseMs, onEnded: failStop });
}

/** Only its maker knows which extents are being written, so others sweep them after its end. */
function sweepsOf(frontEnd: FrontEnd): (maker: number) => boolean {
  return (maker) =>
    maker === frontEnd.number || (frontEnd.isSweeper && frontEnd.ended.includes(maker));
}

async function openRecords(address: PostgresAddress, clock?: Clock): Promise<PostgresStore> {
  try {
    return await openPostgresStore(address, clock === undefined ? {} : { clock });
  } catch (error) {
    const failure = error as Error & { code?: string };
    const line = `The records cannot be opened at ${address.shown}: ${problemOf(failure, address)}.`;
    throw isOutage(failure) ? new OutOfReach(line) : new StartError(line);
  }
}

/** No connection, a server that starts, stops or is full, or one that is not the primary now. */
const OUTAGES =
  /^(E(CONN|HOST|NET|PIPE|TIMED)\w+|ENOENT|ENOTFOUND|EAI_AGAIN|08\w{3}|53\w{3}|57P0[123]|25006)$/;

/** Whether another attempt may succeed, without anybody changing the settings. */
function isOutage({ message, code }: Error & { code?: string }): boolean {
  return code === undefined ? /timeout|^Connection terminated/.test(message) : OUTAGES.test(code);
}

/** What happened and what to do next, in one line. */
function problemOf({ message, code }: Error & { code?: string }, address: PostgresAddress): string {
  switch (code) {
    case "ECONNREFUSED":
    case "ENOENT":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `no server answers there (${message}): start it, or check host and port`;
    case "28P01":
    case "28000":
      return `${message}: check user and password`;
    case "3D000":
      return `${message}: create it, or check its name`;
    case "42501":
      return `${message}: let this user create the schema ${address.schema}, or create it for them`;
    case "25006":
      return `${message}: give the address of a primary that takes writes`;
    case "53300":
      return `${message}: permit more connections, or start fewer front ends`;
    default:
      return problemWithoutCode(message);
  }
}

/** The driver gives no code to connections that end without a word of the server. */
function problemWithoutCode(message: string): string {
  if (/timeout/.test(message)) {
    return `no server answers there (${message}): check host and port, and the network between`;
  }
  return /^Connection terminated/.test(message)
    ? "what answers there closes the connection: check that it is PostgreSQL, and its port"
    : message;
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
