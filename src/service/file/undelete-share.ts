import { Fault, refuse } from "../../base/fault.ts";
import type { Stamp } from "../../base/stamp.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { DASHED_NAME_RULE, judgeDashedName } from "../../rules/dashed-name.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { treeOf } from "./admit.ts";
import type { FileContext, ShareAsked } from "./context.ts";
import { movePendingCopies } from "./pending-copies.ts";
import { deletedShareKey, readDeletedShare, readShare, type Share, writeShare } from "./records.ts";
import { forgetDeletion } from "./share-deletions.ts";
import { findFile } from "./tree-records.ts";
import { nextVersion } from "./version.ts";

export interface UndeleteShare extends ShareAsked {
  /** The name it had. It is restored under the name in `at`. */
  readonly deletedName: string;
  readonly deletedVersion: Stamp;
}

export async function undeleteShare(context: FileContext, asked: UndeleteShare): Promise<Share> {
  const { at, deletedName, deletedVersion } = asked;
  return context.store.transact((tx) => {
    refuse(judgeByAccess(asked.access, FILE_NEEDS.undeleteShare, null, tx.now()));
    refuse(judgeDashedName(at.share), DASHED_NAME_RULE);
    const was = { account: at.account, share: deletedName };
    const found = readDeletedShare(tx, was, deletedVersion);
    if (found === null || found.untilMs <= tx.now()) throw new Fault("ShareNotFound");
    if (readShare(tx, at) !== null) throw new Fault("ShareAlreadyExists");
    const share = { ...found.share, ...nextVersion(tx, found.share) };
    tx.delete(deletedShareKey(was, deletedVersion));
    forgetDeletion(tx, was);
    writeShare(tx, at, share);
    movePendingCopies(tx, was, at, (file) => findFile(tx, treeOf(share), file) !== null);
    return share;
  });
}
