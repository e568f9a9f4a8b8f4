import { FILE_NEEDS } from "../../rules/file-needs.ts";
import type { FileContext, ShareUse } from "./context.ts";
import { lookAtShare } from "./get-share-properties.ts";
import type { Share } from "./records.ts";

export async function getShareAcl(context: FileContext, asked: ShareUse): Promise<Share> {
  return context.store.read((view) => lookAtShare(view, asked, FILE_NEEDS.getShareAcl).share);
}
