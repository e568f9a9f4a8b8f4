import { listPersistentHandles } from "../../service/file/list-persistent-handles.ts";
import { FileOpen } from "./file-open.ts";
import type { SmbServer } from "./smb-server.ts";

const NO_TREE = 0;
const OPENED = 1;

/** Restores persistent handles of the process before, so that their clients can reconnect. */
export async function restoreHandles(server: SmbServer): Promise<void> {
  for (const { place, cache, persistent } of await listPersistentHandles(server.options.files)) {
    const { account, share, createGuid, timeoutMs, granted, mode, fileId } = persistent;
    const open = new FileOpen(server, {
      fileId: { persistent: fileId, volatile: fileId },
      treeId: NO_TREE,
      at: { account, share, snapshot: null },
      share: place.share,
      item: place.id,
      handle: place.handle,
      isDirectory: false,
      granted,
      mode,
      session: null,
      cache,
      durability: { timeoutMs, createGuid, account, isPersistent: true },
      names: null,
      action: OPENED,
    });
    server.register(open);
    server.durables.preserve(open);
  }
}
