import type { Instant } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";
import type { Stamp } from "../../base/stamp.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Retained } from "../../rules/retention.ts";
import type { Transaction } from "../../store/store.ts";
import type { StoredCopy } from "../shared/copy-field.ts";
import { knownStamp } from "../shared/past.ts";
import { admitBlobRemoval } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import type { BlobPlace } from "./find-path.ts";
import { placeBlob } from "./history.ts";
import type { Blob } from "./records.ts";
import { findDeleted, readRevision } from "./revision-records.ts";
import type { BlobWritten } from "./version.ts";

/** What an export knows of a blob's past, and what clients cannot set. Null keeps what is there. */
export interface Past {
  readonly kind: "current" | "snapshot" | "version";
  /** The id of the snapshot or version. A current blob may be a version, too. */
  readonly id: Stamp | null;
  readonly etag: Stamp | null;
  readonly createdMs: Instant | null;
  readonly modifiedMs: Instant | null;
  /** Null if it is not deleted. */
  readonly retained: Retained | null;
  /** Of a file in a directory. */
  readonly encryptionContext?: string | null;
  /** Whether Data Lake wrote its bytes, so that it may add to them. */
  readonly isDataLake?: boolean;
  /** When its tier was set. */
  readonly tierChangedMs?: Instant | null;
  /** The copy that made it. */
  readonly copy?: StoredCopy | null;
}

export interface PlaceRevision extends BlobUse {
  readonly past: Past;
}

/** Gives a blob that an import has just put its past: it may become a revision of another time. */
export async function placeRevision(
  context: BlobContext,
  asked: PlaceRevision,
): Promise<BlobWritten> {
  return context.store.transact((tx) => {
    const { place, blob } = admitBlobRemoval(tx, asked, BLOB_NEEDS.placeRevision);
    return givePast(context, tx, place, blob, asked.past);
  });
}

/** Whether it has nothing but ids and times of the current blob. */
export function isCurrent(past: Past | null): past is Past {
  if (past === null || past.kind !== "current" || past.retained !== null) return false;
  const { encryptionContext = null, isDataLake = false, copy = null, tierChangedMs = null } = past;
  return encryptionContext === null && !isDataLake && copy === null && tierChangedMs === null;
}

type PastFields = Pick<Blob, "etag" | "createdMs" | "modifiedMs" | "versionId">;

/** The fields of a current blob with this past. */
export function currentPast(tx: Transaction, blob: PastFields, past: Past): PastFields {
  const id = knownStamp(tx, past.id);
  return {
    etag: knownStamp(tx, past.etag) ?? blob.etag,
    createdMs: past.createdMs ?? blob.createdMs,
    modifiedMs: past.modifiedMs ?? blob.modifiedMs,
    versionId: versionIdOf(past.kind, blob, id ?? tx.stamp(), id),
  };
}

/** Within the transaction that has written the current blob, or a later one. */
export function givePast(
  context: BlobContext,
  tx: Transaction,
  place: BlobPlace,
  blob: Blob,
  past: Past,
): BlobWritten {
  const { kind, retained } = past;
  const next = { ...blob, ...currentPast(tx, blob, past), ...otherFields(blob, past) };
  const stamp = kind === "version" ? next.versionId : (knownStamp(tx, past.id) ?? tx.stamp());
  const revision = kind === "current" ? null : { kind, stamp };
  if (revision !== null) requireFree(tx, place, revision);
  placeBlob(context, tx, place, blob, next, { revision, retained });
  return next;
}

const NOT_FOLLOWED = { followed: "", followedTo: 0n };

/** The fields that no write of bytes sets. */
function otherFields(
  { isDataLake, terms, copy, tier }: Blob,
  {
    encryptionContext = null,
    isDataLake: was = false,
    copy: last = null,
    tierChangedMs = null,
  }: Past,
): Pick<Blob, "isDataLake" | "terms" | "copy" | "tier"> {
  return {
    isDataLake: isDataLake || was,
    tier: tier === null || tierChangedMs === null ? tier : { ...tier, changedMs: tierChangedMs },
    copy: last === null ? copy : { ...last, isIncremental: false, snapshot: 0n, ...NOT_FOLLOWED },
    terms:
      encryptionContext === null
        ? terms
        : { expiresMs: terms?.expiresMs ?? null, encryptionContext },
  };
}

/** Snapshots have none. */
function versionIdOf(kind: Past["kind"], blob: PastFields, stamp: Stamp, id: Stamp | null): Stamp {
  if (kind === "version") return stamp;
  return kind === "snapshot" ? 0n : (id ?? blob.versionId);
}

/** An import that is repeated must not lose the bytes of the revision that it finds. */
function requireFree(
  tx: Transaction,
  place: BlobPlace,
  revision: { readonly kind: "snapshot" | "version"; readonly stamp: Stamp },
): void {
  const isTaken =
    readRevision(tx, place, revision) !== null || findDeleted(tx, place, revision) !== null;
  if (isTaken) throw new Fault("BlobAlreadyExists");
}
