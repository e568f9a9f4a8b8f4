import type { Bytes } from "../../base/bytes.ts";
import { KeyReader, SPACE } from "../../base/keys.ts";
import { HANDLE_CACHING, READ_CACHING, WRITE_CACHING } from "../../rules/caching.ts";
import { DELETE, READ, WRITE } from "../../rules/share-mode.ts";
import type { Need } from "../../store/acceleration.ts";
import { unlessDamaged, type View } from "../../store/store.ts";
import { heldLease } from "../shared/held-lease.ts";
import type { Held, HeldUse } from "../shared/holder.ts";
import type { Found, HeldRecords } from "../shared/holder-scan.ts";
import { cacheOfEntry } from "./cache-records.ts";
import { ItemPaths } from "./item-paths.ts";
import {
  decodeHandle,
  handlesOf,
  isOpenDirectory,
  lockOfEntry,
  type OpenItem,
  placeOfHandleKey,
} from "./open-records.ts";
import { decodePendingCopy } from "./pending-copies.ts";
import type { Tree } from "./preserved-records.ts";
import { decodeShare, readShare } from "./records.ts";
import { decodeFile, itemNeeds, readFile } from "./tree-records.ts";

/** Records for which each further reads are needed. */
const FEW = 100;

const SHARES: HeldRecords = {
  space: SPACE.share,
  find(_, { key, value }, now) {
    const { id, lease } = decodeShare(value);
    const parts = new KeyReader(key);
    const named: Found = { id, account: parts.text(), name: parts.text() };
    const held = heldLease("share", lease, now);
    return held === null ? [named] : [named, { held, below: id, path: "" }];
  },
};

/** Leases of shares, opens of SMB with their locks and caches, and copies: few records. */
export const HELD_OPENS: readonly HeldRecords[] = [
  SHARES,
  {
    space: SPACE.handle,
    recordsPerStep: FEW,
    needs: ({ key, value }) => needsOf(placeOfHandleKey(key), decodeHandle(value).isDirectory),
    find(view, { key, value }) {
      const place = placeOfHandleKey(key);
      const handle = decodeHandle(value);
      return foundAt(view, place, handle.isDirectory, {
        kind: "handle",
        id: String(place.handle),
        sessionId: String(handle.sessionId),
        clientIp: handle.clientIp,
        access: usesIn(handle.access),
        shareMode: usesIn(handle.share),
        isDirectory: handle.isDirectory,
        deletesOnClose: handle.deletesOnClose,
        openedMs: handle.openedMs,
      });
    },
  },
  {
    space: SPACE.rangeLock,
    recordsPerStep: FEW,
    needs: (entry) => needsOf(lockOfEntry(entry).item, false),
    find(view, entry) {
      const { item, lock } = lockOfEntry(entry);
      return foundAt(view, item, false, {
        kind: "lock",
        handle: String(lock.owner),
        offset: String(lock.offset),
        length: String(lock.length),
        isExclusive: lock.isExclusive,
      });
    },
  },
  {
    space: SPACE.cache,
    recordsPerStep: FEW,
    needs: (entry) => needsOfOpen(cacheOfEntry(entry).item),
    find(view, entry) {
      const { item, cache } = cacheOfEntry(entry);
      const { kind: form, state, breaking } = cache.caching;
      return foundAt(view, item, isOpenDirectory(view, item) ?? false, {
        kind: "cache",
        form,
        rights: rightsIn(state),
        isBreaking: breaking !== null,
        handles: cache.handles,
      });
    },
  },
  {
    space: SPACE.deletePending,
    recordsPerStep: FEW,
    needs: ({ key }) => needsOfOpen(pendingItem(key)),
    find(view, { key }) {
      const item = pendingItem(key);
      const isDirectory = isOpenDirectory(view, item) ?? false;
      return foundAt(view, item, isDirectory, { kind: "deletePending", isDirectory });
    },
  },
  {
    space: SPACE.pendingFileCopy,
    recordsPerStep: 5,
    find(view, { value }) {
      const { account, share: name, file } = decodePendingCopy(value);
      const share = readShare(view, { account, share: name });
      if (share === null) return [];
      const copy = unlessDamaged(() => readFile(view, treeOf(share.id), file).copy);
      if (copy === null || copy.status !== "pending") return [];
      const { id, source, bytesDone, bytesTotal } = copy;
      const held = { kind: "copy" as const, object: "file" as const, id, source };
      return foundAt(view, { share: share.id, id: file }, false, {
        ...held,
        bytesDone,
        bytesTotal,
      });
    },
  },
];

/** Leases of files: as many records as there are files. */
export const HELD_FILES: readonly HeldRecords[] = [
  { ...SHARES, find: (...found) => SHARES.find(...found).slice(0, 1) },
  {
    space: SPACE.file,
    find(view, { key, value }, now) {
      const { id, lease } = decodeFile(value);
      const held = heldLease("file", lease, now);
      if (held === null) return [];
      return foundAt(view, { share: new KeyReader(key).u64(), id }, false, held);
    },
  },
];

/** The paths of directories above are read when they are needed: most files share a few. */
function needsOf({ share, id }: OpenItem, isDirectory: boolean): Need[] {
  return itemNeeds(treeOf(share), { id, isDirectory, since: 0n });
}

/** It is known only from its handles whether it is a directory. */
function needsOfOpen(item: OpenItem): Need[] {
  return [handlesOf(item), ...needsOf(item, false), ...needsOf(item, true)];
}

function pendingItem(found: Bytes): OpenItem {
  const parts = new KeyReader(found);
  const share = parts.u64();
  parts.u64();
  return { share, id: parts.u64() };
}

function treeOf(share: bigint): Tree {
  return { share, newestSnapshot: 0n, snapshot: null };
}

/** What is held of a file or directory, by its path; nothing if the path is damaged. */
function foundAt(view: View, { share, id }: OpenItem, isDirectory: boolean, held: Held): Found[] {
  const paths = new ItemPaths(view, treeOf(share));
  const path = unlessDamaged(() => paths.of(id, isDirectory).path);
  return path === null ? [] : [{ held, below: share, path }];
}

function usesIn(bits: number): HeldUse[] {
  const uses: [number, HeldUse][] = [
    [READ, "read"],
    [WRITE, "write"],
    [DELETE, "delete"],
  ];
  return uses.filter(([bit]) => (bits & bit) !== 0).map(([, use]) => use);
}

/** In the order in which SMB's documents write them. */
function rightsIn(state: number): string {
  const rights: [number, string][] = [
    [READ_CACHING, "R"],
    [WRITE_CACHING, "W"],
    [HANDLE_CACHING, "H"],
  ];
  return rights
    .filter(([bit]) => (state & bit) !== 0)
    .map(([, letter]) => letter)
    .join("");
}
