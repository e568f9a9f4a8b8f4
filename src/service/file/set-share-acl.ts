import { refuse } from "../../base/fault.ts";
import type { StoredPolicy } from "../../rules/access.ts";
import type { Versioned } from "../../rules/conditions.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { judgePolicies, SHARE_LETTERS } from "../../rules/stored-policies.ts";
import { type VersionPast, versionAsOf } from "../shared/past.ts";
import { admitShareUpdate } from "./admit.ts";
import type { FileContext, ShareUse } from "./context.ts";
import { writeShare } from "./records.ts";
import { nextVersion } from "./version.ts";

export interface SetShareAcl extends ShareUse {
  readonly policies: readonly StoredPolicy[];
  /** What an import knows of the share. */
  readonly past?: VersionPast | null;
}

export async function setShareAcl(context: FileContext, asked: SetShareAcl): Promise<Versioned> {
  return context.store.transact((tx) => {
    const share = admitShareUpdate(tx, asked, FILE_NEEDS.setShareAcl);
    refuse(judgePolicies(asked.policies, SHARE_LETTERS));
    const version = versionAsOf(tx, asked, nextVersion(tx, share));
    writeShare(tx, asked.at, { ...share, ...version, policies: asked.policies });
    return version;
  });
}
