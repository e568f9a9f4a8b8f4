import type { Instant } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";
import type { Need } from "../../rules/access.ts";
import { judgeTargetByConditions } from "../../rules/conditions.ts";
import {
  judgeCopyFromArchive,
  type RehydratePriority,
  type StoredTier,
  stepTier,
  storedTier,
  type Tier,
  tierOnUpload,
} from "../../rules/tier.ts";
import type { Content } from "../../store/content.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { SourceObject } from "../shared/source.ts";
import { admitBlobCreation } from "./admit.ts";
import type { BlobContext, BlobCreation } from "./context.ts";
import type { BlobPlace } from "./find-path.ts";
import { requireFlat } from "./hierarchical-limits.ts";
import { replaceBlob } from "./history.ts";
import { type Blob, type BlobCopy, type Container, type Metadata, NEW_BLOB } from "./records.ts";
import { dropStagedBlocks } from "./staged-blocks.ts";
import { nextRevision } from "./version.ts";

/** A request that makes a whole blob from another object. */
export interface CopyAsked extends BlobCreation {
  readonly copiesTags: boolean;
  /** Null to copy the source's metadata. */
  readonly metadata: Metadata | null;
  /** Whether the copy of an append blob is sealed; null to do as the source. */
  readonly seals: boolean | null;
  /** The rehydration priority for the copy of an archived blob. */
  readonly priority: RehydratePriority | null;
}

export interface Target {
  readonly container: Container;
  readonly place: BlobPlace;
  readonly old: Blob | null;
}

export function admitTarget(view: View, asked: CopyAsked, need: Need): Target {
  return admitBlobCreation(view, asked, need, null, judgeTargetByConditions);
}

/** The fields of a source that a copy can take over. */
export type CopiedObject = Pick<
  SourceObject,
  "type" | "properties" | "metadata" | "tags" | "sequenceNumber" | "appendedBlocks" | "isSealed"
> & { readonly isArchived?: boolean };

/** The type of the copy: a file becomes a block blob. An existing blob must be of that type. */
export function copiedType(old: Blob | null, { type }: Pick<SourceObject, "type">): Blob["type"] {
  const becomes = type === "File" ? "BlockBlob" : type;
  if (old === null || old.type === becomes) return becomes;
  throw new Fault("InvalidBlobType", {
    Reason: `The source makes a ${becomes}, not a ${old.type}.`,
  });
}

/** Writes the copy in the place of the old blob, if there is one. */
export function writeCopy(
  context: BlobContext,
  tx: Transaction,
  asked: CopyAsked,
  { container, place, old }: Target,
  found: CopiedObject,
  content: Content,
  copy: BlobCopy,
): Blob {
  const { properties, metadata, sequenceNumber, appendedBlocks } = found;
  if (found.isArchived === true) requireOnlineTier(asked.tier);
  const type = copiedType(old, found);
  if (type === "PageBlob") requireFlat(container, "page blobs");
  if (asked.seals === true && type !== "AppendBlob") {
    throw new Fault("InvalidSourceBlobType", {
      Reason: `Only append blobs can be sealed: copy this ${found.type} without sealing it.`,
    });
  }
  if (asked.tier !== null && type !== "BlockBlob") {
    throw new Fault("AccessTierNotSupportedForBlobType", { BlobType: type });
  }
  const blob: Blob = {
    ...NEW_BLOB,
    ...nextRevision(context, tx, place, old),
    type,
    content,
    properties,
    metadata: asked.metadata ?? metadata,
    tags: asked.copiesTags ? found.tags : asked.tags,
    tier: tierOf(asked, old, found, tx.now()),
    sequenceNumber,
    appendedBlocks,
    isSealed: asked.seals ?? found.isSealed,
    copy,
  };
  replaceBlob(context, tx, place, old, blob);
  dropStagedBlocks(tx, place);
  return blob;
}

function requireOnlineTier(tier: Tier | null): void {
  const refused = judgeCopyFromArchive(tier);
  if (refused === null) return;
  throw new Fault(refused, { Reason: "Name a tier that is online for the copy." });
}

function tierOf(
  { tier, priority }: CopyAsked,
  old: Blob | null,
  { isArchived }: CopiedObject,
  now: Instant,
): StoredTier | null {
  if (tier === null || isArchived !== true) return tierOnUpload(tier, old?.tier ?? null, now);
  return stepTier(storedTier("Archive", now), { tier, priority }, now).stored;
}

/** The record of a copy that is complete already. */
export function copyMade(tx: Transaction, id: string, source: string, bytes: number): BlobCopy {
  return {
    id,
    source,
    status: "success",
    bytesDone: bytes,
    bytesTotal: bytes,
    completedMs: tx.now(),
    description: "",
    isIncremental: false,
    snapshot: 0n,
    followed: "",
    followedTo: 0n,
  };
}
