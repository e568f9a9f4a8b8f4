import type { Versioned } from "../../rules/conditions.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { admitShareUpdate } from "./admit.ts";
import type { FileContext, ShareUse } from "./context.ts";
import { type Metadata, writeShare } from "./records.ts";
import { nextVersion } from "./version.ts";

export interface SetShareMetadata extends ShareUse {
  readonly metadata: Metadata;
}

export async function setShareMetadata(
  context: FileContext,
  asked: SetShareMetadata,
): Promise<Versioned> {
  return context.store.transact((tx) => {
    const share = admitShareUpdate(tx, asked, FILE_NEEDS.setShareMetadata);
    const version = nextVersion(tx, share);
    writeShare(tx, asked.at, { ...share, ...version, metadata: asked.metadata });
    return version;
  });
}
