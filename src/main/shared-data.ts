import { resolve } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { key, SPACE } from "../base/keys.ts";
import { readPlace } from "../content/extent-makers.ts";
import { StoredContents } from "../content/stored-contents.ts";
import { claimFolder, probeFolder } from "../engine/folder/claim-folder.ts";
import { FolderExtents } from "../engine/folder/extents.ts";
import type { PostgresAddress } from "../engine/postgres/address.ts";
import { openPostgresStore, type PostgresStore } from "../engine/postgres/store.ts";
import type { S3Place } from "../engine/s3/s3-place.ts";
import { Machine } from "../machine/machine.ts";
import { CacheBreaks } from "../service/file/cache-breaks.ts";
import type { Extents } from "../store/extents.ts";
import type { Store } from "../store/store.ts";
import { openSharedBucket } from "./open-bucket.ts";
import type { Dependency } from "./readiness.ts";
import { readRecordsAddress, type SharedPlace } from "./shared-place.ts";
import { StartError } from "./start-error.ts";
import { Undo } from "./undo.ts";

/** Opens records and bytes. Throws a `StartError`, with nothing left open. */
export async function openSharedData({ records, bytes }: SharedPlace, bucket: S3Place | null) {
  const address = readRecordsAddress(records);
  const undo = new Undo();
  const machine = new Machine();
  undo.add(() => machine.close());
  try {
    const store = await openRecords(address);
    undo.add(() => store.close());
    const { extents, dependency } =
      bucket === null
        ? await openFolderBytes(bytes, store, undo)
        : await openBucketBytes(bucket, store, machine, undo);
    const contents = new StoredContents(store, extents, machine);
    const breaks = new CacheBreaks();
    const none = { warnings: [], space: null, engine: null, collect: null };
    const { clock } = store;
    const database = { name: "the database", reach: () => store.read(() => null) };
    const dependencies = [database, dependency];
    return { store, contents, breaks, ...none, clock, dependencies, close: () => undo.run() };
  } catch (error) {
    await undo.run();
    throw error;
  }
}

async function openRecords(address: PostgresAddress): Promise<PostgresStore> {
  try {
    return await openPostgresStore(address);
  } catch (error) {
    const problem = problemOf(error as Error & { code?: string }, address);
    throw new StartError(`The records cannot be opened at ${address.shown}: ${problem}.`);
  }
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
    default:
      return message;
  }
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
  readonly extents: Extents;
  readonly dependency: Dependency;
}

async function openFolderBytes(bytes: string, store: PostgresStore, undo: Undo): Promise<Bytes> {
  const folder = resolve(bytes);
  if ((await store.read(readPlace)) !== null) throw new StartError(BYTES_IN_BUCKET);
  try {
    await claimFolder(folder, store.cluster, (id) => chooseBytes(store, id));
    const extents = await FolderExtents.open({ folder, frontEnd: store.frontEnd });
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

/**
 * How long an object stays after its last use. Front ends do not tell each other what they read
 * yet, so a download that takes longer than this at another front end may break off.
 */
const READING_MS_MAX = 60 * 60_000;

async function openBucketBytes(
  bucket: S3Place,
  store: PostgresStore,
  machine: Machine,
  undo: Undo,
): Promise<Bytes> {
  if (await store.read((view) => view.get(BYTES_KEY) !== undefined)) {
    throw new StartError(BYTES_IN_FOLDER);
  }
  const unread = () => wait(READING_MS_MAX, undefined, { ref: false });
  return openSharedBucket(bucket, store, machine, undo, { frontEnd: store.frontEnd, unread });
}
