import { Fault } from "../../../base/fault.ts";
import { findSource } from "../../../service/blob/find-source.ts";
import type { SourceProtocol } from "../source/copy-sources.ts";
import { copiesTagsOf } from "../source/source-tags.ts";
import { blobConditionsOf } from "./blob-conditions.ts";
import { revisionOf } from "./blob-revision.ts";
import { routeBlob } from "./route.ts";

/** Resolves blobs as the sources of copies. */
export const BLOB_SOURCES: SourceProtocol = {
  route({ method, query, headers }, account, path, asked, role) {
    const { operation, container, blob } = routeBlob(method, path, query, headers);
    if (operation !== "getBlob") throw new Fault("InvalidUri");
    const revision = revisionOf(query);
    const at = { account, container, blob, revision };
    const conditions = blobConditionsOf(asked.headers, "x-ms-source-", "x-ms-source-if-tags");
    const withTags = copiesTagsOf(asked.headers);
    const { key } = asked;
    return {
      resource: { service: "blob", container, name: blob },
      snapshot: revision?.kind === "snapshot" ? revision.stamp : null,
      find: (view, access, fromArchive) =>
        findSource(view, { at, access, conditions, role, withTags, fromArchive, key }),
    };
  },
};
