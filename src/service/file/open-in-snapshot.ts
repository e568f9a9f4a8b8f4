import { Fault } from "../../base/fault.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { DELETE, WRITE } from "../../rules/share-mode.ts";
import type { View } from "../../store/store.ts";
import { admitToName, admitToTree } from "./admit.ts";
import type { Opened, OpenFile } from "./open-file.ts";
import { type DirectoryEntry, ROOT_ID, readDirectory, readFile } from "./tree-records.ts";

const ROOT: Pick<DirectoryEntry, "id" | "isDirectory"> = { id: ROOT_ID, isDirectory: true };

/** Opens an item of a snapshot for reading. It conflicts with nothing, so no handle is recorded. */
export function openInSnapshot(view: View, asked: OpenFile): Opened {
  const { mode, disposition, kind, deletesOnClose } = asked;
  const isRead = (mode.access & (WRITE | DELETE)) === 0 && !deletesOnClose;
  if (!isRead || (disposition !== "open" && disposition !== "openIf")) {
    throw new Fault("AuthorizationPermissionMismatch");
  }
  const { tree, entry } =
    asked.at.path.length === 0
      ? { tree: admitToTree(view, asked, FILE_NEEDS.getFile).tree, entry: ROOT }
      : admitToName(view, asked, FILE_NEEDS.getFile);
  if (entry === null) throw new Fault("ResourceNotFound");
  const { id, isDirectory } = entry;
  if (kind !== null && isDirectory !== (kind === "directory")) {
    throw new Fault("ResourceTypeMismatch");
  }
  const action = "opened";
  const item = isDirectory ? readDirectory(view, tree, id) : readFile(view, tree, id);
  return { tree, action, isDirectory, item, opens: null };
}
