import { Fault } from "../../../base/fault.ts";
import { findSource } from "../../../service/blob/find-source.ts";
import type { SourceProtocol } from "../source/copy-sources.ts";
import { copiesTagsOf } from "../source/source-tags.ts";
import { blobConditionsOf } from "./blob-conditions.ts";
import { stateOf } from "./blob-state.ts";
import { routeBlob } from "./route.ts";

/** Blobs as what others copy from. */
export const BLOB_SOURCES: SourceProtocol = {
  route({ method, query, headers }, account, path, asked, role) {
    const { operation, container, blob } = routeBlob(method, path, query, headers);
    if (operation !== "getBlob") throw new Fault("InvalidUri");
    const state = stateOf(query);
    const at = { account, container, blob, state };
    const conditions = blobConditionsOf(asked, "x-ms-source-", "x-ms-source-if-tags");
    const withTags = copiesTagsOf(asked);
    return {
      resource: { service: "blob", container, name: blob },
      snapshot: state?.kind === "snapshot" ? state.stamp : null,
      find: (view, access, fromArchive) =>
        findSource(view, { at, access, conditions, role, withTags, fromArchive }),
    };
  },
};
