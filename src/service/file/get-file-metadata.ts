import { admitFileRead } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import type { File } from "./tree-records.ts";

export async function getFileMetadata(context: FileContext, asked: FileAsked): Promise<File> {
  return context.store.read((view) => admitFileRead(view, asked, "getFileMetadata").file);
}
