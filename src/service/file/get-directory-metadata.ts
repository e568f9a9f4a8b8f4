import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { admitToDirectory } from "./admit.ts";
import type { FileContext, PathAsked } from "./context.ts";
import type { Directory } from "./tree-records.ts";

export async function getDirectoryMetadata(
  context: FileContext,
  asked: PathAsked,
): Promise<Directory> {
  return context.store.read(
    (view) => admitToDirectory(view, asked, FILE_NEEDS.getDirectoryMetadata).directory,
  );
}
