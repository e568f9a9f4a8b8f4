import { BodyBudget } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { KeyReader, key, keyAfter, SPACE, type Space } from "../../base/keys.ts";
import { UNCOMMITTED_BLOCKS_RETENTION_MS } from "../../base/limits.ts";
import { prefetch } from "../../store/accelerated.ts";
import type { Content } from "../../store/content.ts";
import type { Contents } from "../../store/contents.ts";
import type { Entry } from "../../store/entry.ts";
import { type Transaction, unlessDamaged, type View } from "../../store/store.ts";
import { ROUND_RECORDS_MAX, SweepRound } from "../shared/sweep-round.ts";
import type { BlobContext } from "./context.ts";
import { discardBlob } from "./directories.ts";
import {
  decodeBlob,
  decodeDeletedContainer,
  decodeDoomedStagedBlob,
  decodeStagedBlob,
  decodeStagedBlock,
  deleteStagedBlob,
  doomContainer,
  isExpired,
  nameOfBlobKey,
} from "./records.ts";
import {
  decodeDeleted,
  deleteRevision,
  expiryKey,
  ofExpiryKey,
  readSnapshots,
} from "./revision-records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";

/** Uncommitted blocks live for days, so another hour does not matter. */
const SEARCH_PAUSE_MS = 3_600_000;

/**
 * Removes unreachable records: blobs of deleted containers and directories, blocks of committed or
 * dropped staged blobs, deleted blobs whose retention has ended, expired files, and blocks that
 * were never committed. `Contents` frees their bytes.
 */
export class BlobSweep {
  readonly #context: Pick<BlobContext, "store" | "contents">;
  #searchFrom: Bytes = ALL_STAGED;
  #searchAtMs: Instant = 0;

  constructor(context: Pick<BlobContext, "store" | "contents">) {
    this.#context = context;
  }

  /** One round, which writes to a bounded number of records; true while there may be more to do. */
  async sweep(): Promise<boolean> {
    const { store, contents } = this.#context;
    if (await store.read(hasDoomed)) {
      await store.transact((tx) => freeDoomed(tx, contents));
      return true;
    }
    if (await store.read((view) => expired(view, 1).length > 0)) {
      await store.transact((tx) => freeExpired(tx, contents));
      return true;
    }
    return this.#searchOldBlocks();
  }

  async #searchOldBlocks(): Promise<boolean> {
    const { store } = this.#context;
    const page = await store.read((view) =>
      view.now() < this.#searchAtMs ? null : oldStagedBlobs(view, this.#searchFrom),
    );
    if (page === null) return false;
    if (page.old.length > 0) await store.transact((tx) => doomOldStagedBlobs(tx, page.old));
    this.#searchFrom = page.next ?? ALL_STAGED;
    if (page.next === null) this.#searchAtMs = page.nowMs + SEARCH_PAUSE_MS;
    return page.next !== null || page.old.length > 0;
  }
}

const ALL_STAGED = key(SPACE.stagedBlob);

function hasDoomed(view: View): boolean {
  return (
    firstOf(view, SPACE.doomedContainer) !== null || firstOf(view, SPACE.doomedStagedBlob) !== null
  );
}

function firstOf(view: View, space: Space): Entry | null {
  const all = key(space);
  return view.range(all, keyAfter(all), { limit: 1 })[0] ?? null;
}

function freeDoomed(tx: Transaction, contents: Contents): void {
  const container = firstOf(tx, SPACE.doomedContainer);
  if (container !== null) {
    freeContainer(tx, contents, container);
    return;
  }
  const staged = firstOf(tx, SPACE.doomedStagedBlob);
  if (staged !== null) freeStagedBlocks(tx, contents, staged);
}

/** Removes what a container or directory held. Later rounds remove what its directories held. */
function freeContainer(tx: Transaction, contents: Contents, doomed: Entry): void {
  const id = idOf(doomed);
  const round = new SweepRound(tx);
  for (const space of [SPACE.blob, SPACE.blobSnapshot, SPACE.blobVersion]) {
    const entries = round.entries(key(space, id));
    contents.prefetchDrops(tx, () => entries.map(({ value }) => decodeBlob(value).content));
    for (const entry of entries) {
      discardBlob(contents, tx, decodeBlob(entry.value));
      tx.delete(entry.key);
    }
  }
  round.remove(key(SPACE.blobTag, id));
  for (const space of [SPACE.deletedBlob, SPACE.deletedRevision, SPACE.deletedPath]) {
    const entries = round.entries(key(space, id));
    contents.prefetchDrops(tx, () => entries.map(({ value }) => decodeDeleted(value).blob.content));
    for (const entry of entries) {
      freeDeletedBlob(tx, contents, entry.key, entry.value);
    }
  }
  for (const entry of round.entries(key(SPACE.stagedBlob, id))) {
    const name = nameOfBlobKey(entry.key);
    deleteStagedBlob(tx, { parent: { id }, name }, decodeStagedBlob(entry.value), {
      dropContents: true,
    });
  }
  if (!round.isOver) tx.delete(doomed.key);
}

/** Later rounds remove the container's blobs. */
function freeDeletedContainer(tx: Transaction, deletedKey: Bytes, value: Bytes): void {
  const { container, untilMs } = decodeDeletedContainer(value);
  doomContainer(tx, container);
  tx.delete(deletedKey);
  tx.delete(expiryKey(untilMs, deletedKey));
}

function freeDeletedBlob(
  tx: Transaction,
  contents: Contents,
  deletedKey: Bytes,
  value: Bytes,
): void {
  const { blob, untilMs } = decodeDeleted(value);
  discardBlob(contents, tx, blob);
  tx.delete(deletedKey);
  tx.delete(expiryKey(untilMs, deletedKey));
}

/** Keeps a file that was replaced, or got another time, since the index entry was made. */
function freeExpiredFile(
  tx: Transaction,
  contents: Contents,
  found: Bytes,
  fileKey: Bytes,
  value: Bytes,
): void {
  const blob = decodeBlob(value);
  if (!isExpired(blob, tx.now())) {
    tx.delete(found);
    return;
  }
  const place = { parent: { id: new KeyReader(fileKey).u64() }, name: nameOfBlobKey(fileKey) };
  const snapshots = readSnapshots(tx, place, ROUND_RECORDS_MAX);
  contents.prefetchDrops(tx, () => snapshots.map((snapshot) => snapshot.blob.content));
  for (const { stamp, blob: snapshot } of snapshots) {
    deleteRevision(tx, place, { kind: "snapshot", stamp });
    discardBlob(contents, tx, snapshot);
  }
  // Another round removes the rest, and then the file.
  if (snapshots.length === ROUND_RECORDS_MAX) return;
  dropStagedBlocks(tx, place);
  discardBlob(contents, tx, blob);
  tx.delete(fileKey);
  tx.delete(found);
}

function freeStagedBlocks(tx: Transaction, contents: Contents, doomed: Entry): void {
  const { dropContents } = decodeDoomedStagedBlob(doomed.value);
  const round = new SweepRound(tx);
  const entries = round.entries(key(SPACE.stagedBlock, idOf(doomed)));
  if (dropContents) {
    contents.prefetchDrops(tx, () => entries.map(({ value }) => decodeStagedBlock(value).content));
  }
  for (const entry of entries) {
    if (dropContents) contents.drop(tx, decodeStagedBlock(entry.value).content);
    tx.delete(entry.key);
  }
  if (!round.isOver) tx.delete(doomed.key);
}

/** Deleted containers and revisions whose retention has ended, and files that have expired. */
function expired(view: View, limit: number): Entry[] {
  const from = key(SPACE.expiringBlob);
  return view.range(from, key(SPACE.expiringBlob, view.now() + 1), { limit });
}

/** Drops the index entry of a record that is gone or damaged, and what is left of the record. */
function freeLost(tx: Transaction, found: Bytes, of: Bytes): void {
  tx.delete(found);
  // A file that is damaged stays, because it may have got another time.
  if (of[0] !== SPACE.blob) tx.delete(of);
}

function freeExpired(tx: Transaction, contents: Contents): void {
  const budget = new BodyBudget();
  const all = expired(tx, ROUND_RECORDS_MAX);
  prefetch(tx, () => all.map((entry) => ofExpiryKey(entry.key)));
  contents.prefetchDrops(tx, () => all.flatMap((entry) => contentsOf(tx, ofExpiryKey(entry.key))));
  for (const { key: found } of all) {
    if (budget.isSpent) return;
    const of = ofExpiryKey(found);
    const value = unlessDamaged(() => tx.get(of)) ?? null;
    budget.spend(value?.length ?? 0);
    if (value === null) freeLost(tx, found, of);
    else if (of[0] === SPACE.deletedContainer) freeDeletedContainer(tx, of, value);
    else if (of[0] === SPACE.blob) freeExpiredFile(tx, contents, found, of, value);
    else freeDeletedBlob(tx, contents, of, value);
  }
}

/** The content of what expires: a file, a deleted blob or a revision. */
function contentsOf(tx: Transaction, of: Bytes): readonly Content[] {
  if (of[0] === SPACE.deletedContainer) return [];
  const value = unlessDamaged(() => tx.get(of)) ?? null;
  if (value === null) return [];
  const { content } = of[0] === SPACE.blob ? decodeBlob(value) : decodeDeleted(value).blob;
  return [content];
}

interface StagedPage {
  readonly old: readonly Bytes[];
  /** Null at the end. */
  readonly next: Bytes | null;
  readonly nowMs: Instant;
}

function oldStagedBlobs(view: View, from: Bytes): StagedPage {
  const nowMs = view.now();
  const entries = view.range(from, keyAfter(ALL_STAGED), { limit: ROUND_RECORDS_MAX });
  const old = entries.filter((entry) => isOld(entry.value, nowMs));
  const last = entries.length < ROUND_RECORDS_MAX ? undefined : entries.at(-1);
  return {
    old: old.map((entry) => Buffer.from(entry.key)),
    next: last === undefined ? null : keyAfter(last.key),
    nowMs,
  };
}

/** Checks each staged blob again, because it may have changed since it was found. */
function doomOldStagedBlobs(tx: Transaction, keys: readonly Bytes[]): void {
  prefetch(tx, () => keys);
  for (const stagedKey of keys) {
    const found = tx.get(stagedKey);
    if (found === undefined || !isOld(found, tx.now())) continue;
    const staged = decodeStagedBlob(found);
    const parent = { id: new KeyReader(stagedKey).u64() };
    const place = { parent, name: nameOfBlobKey(stagedKey) };
    deleteStagedBlob(tx, place, staged, { dropContents: true });
  }
}

function isOld(staged: Bytes, now: Instant): boolean {
  return decodeStagedBlob(staged).lastMs + UNCOMMITTED_BLOCKS_RETENTION_MS <= now;
}

function idOf(entry: Entry): bigint {
  return new KeyReader(entry.key).u64();
}
