import { createHash } from "node:crypto";
import { Fault } from "../../base/fault.ts";
import { format, text } from "../../base/fields.ts";
import { key, SPACE } from "../../base/keys.ts";
import { parseSddl, writeSddl } from "../../base/sddl.ts";
import { inheritedPermission } from "../../rules/inherited-permission.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { Tree } from "./preserved-records.ts";
import { type Directory, readDirectory } from "./tree-records.ts";

/** The security descriptor of a share's root until a client sets another. */
export const ROOT_PERMISSION =
  "O:SYG:SYD:(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1301bf;;;AU)(A;OICI;FA;;;CO)";

/** A permission for a file or directory, as text or by the key of a stored one. */
export type PermissionSetting =
  | { readonly kind: "sddl"; readonly sddl: string }
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "inherit" };

const permissionFormat = format(1, { sddl: text });
const KEY_CHARS_MAX = 41;

/** Permissions live as long as their share: every stored key must resolve, in snapshots too. */
function permissionKey({ share }: Tree, found: string) {
  return key(SPACE.filePermission, share, found);
}

export function readPermission(view: View, tree: Tree, found: string): string | null {
  // No permission has a key this long, so the store is not asked.
  if (found.length > KEY_CHARS_MAX) return null;
  const record = view.get(permissionKey(tree, found));
  return record === undefined ? null : permissionFormat.decode(record).sddl;
}

/** Returns the permission's key: equal permissions always have equal keys. */
export function writePermission(tx: Transaction, tree: Tree, sddl: string): string {
  const { key: found, text: canonical } = canonicalPermission(sddl);
  const at = permissionKey(tree, found);
  if (tx.get(at) === undefined) tx.set(at, permissionFormat.encode({ sddl: canonical }));
  return found;
}

/** The permission key of an item that is created in `parent`, or moved there. */
export function resolvePermission(
  tx: Transaction,
  tree: Tree,
  setting: PermissionSetting,
  parent: bigint,
  isDirectory: boolean,
): string {
  switch (setting.kind) {
    case "sddl":
      return writePermission(tx, tree, setting.sddl);
    case "key":
      if (readPermission(tx, tree, setting.key) !== null) return setting.key;
      throw new Fault("FileInvalidPermissionKey", {
        HeaderName: "x-ms-file-permission-key",
        HeaderValue: setting.key,
      });
    case "inherit":
      return inherit(tx, tree, readDirectory(tx, tree, parent), isDirectory);
  }
}

function inherit(tx: Transaction, tree: Tree, parent: Directory, isDirectory: boolean): string {
  const at = `${parent.permissionKey} ${isDirectory}`;
  let sddl = INHERITED.get(at);
  if (sddl === undefined) {
    const { descriptor } = parseSddl(readPermission(tx, tree, parent.permissionKey) ?? "");
    if (descriptor === null) throw new Error(`permission ${parent.permissionKey} is missing`);
    sddl = writeSddl(inheritedPermission(descriptor, isDirectory));
    remember(INHERITED, at, sddl);
  }
  return writePermission(tx, tree, sddl);
}

interface Canonical {
  readonly key: string;
  readonly text: string;
}

function canonicalPermission(sddl: string): Canonical {
  const known = CANONICAL.get(sddl);
  if (known !== undefined) return known;
  const { descriptor, reason } = parseSddl(sddl);
  if (descriptor === null) throw new Fault("FileInvalidPermission", { Reason: reason });
  const text = writeSddl(descriptor);
  const digest = createHash("sha256").update(text).digest();
  const found = `${digest.readBigUInt64BE(0)}*${digest.readBigUInt64BE(8)}`;
  remember(CANONICAL, sddl, { key: found, text });
  return { key: found, text };
}

// A share has few permissions and many files, so results that depend on the text alone are cached.
const INHERITED = new Map<string, string>();
const CANONICAL = new Map<string, Canonical>();
const REMEMBERED_MAX = 1_000;
/** Longer ones seldom repeat, and a thousand of them would take much memory. */
const REMEMBERED_CHARS_MAX = 2_000;

function remember<T>(known: Map<string, T>, at: string, value: T): void {
  if (at.length > REMEMBERED_CHARS_MAX) return;
  if (known.size >= REMEMBERED_MAX) known.clear();
  known.set(at, value);
}
