import { Fault } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { admitToBlob } from "./admit.ts";
import type { BlobAsked, BlobContext } from "./context.ts";
import { isDirectory } from "./directories.ts";
import { type Expiry, expiryOf, onlyFilesExpire } from "./expiry.ts";
import { reviseBlob } from "./history.ts";
import { nextRevision } from "./version.ts";

export interface SetBlobExpiry extends BlobAsked {
  readonly expiry: Expiry;
}

/** Only files in hierarchical containers can expire. The lease of a file does not matter. */
export async function setBlobExpiry(
  context: BlobContext,
  asked: SetBlobExpiry,
): Promise<Versioned> {
  return context.store.transact((tx) => {
    const { place, blob } = admitToBlob(tx, asked, BLOB_NEEDS.setBlobExpiry);
    if (blob.path === null) throw new Fault("HierarchicalNamespaceNotEnabled");
    if (isDirectory(blob)) throw onlyFilesExpire();
    const written = nextRevision(context, tx, place, blob);
    const expiresMs = expiryOf(tx, asked.expiry, blob.createdMs);
    const encryptionContext = blob.terms?.encryptionContext ?? "";
    const terms = { expiresMs, encryptionContext };
    reviseBlob(context, tx, place, blob, { ...blob, ...written, terms });
    return written;
  });
}
