import { refuse } from "../../base/fault.ts";
import { judgeByPosition } from "../../rules/append-block.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { admitBlobUpdate } from "./admit.ts";
import { appendable } from "./append-block.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { writeBlob } from "./records.ts";
import { nextBlobVersion } from "./version.ts";

export interface SealBlob extends BlobUse {
  /** The length that the blob must have; null for any. */
  readonly position: number | null;
}

/** Seals a blob against appends. This renews its ETag; sealing it again does not. */
export async function sealBlob(context: BlobContext, asked: SealBlob): Promise<Versioned> {
  return context.store.transact((tx) => {
    const { place, blob } = admitBlobUpdate(tx, asked, BLOB_NEEDS.sealBlob, "AppendBlob");
    refuse(judgeByPosition(appendable(blob), asked.position));
    if (blob.isSealed) return blob;
    const sealed = { ...blob, ...nextBlobVersion(tx, blob), isSealed: true };
    writeBlob(tx, place, sealed);
    return sealed;
  });
}
