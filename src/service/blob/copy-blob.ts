import { refuse } from "../../base/fault.ts";
import { newGuid } from "../../base/ids.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeCopyByLease } from "../../rules/lease.ts";
import type { Content } from "../../store/content.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { ForeignSource, OwnSource, Source, SourceObject } from "../shared/source.ts";
import {
  admitTarget,
  type CopyAsked,
  copiedType,
  copyMade,
  type Target,
  writeCopy,
} from "./copy-target.ts";
import { makeParents } from "./directories.ts";
import { type CopyContext, fetchCopy } from "./fetch-copy.ts";
import { type BlobCopy, writePendingCopy } from "./records.ts";
import type { BlobWritten } from "./version.ts";

export interface CopyBlob extends CopyAsked {
  readonly source: Source;
}

export interface CopyBlobDone extends BlobWritten {
  readonly copyId: string;
  readonly status: BlobCopy["status"];
}

/** Copies a source on this server at once, and a foreign source after the response. */
export async function copyBlob(context: CopyContext, asked: CopyBlob): Promise<CopyBlobDone> {
  const { source } = asked;
  return source.kind === "own"
    ? copyOwn(context, asked, source)
    : copyForeign(context, asked, source);
}

function copyOwn(context: CopyContext, asked: CopyBlob, source: OwnSource): Promise<CopyBlobDone> {
  const copyId = newGuid();
  return context.store.transact((tx) => {
    const target = admit(tx, asked);
    const found = source.find(tx, true);
    const { content } = found;
    context.contents.share(tx, content);
    const copy = copyMade(tx, copyId, source.url, content.length);
    return done(writeCopy(context, tx, asked, target, found, content, copy), copy);
  });
}

async function copyForeign(
  context: CopyContext,
  asked: CopyBlob,
  source: ForeignSource,
): Promise<CopyBlobDone> {
  // Check write permission before contacting the source server.
  await context.store.read((view) => admit(view, asked));
  const found = await source.look();
  const copyId = newGuid();
  const { begun, place } = await context.store.transact((tx) => {
    const admitted = admit(tx, asked);
    const place = makeParents(context, tx, admitted.place);
    const target = { ...admitted, place };
    const content = emptyContent(context, tx, target, found);
    const copy = pending(copyId, source.url, found.length);
    writePendingCopy(tx, copyId, asked.at, place, context.copies.frontEnd);
    const blob = writeCopy(context, tx, asked, target, found, content, copy);
    return { begun: done(blob, copy), place };
  });
  context.copies.start(copyId, (signal) =>
    fetchCopy(context, { copyId, place, source, found, signal }),
  );
  return begun;
}

/** The order of these checks decides which error a client sees. */
function admit(view: View, asked: CopyBlob): Target {
  const target = admitTarget(view, asked, BLOB_NEEDS.copyBlob);
  refuse(judgeCopyByLease(target.old?.lease ?? null, view.now()));
  return target;
}

/** The blob's content until its bytes arrive. A page blob has its full length from the start. */
function emptyContent(
  { contents }: CopyContext,
  tx: Transaction,
  { old }: Target,
  found: SourceObject,
): Content {
  const type = copiedType(old, found);
  if (type === "BlockBlob") return contents.compose(tx, []);
  return contents.maps.create(tx, type === "PageBlob" ? found.length : 0);
}

function pending(id: string, source: string, bytesTotal: number): BlobCopy {
  return {
    id,
    source,
    status: "pending",
    bytesDone: 0,
    bytesTotal,
    completedMs: null,
    description: "",
    isIncremental: false,
    snapshot: 0n,
    followed: "",
    followedTo: 0n,
  };
}

function done({ etag, modifiedMs, versionId }: BlobWritten, copy: BlobCopy): CopyBlobDone {
  return { etag, modifiedMs, versionId, copyId: copy.id, status: copy.status };
}
