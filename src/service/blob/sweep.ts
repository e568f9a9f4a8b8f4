import { BodyBudget } from "../../base/body-budget.ts";
import type { Bytes } from "../../base/bytes.ts";
import type { Instant } from "../../base/clock.ts";
import { KeyReader, key, keyAfter, SPACE, type Space } from "../../base/keys.ts";
import { UNCOMMITTED_BLOCKS_RETENTION_MS } from "../../base/limits.ts";
import type { Contents } from "../../store/contents.ts";
import type { Entry } from "../../store/entry.ts";
import type { Transaction, View } from "../../store/store.ts";
import { ROUND_RECORDS_MAX, SweepRound } from "../shared/sweep-round.ts";
import type { BlobContext } from "./context.ts";
import {
  decodeBlob,
  decodeDeletedContainer,
  decodeDoomedStagedBlob,
  decodeStagedBlob,
  decodeStagedBlock,
  deleteStagedBlob,
  doomContainer,
  nameOfBlobKey,
} from "./records.ts";
import { decodeDeleted, expiryKey, ofExpiryKey } from "./revision-records.ts";

/** Uncommitted blocks live for days, so another hour does not matter. */
const SEARCH_PAUSE_MS = 3_600_000;

/**
 * Removes unreachable records: blobs of deleted containers, blocks of committed or dropped staged
 * blobs, deleted blobs whose retention has ended, and blocks that were never committed. `Contents`
 * frees their bytes.
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

function freeContainer(tx: Transaction, contents: Contents, doomed: Entry): void {
  const id = idOf(doomed);
  const round = new SweepRound(tx);
  for (const space of [SPACE.blob, SPACE.blobSnapshot, SPACE.blobVersion]) {
    for (const entry of round.entries(key(space, id))) {
      contents.drop(tx, decodeBlob(entry.value).content);
      tx.delete(entry.key);
    }
  }
  round.remove(key(SPACE.blobTag, id));
  for (const space of [SPACE.deletedBlob, SPACE.deletedRevision]) {
    for (const entry of round.entries(key(space, id))) {
      freeDeletedBlob(tx, contents, entry.key, entry.value);
    }
  }
  for (const entry of round.entries(key(SPACE.stagedBlob, id))) {
    const name = nameOfBlobKey(entry.key);
    deleteStagedBlob(tx, { id }, name, decodeStagedBlob(entry.value), { dropContents: true });
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
  contents.drop(tx, blob.content);
  tx.delete(deletedKey);
  tx.delete(expiryKey(untilMs, deletedKey));
}

function freeStagedBlocks(tx: Transaction, contents: Contents, doomed: Entry): void {
  const { dropContents } = decodeDoomedStagedBlob(doomed.value);
  const round = new SweepRound(tx);
  for (const entry of round.entries(key(SPACE.stagedBlock, idOf(doomed)))) {
    if (dropContents) contents.drop(tx, decodeStagedBlock(entry.value).content);
    tx.delete(entry.key);
  }
  if (!round.isOver) tx.delete(doomed.key);
}

/** Deleted containers and revisions whose retention has ended. */
function expired(view: View, limit: number): Entry[] {
  const from = key(SPACE.expiringBlob);
  return view.range(from, key(SPACE.expiringBlob, view.now() + 1), { limit });
}

function freeExpired(tx: Transaction, contents: Contents): void {
  const budget = new BodyBudget();
  for (const { key: found } of expired(tx, ROUND_RECORDS_MAX)) {
    if (budget.isSpent) return;
    const of = ofExpiryKey(found);
    const value = tx.get(of);
    budget.spend(value?.length ?? 0);
    if (value === undefined) tx.delete(found);
    else if (of[0] === SPACE.deletedContainer) freeDeletedContainer(tx, of, value);
    else freeDeletedBlob(tx, contents, of, value);
  }
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
  for (const stagedKey of keys) {
    const found = tx.get(stagedKey);
    if (found === undefined || !isOld(found, tx.now())) continue;
    const staged = decodeStagedBlob(found);
    const id = new KeyReader(stagedKey).u64();
    deleteStagedBlob(tx, { id }, nameOfBlobKey(stagedKey), staged, { dropContents: true });
  }
}

function isOld(staged: Bytes, now: Instant): boolean {
  return decodeStagedBlob(staged).lastMs + UNCOMMITTED_BLOCKS_RETENTION_MS <= now;
}

function idOf(entry: Entry): bigint {
  return new KeyReader(entry.key).u64();
}
