import { Fault, refuse } from "../../base/fault.ts";
import type { Need } from "../../rules/access.ts";
import { judgeBlobName } from "../../rules/blob-name.ts";
import type { AccessControl } from "../../rules/posix-acl.ts";
import type { View } from "../../store/store.ts";
import { admitToContainer } from "./admit.ts";
import type { BlobAsked } from "./context.ts";
import { type BlobPlace, componentsOf, findPlace, rootControlOf } from "./find-path.ts";
import { type Blob, type Container, readBlob } from "./records.ts";

/** A path and its access control. */
export interface AdmittedControl {
  readonly container: Container;
  readonly place: BlobPlace;
  /** Null for the root, whose access control is the container's. */
  readonly blob: Blob | null;
  readonly control: AccessControl;
  readonly isDirectory: boolean;
}

/** Reads a path, which must exist, in a container, which must have access control. */
export function admitToControl(view: View, asked: BlobAsked, need: Need): AdmittedControl {
  const container = admitToContainer(view, asked, need, true);
  if (!container.isHierarchical) throw new Fault("HierarchicalNamespaceNotEnabled");
  const isRoot = componentsOf(asked.at.blob).length === 0;
  if (!isRoot) refuse(judgeBlobName(asked.at.blob));
  const place = findPlace(view, container, asked, need);
  if (isRoot) {
    const control = rootControlOf(container);
    return { container, place, blob: null, control, isDirectory: true };
  }
  const blob = readBlob(view, place);
  const path = blob?.path ?? null;
  if (path === null) throw new Fault("BlobNotFound");
  const { control, directoryId } = path;
  return { container, place, blob, control, isDirectory: directoryId !== 0n };
}
