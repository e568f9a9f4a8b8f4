import { Fault } from "../../base/fault.ts";
import type { View } from "../../store/store.ts";
import { treeOf } from "./admit.ts";
import type { ShareAddress } from "./context.ts";
import {
  type Handle,
  type HandleId,
  type OpenItem,
  type Opens,
  readHandle,
  readOpens,
} from "./open-records.ts";
import type { Tree } from "./preserved-records.ts";
import { findSnapshot, readShare, type Share } from "./records.ts";
import { findFile } from "./tree-records.ts";

/** Common to every request by handle. Access was checked when the handle was opened. */
export interface HandleAsked {
  readonly at: ShareAddress;
  /** The id of the file or directory that is open. */
  readonly item: bigint;
  readonly handle: HandleId;
  /** The epoch of who asks: another front end may have taken the handle over. Omitted for any. */
  readonly epoch?: bigint;
}

export interface InHandle {
  readonly share: Share;
  readonly tree: Tree;
  readonly item: OpenItem;
  readonly handle: Handle;
  readonly opens: Opens;
}

/** An open item to read: by a handle, or in a snapshot, which never changes. */
export interface InReadHandle {
  readonly share: Share;
  readonly tree: Tree;
  readonly item: OpenItem;
  readonly isDirectory: boolean;
  /** Null in a snapshot. */
  readonly opens: Opens | null;
}

export function admitToReadHandle(view: View, asked: HandleAsked): InReadHandle {
  const { snapshot } = asked.at;
  if (snapshot === null) {
    const { share, tree, item, handle, opens } = admitToHandle(view, asked);
    return { share, tree, item, isDirectory: handle.isDirectory, opens };
  }
  const share = readShare(view, asked.at);
  const named = share === null ? null : findSnapshot(view, share, snapshot);
  if (share === null || named === null) throw new Fault("InvalidHandle");
  const tree = treeOf(share, named.stamp);
  const isDirectory = findFile(view, tree, asked.item) === null;
  return { share, tree, item: { share: share.id, id: asked.item }, isDirectory, opens: null };
}

/** The handle, unless it was closed or its share deleted meanwhile. */
export function admitToHandle(view: View, asked: HandleAsked): InHandle {
  if (asked.at.snapshot !== null) throw new Fault("AuthorizationPermissionMismatch");
  const share = readShare(view, asked.at);
  if (share === null) throw new Fault("InvalidHandle");
  const item = { share: share.id, id: asked.item };
  const handle = readHandle(view, item, asked.handle);
  const opens = readOpens(view, item);
  if (handle === null || opens === null) throw new Fault("InvalidHandle");
  if (handle.epoch !== (asked.epoch ?? handle.epoch)) throw new Fault("InvalidHandle");
  return { share, tree: treeOf(share), item, handle, opens };
}
