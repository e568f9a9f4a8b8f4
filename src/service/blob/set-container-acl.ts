import { refuse } from "../../base/fault.ts";
import type { PublicAccess, StoredPolicy } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { CONTAINER_LETTERS, judgePolicies } from "../../rules/stored-policies.ts";
import { type VersionPast, versionAsOf } from "../shared/past.ts";
import { admitContainerUpdate } from "./admit.ts";
import type { BlobContext, ContainerUpdate } from "./context.ts";
import { writeContainer } from "./records.ts";
import { nextVersion } from "./version.ts";

export interface SetContainerAcl extends ContainerUpdate {
  readonly publicAccess: PublicAccess;
  readonly policies: readonly StoredPolicy[];
  /** What an import knows of the container. */
  readonly past?: VersionPast | null;
}

/** Takes effect at once, even for running requests: each checks permission when it commits. */
export async function setContainerAcl(
  context: BlobContext,
  asked: SetContainerAcl,
): Promise<Versioned> {
  return context.store.transact((tx) => {
    const old = admitContainerUpdate(tx, asked, BLOB_NEEDS.setContainerAcl);
    refuse(judgePolicies(asked.policies, CONTAINER_LETTERS));
    const version = versionAsOf(tx, asked, nextVersion(tx, old));
    const { publicAccess, policies } = asked;
    writeContainer(tx, asked.at, { ...old, ...version, publicAccess, policies });
    return version;
  });
}
