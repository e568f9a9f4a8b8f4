import type { Instant } from "../../../base/clock.ts";
import { etagOf, isoOfStamp, type Stamp } from "../../../base/stamp.ts";
import type { ListedItem, ShownBlob } from "../../../service/blob/listed-blob.ts";
import type { Blob, BlobCopy } from "../../../service/blob/records.ts";
import type { ArrowColumn } from "../arrow/arrow-columns.ts";
import { archiveStatus } from "./tier-headers.ts";

/**
 * A list of blobs as a table. Has the columns that official clients read, named like the XML
 * elements. One of the clients fails if it finds any other column.
 */

/** A blob, or a common prefix of several. */
export interface BlobRow {
  readonly name: string;
  /** Null for a prefix. */
  readonly shown: ShownBlob | null;
  /** Null for a prefix, and if nothing is committed. */
  readonly blob: Blob | null;
}

export function rowOf(item: ListedItem): BlobRow {
  if (item.kind === "prefix") return { name: item.name, shown: null, blob: null };
  const shown = item.shown();
  return { name: item.name, shown, blob: shown.blob };
}

type Column = ArrowColumn<BlobRow>;

/** `included`: the values of `include` that request the column; null if it is always shown. */
interface ChosenColumn {
  readonly column: Column;
  readonly included: readonly string[] | null;
}

export function columnsOf(includes: ReadonlySet<string>): readonly Column[] {
  return CHOSEN.filter(({ included }) => included?.some((word) => includes.has(word)) ?? true).map(
    ({ column }) => column,
  );
}

function always(...columns: Column[]): ChosenColumn[] {
  return columns.map((column) => ({ column, included: null }));
}

function ifIncluded(included: readonly string[], ...columns: Column[]): ChosenColumn[] {
  return columns.map((column) => ({ column, included }));
}

function text(name: string, of: (row: BlobRow) => string | null | undefined): Column {
  return { name, type: "text", of: (row) => of(row) || null };
}

function count(name: string, of: (row: BlobRow) => number | bigint | null | undefined): Column {
  return { name, type: "number", of: (row) => of(row) ?? null };
}

function flag(name: string, of: (row: BlobRow) => boolean | null | undefined): Column {
  return { name, type: "flag", of: (row) => of(row) ?? null };
}

function time(name: string, of: (row: BlobRow) => Instant | null | undefined): Column {
  return { name, type: "time", of: (row) => of(row) ?? null };
}

/** Null instead of false, which is left out. */
function ifTrue(is: boolean | undefined): true | null {
  return is === true ? true : null;
}

function iso(stamp: Stamp | null | undefined): string | null {
  return stamp === null || stamp === undefined || stamp === 0n ? null : isoOfStamp(stamp);
}

function copyOf({ blob }: BlobRow): BlobCopy | null {
  return blob?.copy ?? null;
}

function isCurrent({ shown, blob }: BlobRow): boolean {
  return shown?.revision === null && shown.deleted === null && (blob?.versionId ?? 0n) !== 0n;
}

function resourceTypeOf(shown: ShownBlob | null, blob: Blob | null): string {
  if (shown === null) return "blobprefix";
  if (blob === null || blob.path === null) return "blob";
  return blob.path.directoryId === 0n ? "file" : "directory";
}

/** A blob with uncommitted blocks only is shown as available. */
function leaseOf({ shown, blob }: BlobRow) {
  if (shown === null) return null;
  return blob === null ? { status: "unlocked", state: "available", duration: null } : shown.lease;
}

const SNAPSHOTS = ["snapshots", "deleted"];
const DELETED = ["deleted", "deletedwithversions"];

const CHOSEN: readonly ChosenColumn[] = [
  ...always(
    text("Name", ({ name }) => name),
    text("ResourceType", ({ shown, blob }) => resourceTypeOf(shown, blob)),
  ),
  ...ifIncluded(
    SNAPSHOTS,
    text("Snapshot", ({ shown }) =>
      shown?.revision?.kind === "snapshot" ? isoOfStamp(shown.revision.stamp) : null,
    ),
  ),
  ...always(
    text("VersionId", ({ shown, blob }) =>
      shown?.revision?.kind === "snapshot" ? null : iso(blob?.versionId),
    ),
    flag("IsCurrentVersion", (row) => ifTrue(isCurrent(row))),
  ),
  ...ifIncluded(
    DELETED,
    flag("Deleted", ({ shown }) => ifTrue(shown !== null && shown.deleted !== null)),
    time("DeletedTime", ({ shown }) => shown?.deleted?.deletedMs),
    count("RemainingRetentionDays", ({ shown }) => shown?.deleted?.daysLeft),
  ),
  ...ifIncluded(
    ["deletedwithversions"],
    flag("HasVersionsOnly", ({ shown }) => ifTrue(shown?.hasVersionsOnly)),
  ),
  ...always(
    time("Creation-Time", ({ blob }) => blob?.createdMs),
    time("Last-Modified", ({ blob }) => blob?.modifiedMs),
    text("Etag", ({ blob }) => blob && etagOf(blob.etag)),
    count("Content-Length", ({ shown, blob }) =>
      shown === null ? null : (blob?.content.length ?? 0),
    ),
    text("Content-Type", ({ blob }) => blob?.properties.contentType),
    text("Content-Encoding", ({ blob }) => blob?.properties.contentEncoding),
    text("Content-Language", ({ blob }) => blob?.properties.contentLanguage),
    text("Content-MD5", ({ blob }) => blob?.properties.contentMd5?.toString("base64")),
    text("Cache-Control", ({ blob }) => blob?.properties.cacheControl),
    text("Content-Disposition", ({ blob }) => blob?.properties.contentDisposition),
    count("x-ms-blob-sequence-number", ({ blob }) =>
      blob?.type === "PageBlob" ? blob.sequenceNumber : null,
    ),
    text("BlobType", ({ shown, blob }) => (shown === null ? null : (blob?.type ?? "BlockBlob"))),
    flag("Sealed", ({ blob }) => ifTrue(blob?.isSealed)),
    text("AccessTier", ({ shown }) => shown?.tier?.tier),
    flag("AccessTierInferred", ({ shown }) => ifTrue(shown?.tier?.changedMs === null)),
    time("AccessTierChangeTime", ({ shown }) => shown?.tier?.changedMs),
    text("ArchiveStatus", ({ shown }) => {
      const moving = shown?.tier?.rehydration ?? null;
      return moving && archiveStatus(moving.to);
    }),
    text("RehydratePriority", ({ shown }) => shown?.tier?.rehydration?.priority),
    text("LeaseStatus", (row) => leaseOf(row)?.status),
    text("LeaseState", (row) => leaseOf(row)?.state),
    text("LeaseDuration", (row) => leaseOf(row)?.duration),
    flag("ServerEncrypted", ({ shown }) => ifTrue(shown !== null)),
    text("CustomerProvidedKeySha256", ({ blob }) => blob?.encryption?.keySha256.toString("base64")),
    count("TagCount", ({ blob }) => blob?.tags.length || null),
  ),
  ...ifIncluded(
    ["copy"],
    text("CopyId", (row) => copyOf(row)?.id),
    text("CopySource", (row) => copyOf(row)?.source),
    text("CopyStatus", (row) => copyOf(row)?.status),
    text("CopyProgress", (row) => {
      const copy = copyOf(row);
      return copy && `${copy.bytesDone}/${copy.bytesTotal}`;
    }),
    time("CopyCompletionTime", (row) => copyOf(row)?.completedMs),
    text("CopyStatusDescription", (row) => copyOf(row)?.description),
    flag("IncrementalCopy", (row) => ifTrue(copyOf(row)?.isIncremental)),
    text("CopyDestinationSnapshot", (row) => {
      const copy = copyOf(row);
      return copy?.isIncremental === true ? iso(copy.snapshot) : null;
    }),
  ),
  ...ifIncluded(["metadata"], {
    name: "Metadata",
    type: "map",
    of: ({ blob }) => (blob === null || blob.encryption !== null ? null : blob.metadata),
  }),
  ...ifIncluded(["tags"], {
    name: "Tags",
    type: "map",
    of: ({ blob }) => (blob === null || blob.tags.length === 0 ? null : blob.tags),
  }),
];
