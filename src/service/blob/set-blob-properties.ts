import { Fault } from "../../base/fault.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { type SequenceAction, stepSequenceNumber } from "../../rules/sequence-number.ts";
import { admitBlobUpdate } from "./admit.ts";
import type { BlobContext, BlobUse } from "./context.ts";
import { requireKey } from "./encryption.ts";
import { type Blob, type BlobProperties, writeBlob } from "./records.ts";
import { nextBlobVersion } from "./version.ts";

export interface SetBlobProperties extends BlobUse {
  /** Replaces all properties; empty ones are cleared. Null to leave them unchanged. */
  readonly properties: BlobProperties | null;
  /** The new size of a page blob. */
  readonly length: number | null;
  /** How to change the sequence number of a page blob. */
  readonly sequence: SequenceAction | null;
}

export interface SetBlobPropertiesDone extends Versioned {
  /** Null unless it is a page blob. */
  readonly sequenceNumber: bigint | null;
}

export async function setBlobProperties(
  context: BlobContext,
  asked: SetBlobProperties,
): Promise<SetBlobPropertiesDone> {
  const { length, sequence } = asked;
  const type = length === null && sequence === null ? null : "PageBlob";
  return context.store.transact((tx) => {
    const { place, blob } = admitBlobUpdate(tx, asked, BLOB_NEEDS.setBlobProperties, type);
    // As in the service, neither properties nor a new size take the key.
    if (asked.key != null) requireKey(blob, asked);
    const sequenceNumber = nextSequenceNumber(blob, sequence);
    const version = nextBlobVersion(tx, blob);
    const { maps } = context.contents;
    writeBlob(tx, place, {
      ...blob,
      ...version,
      properties: asked.properties ?? blob.properties,
      content: length === null ? blob.content : maps.resize(tx, blob.content, length),
      sequenceNumber,
      copy: null,
    });
    return { ...version, sequenceNumber: blob.type === "PageBlob" ? sequenceNumber : null };
  });
}

function nextSequenceNumber(blob: Blob, asked: SequenceAction | null): bigint {
  if (asked === null) return blob.sequenceNumber;
  const outcome = stepSequenceNumber(blob.sequenceNumber, asked);
  if (outcome.refused !== null) throw new Fault(outcome.refused);
  return outcome.number;
}
