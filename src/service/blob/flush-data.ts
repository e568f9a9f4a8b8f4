import { Fault } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { prefetch } from "../../store/accelerated.ts";
import type { Content } from "../../store/content.ts";
import type { Transaction } from "../../store/store.ts";
import { admitToBlob, requireRemovable } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { requireDataLakeFile } from "./data-lake-file.ts";
import { type DataLease, endLease, leaseForData, leaseIdAfter } from "./data-lease.ts";
import { requireKey } from "./encryption.ts";
import type { BlobPlace } from "./find-path.ts";
import {
  type Blob,
  type BlobProperties,
  deleteStagedBlob,
  deleteStagedBlobOnly,
  deleteStagedBlock,
  readStagedBlob,
  readStagedBlocks,
  type StagedBlob,
  writeBlob,
  writeStagedBlob,
} from "./records.ts";
import { nextBlobVersion, writtenBlob } from "./version.ts";

/** Makes appended data part of the file. */
export interface FlushData extends BlobUse, FlushedData {
  readonly lease: DataLease | null;
}

export interface FlushedData {
  /** The length of the file after the flush. */
  readonly position: number;
  /** Whether data behind the position waits for another flush; otherwise it is dropped. */
  readonly retains: boolean;
  /** Only those that change. A new MD5 is null if it is not among them. */
  readonly properties: Partial<BlobProperties>;
}

export interface FlushDataDone {
  readonly blob: Blob;
  readonly isLeaseRenewed: boolean;
}

export async function flushData(context: BlobContext, asked: FlushData): Promise<FlushDataDone> {
  return context.store.transact((tx) => {
    const { container, place, blob } = admitToBlob(tx, asked, BLOB_NEEDS.flushData);
    requireDataLakeFile(blob);
    requireKey(blob, asked);
    const lease = leaseForData(blob.lease, asked.lease, asked.leaseId, tx.now());
    const leased = lease === blob.lease ? blob : { ...blob, lease };
    const leaseId = leaseIdAfter(asked.lease, asked.leaseId);
    requireRemovable(tx, { ...asked, leaseId }, { container, blob: leased });
    const staged = readStagedBlob(tx, place);
    const ended = endLease(leased, asked.lease, tx.now());
    const next = flush(context, tx, place, ended, staged, asked);
    return { blob: next, isLeaseRenewed: asked.lease?.action === "auto-renew" };
  });
}

/** Writes the file with the appended data up to a position, which must be contiguous. */
export function flush(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  blob: Blob,
  staged: StagedBlob | null,
  { position, retains, properties }: FlushedData,
): Blob {
  const data = staged === null ? [] : dataUpTo(tx, staged, blob.content.length, position);
  const end = data.reduce((sum, { content }) => sum + content.length, blob.content.length);
  if (end !== position) {
    throw new Fault("InvalidFlushPosition", {
      Reason: `The contiguous data ends at ${end}, and the position is ${position}.`,
    });
  }
  const content = contentWith(context, tx, blob.content, data);
  if (staged !== null) endStaged(context, tx, place, staged, data, retains, content);
  const written = writtenBlob(blob, nextBlobVersion(tx, blob), content, blob.appendedBlocks);
  const next = leavesProperties(blob, properties) ? written : withProperties(written, properties);
  writeBlob(tx, place, next);
  return next;
}

/** Most flushes name no properties, and most files have no MD5 yet. */
function leavesProperties(blob: Blob, named: Partial<BlobProperties>): boolean {
  return blob.properties.contentMd5 === null && Object.keys(named).length === 0;
}

function withProperties(blob: Blob, named: Partial<BlobProperties>): Blob {
  return { ...blob, properties: { ...blob.properties, contentMd5: null, ...named } };
}

interface Appended {
  readonly id: string;
  readonly content: Content;
}

/** Appends that one lookup reads. */
const PAGE_APPENDS = 256;

/** The data from one position to another, as far as it is contiguous. */
function dataUpTo(tx: Transaction, staged: StagedBlob, from: number, to: number): Appended[] {
  const found: Appended[] = [];
  let end = from;
  let after: string | null = null;
  while (end < to) {
    const page = readStagedBlocks(tx, staged, after, PAGE_APPENDS);
    for (const { id, content } of page) {
      if (end >= to || Number(id) !== end) return found;
      found.push({ id, content });
      end += content.length;
    }
    if (page.length < PAGE_APPENDS) break;
    after = page.at(-1)?.id ?? null;
  }
  return found;
}

/**
 * The file's bytes and the data behind them, without copying either. The first data of a file
 * becomes its content as it is. A file with more is a map, to which a flush adds in constant time.
 */
function contentWith(
  { contents }: BlobContext,
  tx: Transaction,
  old: Content,
  data: readonly Appended[],
): Content {
  const [first] = data;
  if (first === undefined) return old;
  if (old.length === 0 && data.length === 1) {
    contents.drop(tx, old);
    return first.content;
  }
  let map = old;
  if (old.kind !== "map") {
    map = placed(contents.maps.place(tx, contents.maps.create(tx, 0), 0, old, 0, old.length));
    contents.drop(tx, old);
  }
  const { maps } = contents;
  prefetch(tx, () =>
    maps.needsToPlace(
      map,
      data.map(({ content }) => content),
    ),
  );
  for (const { content } of data) {
    map = placed(maps.place(tx, map, map.length, content, 0, content.length));
  }
  return map;
}

function placed(map: Content | null): Content {
  if (map === null) throw new Error("the data of one append lies in too many pieces");
  return map;
}

/** Removes the appended data that is part of the file now, and the rest if it is not retained. */
function endStaged(
  { contents }: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  staged: StagedBlob,
  data: readonly Appended[],
  retains: boolean,
  content: Content,
): void {
  const isAll = data.length === staged.blocks;
  if (!isAll && !retains && content !== data[0]?.content) {
    // The sweeper drops the contents: the file has references of its own.
    deleteStagedBlob(tx, place, staged, { dropContents: true });
    return;
  }
  for (const one of data) {
    deleteStagedBlock(tx, staged, one.id);
    if (one.content !== content) contents.drop(tx, one.content);
  }
  if (isAll) deleteStagedBlobOnly(tx, place);
  else if (!retains) deleteStagedBlob(tx, place, staged, { dropContents: true });
  else {
    const blocks = staged.blocks - data.length;
    writeStagedBlob(tx, place, { ...staged, changed: tx.stamp(), blocks });
  }
}
