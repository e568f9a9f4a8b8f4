import { refuse } from "../../base/fault.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeSourceByConditions, type SourceRole } from "../../rules/conditions.ts";
import { judgeByPendingCopy, judgeOnIncrementalCopy } from "../../rules/copy.ts";
import { judgeByTags } from "../../rules/tag-expression.ts";
import { judgeByTier } from "../../rules/tier.ts";
import type { ContentKey } from "../../store/content.ts";
import type { View } from "../../store/store.ts";
import { admitToRevision } from "./admit.ts";
import type { BlobRead } from "./context.ts";
import { decrypted, requireKey } from "./encryption.ts";
import { requireFile, requireFlat } from "./hierarchical-limits.ts";
import type { Blob } from "./records.ts";

/** The key is that of the source. */
export interface FindSource extends Omit<BlobRead, "leaseId"> {
  readonly role: SourceRole;
  /** Whether the caller needs the source's tags, which takes permission to read them. */
  readonly withTags: boolean;
  /** Whether the source may be archived. */
  readonly fromArchive: boolean;
}

interface FoundSource {
  readonly isArchived: boolean;
  readonly key: ContentKey | null;
}

/** Reads the blob revision to copy from. Permission to read it suffices to copy it. */
export function findSource(view: View, asked: FindSource): Blob & FoundSource {
  const { container, blob, isCurrent } = admitToRevision(view, asked, BLOB_NEEDS.getBlob);
  requireFile(blob);
  const { ifTags } = asked.conditions;
  if (asked.withTags || ifTags !== null) {
    requireFlat(container, "tags");
    refuse(judgeByAccess(asked.access, BLOB_NEEDS.getBlobTags, container, view.now()));
  }
  refuse(judgeSourceByConditions(blob, asked.conditions, asked.role));
  if (ifTags !== null) refuse(judgeByTags(blob.tags, ifTags));
  // The bytes of a pending copy have not arrived yet.
  refuse(judgeByPendingCopy(blob.copy));
  if (isCurrent) refuse(judgeOnIncrementalCopy(blob.copy));
  const refused = judgeByTier(blob.tier, view.now());
  const isArchived = refused === "BlobArchived" && asked.fromArchive;
  if (!isArchived) refuse(refused);
  requireKey(blob, asked);
  return { ...decrypted(blob, asked), isArchived, key: asked.key?.bytes ?? null };
}
