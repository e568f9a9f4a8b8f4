import { instantOf } from "../../base/stamp.ts";
import { DIRECTORY_METADATA, NO_PROPERTIES } from "./directories.ts";
import { rootControlOf } from "./find-path.ts";
import { type Blob, type Container, NEW_BLOB } from "./records.ts";

/** The root directory of a container, which has no record of its own, as clients see it. */
export function rootDirectory(container: Container): Blob {
  const { id, etag, modifiedMs, isHierarchical } = container;
  return {
    ...NEW_BLOB,
    type: "BlockBlob",
    etag,
    modifiedMs,
    createdMs: instantOf(id),
    content: { id: 0n, kind: "inline", length: 0 },
    properties: NO_PROPERTIES,
    metadata: DIRECTORY_METADATA,
    lease: null,
    versionId: 0n,
    path: isHierarchical ? { directoryId: id, control: rootControlOf(container) } : null,
  };
}
