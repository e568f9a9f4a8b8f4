import type { Runs } from "./clear-handles.ts";
import type { FileContext } from "./context.ts";
import { listPersistentHandles, type PersistentHandle } from "./list-persistent-handles.ts";
import { readHandle, writeHandle } from "./open-records.ts";

/**
 * Makes a persistent handle one of this front end's. What another front end still does with it is
 * refused from then on. Null if it was closed meanwhile, or if its front end runs.
 */
export async function takeOverHandle(
  { store }: FileContext,
  { place }: PersistentHandle,
  epoch: bigint,
  runs: Runs = () => false,
): Promise<PersistentHandle | null> {
  return store.transact((tx) => {
    const handle = readHandle(tx, place, place.handle);
    if (handle === null || handle.persistent === null) return null;
    if (runs(tx, handle.epoch)) return null;
    const { cache, persistent } = handle;
    writeHandle(tx, place, place.handle, { ...handle, epoch });
    return { place, cache, persistent, epoch };
  });
}

/** Finds a persistent handle by what SMB calls it, and by the secret of its client. */
export async function findPersistentHandle(
  context: FileContext,
  fileId: number,
  createGuid: Buffer,
): Promise<PersistentHandle | null> {
  const all = await listPersistentHandles(context);
  const isWanted = ({ persistent }: PersistentHandle) =>
    persistent.fileId === fileId && persistent.createGuid.equals(createGuid);
  return all.find(isWanted) ?? null;
}
