import { Fault } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { type AcquireLease, stepLease } from "../../rules/lease.ts";
import type { PathKind } from "../../rules/rename.ts";
import { NO_TAGS } from "../../rules/tags.ts";
import type { Transaction } from "../../store/store.ts";
import { admitBlobCreation } from "./admit.ts";
import { type AskedNewControl, isEmptyControl, newControl } from "./asked-access-control.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { makeParents, newPath } from "./directories.ts";
import { encryptedFields } from "./encryption.ts";
import { type Expiry, expiryOf, onlyFilesExpire } from "./expiry.ts";
import type { BlobPlace } from "./find-path.ts";
import { kindAt, withMark } from "./flat-directory.ts";
import { replaceBlob } from "./history.ts";
import type { Blob, BlobPath, BlobProperties, Container, Metadata } from "./records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";
import { type BlobWritten, blockBlob, nextRevision } from "./version.ts";

/** Creates an empty file, or a directory. An existing file is replaced. */
export interface CreatePath extends BlobUse {
  readonly kind: PathKind;
  readonly properties: BlobProperties;
  readonly metadata: Metadata;
  /** The lease that the new path begins with. */
  readonly lease: AcquireLease | null;
  /** Only in hierarchical containers. */
  readonly control?: AskedNewControl;
  /** Only for files in hierarchical containers, like the next one. */
  readonly expiry?: Expiry | null;
  readonly encryptionContext?: string;
}

export async function createPath(context: BlobContext, asked: CreatePath): Promise<BlobWritten> {
  return context.store.transact((tx) => {
    const { at, access, conditions, leaseId, kind } = asked;
    const creation = { at, access, conditions, leaseId, kind, tags: NO_TAGS, tier: null };
    const admitted = admitBlobCreation(tx, creation, BLOB_NEEDS.createPath);
    const { old } = admitted;
    const found = kindAt(tx, admitted.place, old);
    if (found !== null && found !== kind) {
      throw new Fault("PathConflict", { Reason: `There is a ${found} of this name.` });
    }
    const place = makeParents(context, tx, admitted.place);
    const written = withLease(tx, nextRevision(context, tx, place, old), asked.lease);
    const metadata = kind === "directory" ? withMark(asked.metadata) : asked.metadata;
    const { properties } = asked;
    const content = context.contents.maps.create(tx, 0);
    const { contentMd5 } = properties;
    const shown = { properties, tags: NO_TAGS };
    const fields = encryptedFields(metadata, asked);
    // Cheaper than a spread of the many fields of a new object.
    const blob = Object.assign(blockBlob(written, shown, fields, null, content, contentMd5), {
      isDataLake: kind === "file",
      path: pathOf(tx, asked, admitted.container, place, old),
      terms: termsOf(tx, asked),
    });
    replaceBlob(context, tx, place, old, blob);
    dropStagedBlocks(tx, place);
    return written;
  });
}

/**
 * A directory that exists already retains what it holds and its access control. A file is another
 * one, unless nothing is said about its access control.
 */
function pathOf(
  tx: Transaction,
  { kind, access, control, expiry = null }: CreatePath,
  container: Container,
  place: BlobPlace,
  old: Blob | null,
): BlobPath | null {
  if (place.way === null) {
    const isControlled = control !== undefined && !isEmptyControl(control);
    if (isControlled || expiry !== null) throw new Fault("HierarchicalNamespaceNotEnabled");
    return null;
  }
  const path = old?.path ?? newPath(tx, place, kind);
  const isDirectory = kind === "directory";
  if (control === undefined || (isDirectory && old !== null)) return path;
  // A new path has the access control that it gets without being asked.
  if (old === null && isEmptyControl(control)) return path;
  return { ...path, control: newControl(tx, container, access, place.way, control, isDirectory) };
}

/** Null if a client gives the file none. */
function termsOf(
  tx: Transaction,
  { kind, expiry = null, encryptionContext = "" }: CreatePath,
): Blob["terms"] {
  const expiresMs = expiry === null ? null : expiryOf(tx, expiry, tx.now());
  if (kind === "directory" && expiresMs !== null) throw onlyFilesExpire();
  return expiresMs === null && encryptionContext === "" ? null : { expiresMs, encryptionContext };
}

function withLease<T extends Pick<Blob, "lease">>(
  tx: Transaction,
  written: T,
  asked: AcquireLease | null,
): T {
  if (asked === null) return written;
  const outcome = stepLease(written.lease, asked, tx.now());
  if (outcome.refused !== null) throw new Fault(outcome.refused);
  return { ...written, lease: outcome.lease };
}
