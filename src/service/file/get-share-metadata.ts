import { FILE_NEEDS } from "../../rules/file-needs.ts";
import type { FileContext, ShareUse } from "./context.ts";
import { lookAtShare, type ShareFound } from "./get-share-properties.ts";

export async function getShareMetadata(context: FileContext, asked: ShareUse): Promise<ShareFound> {
  return context.store.read((view) => lookAtShare(view, asked, FILE_NEEDS.getShareMetadata));
}
