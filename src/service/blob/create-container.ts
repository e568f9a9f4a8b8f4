import { Fault, refuse } from "../../base/fault.ts";
import { callerOf, judgeByAccess, type PublicAccess } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { judgeNewContainerName } from "../../rules/container-name.ts";
import { DASHED_NAME_RULE } from "../../rules/dashed-name.ts";
import { rootAccessControl } from "../../rules/posix-acl.ts";
import { type VersionPast, versionAsOf } from "../shared/past.ts";
import { type BlobContext, type ContainerAsked, settingsOf } from "./context.ts";
import { type Container, type Metadata, readContainer, writeContainer } from "./records.ts";
import { nextVersion } from "./version.ts";

export interface CreateContainer extends ContainerAsked {
  readonly publicAccess: PublicAccess;
  readonly metadata: Metadata;
  /** What an import knows of it. */
  readonly past?: VersionPast | null;
  /** Whether the request came through the Data Lake endpoint. */
  readonly isDataLake?: boolean;
}

export type CreateContainerDone = Versioned & Pick<Container, "isHierarchical">;

export async function createContainer(
  context: BlobContext,
  asked: CreateContainer,
): Promise<CreateContainerDone> {
  return context.store.transact((tx) => {
    refuse(judgeByAccess(asked.access, BLOB_NEEDS.createContainer, null, tx.now()));
    refuse(judgeNewContainerName(asked.at.container), DASHED_NAME_RULE);
    if (readContainer(tx, asked.at) !== null) throw new Fault("ContainerAlreadyExists");
    const { etag: id, modifiedMs } = nextVersion(tx, null);
    const version = versionAsOf(tx, asked, { etag: id, modifiedMs });
    const isHierarchical = becomesHierarchical(context, asked);
    writeContainer(tx, asked.at, {
      id,
      ...version,
      lease: null,
      publicAccess: asked.publicAccess,
      policies: [],
      metadata: asked.metadata,
      isHierarchical,
      control: isHierarchical ? rootAccessControl(callerOf(asked.access)?.id ?? null) : null,
    });
    return { ...version, isHierarchical };
  });
}

/** If the configuration does not say, Data Lake clients get directories and others do not. */
function becomesHierarchical(context: BlobContext, { at, isDataLake }: CreateContainer): boolean {
  return settingsOf(context, at.account).hierarchicalNamespace ?? isDataLake ?? false;
}
