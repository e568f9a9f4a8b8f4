import { Fault, refuse } from "../../base/fault.ts";
import { judgeByAccess, type PublicAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { judgeNewContainerName } from "../../rules/container-name.ts";
import { DASHED_NAME_RULE } from "../../rules/dashed-name.ts";
import type { BlobContext, ContainerAsked } from "./context.ts";
import { type Metadata, readContainer, writeContainer } from "./records.ts";
import { nextVersion } from "./version.ts";

export interface CreateContainer extends ContainerAsked {
  readonly publicAccess: PublicAccess;
  readonly metadata: Metadata;
}

export async function createContainer(
  context: BlobContext,
  asked: CreateContainer,
): Promise<Versioned> {
  return context.store.transact((tx) => {
    refuse(judgeByAccess(asked.access, BLOB_NEEDS.createContainer, null, tx.now()));
    refuse(judgeNewContainerName(asked.at.container), DASHED_NAME_RULE);
    if (readContainer(tx, asked.at) !== null) throw new Fault("ContainerAlreadyExists");
    const version = nextVersion(tx, null);
    writeContainer(tx, asked.at, {
      id: version.etag,
      ...version,
      lease: null,
      publicAccess: asked.publicAccess,
      policies: [],
      metadata: asked.metadata,
    });
    return version;
  });
}
