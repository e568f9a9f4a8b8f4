import { parseSddl, writeSddl } from "../../base/sddl.ts";
import { CONTROL, type SecurityDescriptor } from "../../base/security-descriptor.ts";
import { admitToHandle, type HandleAsked } from "./admit-handle.ts";
import type { FileContext } from "./context.ts";
import { readItem } from "./end-handle.ts";
import { readPermission, writePermission } from "./permissions.ts";
import { type File, writeDirectory, writeFile } from "./tree-records.ts";
import { nextDirectoryVersion, nextFileVersion } from "./version.ts";

export interface SetOpenPermission extends HandleAsked {
  readonly parts: DescriptorParts;
  readonly descriptor: SecurityDescriptor;
}

/** The parts of a security descriptor to replace. */
export interface DescriptorParts {
  readonly owner: boolean;
  readonly group: boolean;
  readonly dacl: boolean;
  readonly sacl: boolean;
}

const DACL_CONTROL =
  CONTROL.daclAutoInheritRequested | CONTROL.daclAutoInherited | CONTROL.daclProtected;

/** Replaces the named parts of an open item's security descriptor. */
export async function setOpenPermission(
  context: FileContext,
  asked: SetOpenPermission,
): Promise<void> {
  await context.store.transact((tx) => {
    const { tree, item: place, handle } = admitToHandle(tx, asked);
    const item = readItem(tx, tree, place, handle);
    const old = parseSddl(readPermission(tx, tree, item.permissionKey) ?? "").descriptor;
    if (old === null) throw new Error(`permission ${item.permissionKey} is missing`);
    const sddl = writeSddl(merged(old, asked));
    const permissionKey = writePermission(tx, tree, sddl);
    if (handle.isDirectory) {
      const version = nextDirectoryVersion(tx, tree, item);
      writeDirectory(tx, tree, { ...item, ...version, permissionKey });
    } else {
      const file = item as File;
      const version = nextFileVersion(tx, tree, context.contents, file);
      writeFile(tx, tree, { ...file, ...version, permissionKey });
    }
  });
}

function merged(
  old: SecurityDescriptor,
  { parts, descriptor }: SetOpenPermission,
): SecurityDescriptor {
  const daclControl = (parts.dacl ? descriptor : old).control & DACL_CONTROL;
  const saclControl = (parts.sacl ? descriptor : old).control & ~DACL_CONTROL;
  return {
    owner: parts.owner ? descriptor.owner : old.owner,
    group: parts.group ? descriptor.group : old.group,
    control: daclControl | saclControl,
    dacl: parts.dacl ? descriptor.dacl : old.dacl,
    sacl: parts.sacl ? descriptor.sacl : old.sacl,
  };
}
