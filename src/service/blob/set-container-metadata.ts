import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { admitContainerUpdate } from "./admit.ts";
import type { BlobContext, ContainerUpdate } from "./context.ts";
import { type Metadata, writeContainer } from "./records.ts";
import { nextVersion } from "./version.ts";

export interface SetContainerMetadata extends ContainerUpdate {
  readonly metadata: Metadata;
}

export async function setContainerMetadata(
  context: BlobContext,
  asked: SetContainerMetadata,
): Promise<Versioned> {
  return context.store.transact((tx) => {
    const old = admitContainerUpdate(tx, asked, BLOB_NEEDS.setContainerMetadata);
    const version = nextVersion(tx, old);
    writeContainer(tx, asked.at, { ...old, ...version, metadata: asked.metadata });
    return version;
  });
}
