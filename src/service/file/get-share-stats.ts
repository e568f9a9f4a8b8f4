import { FILE_NEEDS } from "../../rules/file-needs.ts";
import type { FileContext, ShareUse } from "./context.ts";
import { lookAtShare } from "./get-share-properties.ts";
import type { Share } from "./records.ts";
import { usageOf } from "./share-usage.ts";

export interface ShareStats {
  readonly share: Share;
  readonly usedBytes: number;
}

export async function getShareStats(context: FileContext, asked: ShareUse): Promise<ShareStats> {
  return context.store.read((view) => {
    const { share } = lookAtShare(view, asked, FILE_NEEDS.getShareStats);
    return { share, usedBytes: usageOf(view, share) };
  });
}
