import { Fault, refuse } from "../../base/fault.ts";
import type { Stamp } from "../../base/stamp.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { judgeContainerName } from "../../rules/container-name.ts";
import { DASHED_NAME_RULE } from "../../rules/dashed-name.ts";
import type { BlobContext, ContainerAsked } from "./context.ts";
import { deleteDeletedContainer, readDeletedContainer } from "./deleted-containers.ts";
import { readContainer, writeContainer } from "./records.ts";

export interface UndeleteContainer extends ContainerAsked {
  /** Which of the deleted containers of this name. */
  readonly version: Stamp;
}

/** Restores a deleted container with its blobs, unless its name is in use again. */
export async function undeleteContainer(
  context: BlobContext,
  asked: UndeleteContainer,
): Promise<void> {
  const { at, version } = asked;
  await context.store.transact((tx) => {
    refuse(judgeByAccess(asked.access, BLOB_NEEDS.undeleteContainer, null, tx.now()));
    refuse(judgeContainerName(at.container), DASHED_NAME_RULE);
    const deleted = readDeletedContainer(tx, at, version);
    if (deleted === null) throw new Fault("ContainerNotFound");
    if (readContainer(tx, at) !== null) throw new Fault("ContainerAlreadyExists");
    deleteDeletedContainer(tx, at, version, deleted);
    writeContainer(tx, at, deleted.container);
  });
}
