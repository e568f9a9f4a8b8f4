import { refuse } from "../../base/fault.ts";
import {
  type Conditions,
  judgeSourceByConditions,
  type SourceRole,
} from "../../rules/conditions.ts";
import { judgeByPendingCopy } from "../../rules/copy.ts";
import type { View } from "../../store/store.ts";
import type { OwnObject } from "../shared/source.ts";
import { admitToFile } from "./admit.ts";
import type { PathAsked } from "./context.ts";
import { ALL_BYTES } from "./opens.ts";
import { readPermission } from "./permissions.ts";

export interface FindSource extends PathAsked {
  readonly conditions: Conditions;
  readonly role: SourceRole;
}

/** The file to copy from. Read permission is needed. */
export function findSource(view: View, asked: FindSource): OwnObject {
  const { tree, file } = admitToFile(view, asked, "getFile", ALL_BYTES);
  refuse(judgeSourceByConditions(file, asked.conditions, asked.role));
  // A pending copy has no bytes yet.
  refuse(judgeByPendingCopy(file.copy));
  const { etag, content, properties, metadata, attributes, created, written, changed } = file;
  const sddl = readPermission(view, tree, file.permissionKey) ?? "";
  return {
    type: "File",
    etag,
    content,
    properties,
    metadata,
    sequenceNumber: 0n,
    appendedBlocks: 0,
    isSealed: false,
    tags: [],
    settings: { attributes, created, written, changed, sddl },
  };
}
