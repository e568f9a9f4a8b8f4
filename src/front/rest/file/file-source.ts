import { Fault } from "../../../base/fault.ts";
import { findSource } from "../../../service/file/find-source.ts";
import { conditionsOf, flagOf } from "../request-headers.ts";
import type { SourceProtocol } from "../source/copy-sources.ts";
import { snapshotOf } from "./call.ts";
import { isOnFiles, routeFile } from "./route.ts";

/** Files as copy sources. */
export const FILE_SOURCES: SourceProtocol = {
  route({ method, query, headers }, account, path, asked, role) {
    const { operation, share, path: names } = routeFile(method, path, query, headers);
    if (operation !== "getFile") throw new Fault("InvalidUri");
    const snapshot = snapshotOf(query);
    const at = {
      account,
      share,
      snapshot,
      path: names,
      trailingDots: flagOf(asked.headers, "x-ms-source-allow-trailing-dot"),
    };
    const conditions = conditionsOf(asked.headers, "x-ms-source-");
    return {
      resource: {
        service: "file",
        container: share,
        name: names.join("/"),
        needsIntent: isOnFiles(operation),
      },
      snapshot,
      find: (view, access) => findSource(view, { at, access, conditions, role }),
    };
  },
};
