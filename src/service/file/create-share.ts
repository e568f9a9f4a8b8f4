import { Fault, refuse } from "../../base/fault.ts";
import { fileTimeOfStamp } from "../../base/file-time.ts";
import type { Stamp } from "../../base/stamp.ts";
import { judgeByAccess } from "../../rules/access.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { DASHED_NAME_RULE, judgeDashedName } from "../../rules/dashed-name.ts";
import { FILE_ATTRIBUTES } from "../../rules/file-attributes.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import type { Transaction } from "../../store/store.ts";
import { type SharePast, versionAsOf } from "../shared/past.ts";
import { treeOf } from "./admit.ts";
import type { FileContext, ShareAsked } from "./context.ts";
import { ROOT_PERMISSION, writePermission } from "./permissions.ts";
import { type Metadata, readShare, type Share, type ShareTier, writeShare } from "./records.ts";
import { ROOT_ID, writeDirectory } from "./tree-records.ts";
import { nextVersion } from "./version.ts";

export interface CreateShare extends ShareAsked {
  readonly metadata: Metadata;
  readonly quotaGib: number;
  readonly tier: ShareTier;
  /** What an import knows of it. */
  readonly past?: SharePast | null;
}

export async function createShare(context: FileContext, asked: CreateShare): Promise<Versioned> {
  return context.store.transact((tx) => {
    refuse(judgeByAccess(asked.access, FILE_NEEDS.createShare, null, tx.now()));
    refuse(judgeDashedName(asked.at.share), DASHED_NAME_RULE);
    if (readShare(tx, asked.at) !== null) throw new Fault("ShareAlreadyExists");
    const { etag: id, modifiedMs } = nextVersion(tx, null);
    const version = versionAsOf(tx, asked, { etag: id, modifiedMs });
    const share: Share = {
      id,
      ...version,
      lease: null,
      policies: [],
      metadata: asked.metadata,
      quotaGib: asked.quotaGib,
      tier: asked.tier,
      tierChangedMs: asked.past?.tierChangedMs ?? null,
      tierBefore: null,
      newestSnapshot: 0n,
    };
    writeShare(tx, asked.at, share);
    writeRoot(tx, share, id);
    return version;
  });
}

function writeRoot(tx: Transaction, share: Share, stamp: Stamp): void {
  const now = fileTimeOfStamp(stamp);
  const tree = treeOf(share);
  writeDirectory(tx, tree, {
    since: stamp,
    id: ROOT_ID,
    parent: ROOT_ID,
    name: "",
    etag: share.etag,
    modifiedMs: share.modifiedMs,
    attributes: FILE_ATTRIBUTES.Directory,
    created: now,
    accessed: now,
    written: now,
    changed: now,
    permissionKey: writePermission(tx, tree, ROOT_PERMISSION),
    metadata: [],
  });
}
