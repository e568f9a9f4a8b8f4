import type { Runs } from "../../service/file/clear-handles.ts";
import {
  listPersistentHandles,
  type PersistentHandle,
} from "../../service/file/list-persistent-handles.ts";
import { takeOverHandle } from "../../service/file/take-over-handle.ts";
import type { FileHost } from "./file-host.ts";
import { FileOpen } from "./file-open.ts";

const NO_TREE = 0;
const OPENED = 1;

/** Restores persistent handles of the process before, so that their clients can reconnect. */
export async function restoreHandles(host: FileHost): Promise<void> {
  for (const handle of await listPersistentHandles(host.files)) {
    preserve(host, handle);
  }
}

/**
 * Takes over the persistent handles of front ends that do not run any more: somebody must end them
 * if their clients do not come back.
 */
export async function adoptHandles(host: FileHost, runs: Runs): Promise<void> {
  const { files, epoch } = host;
  for (const handle of await listPersistentHandles(files)) {
    const taken = await takeOverHandle(files, handle, epoch(), runs);
    if (taken !== null) preserve(host, taken);
  }
}

/** Lets a client reconnect to a handle until its timeout. */
export function preserve(host: FileHost, handle: PersistentHandle): FileOpen {
  const { place, cache, persistent, epoch } = handle;
  const { account, share, createGuid, timeoutMs, granted, mode, fileId } = persistent;
  const open = new FileOpen(host, {
    fileId: { persistent: fileId, volatile: fileId },
    treeId: NO_TREE,
    at: { account, share, snapshot: null },
    share: place.share,
    item: place.id,
    handle: place.handle,
    epoch,
    isDirectory: false,
    granted,
    mode,
    session: null,
    cache,
    durability: { timeoutMs, createGuid, account, isPersistent: true },
    names: null,
    action: OPENED,
  });
  host.register(open);
  host.durables.preserve(open);
  return open;
}
