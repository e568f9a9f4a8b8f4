import { createHash } from "node:crypto";
import { Fault } from "../../base/fault.ts";
import { format, text } from "../../base/fields.ts";
import { key, SPACE } from "../../base/keys.ts";
import { parseSddl, writeSddl } from "../../base/sddl.ts";
import { inheritedPermission } from "../../rules/inherited-permission.ts";
import type { Transaction, View } from "../../store/store.ts";
import type { Tree } from "./kept-records.ts";
import { type Directory, readDirectory } from "./tree-records.ts";

/** Who may do what, as a share's root has it until somebody says otherwise. */
export const ROOT_PERMISSION =
  "O:SYG:SYD:(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1301bf;;;AU)(A;OICI;FA;;;CO)";

/** What is asked for a file or directory: a permission as text, or by the key of one that is there. */
export type PermissionSetting =
  | { readonly kind: "sddl"; readonly sddl: string }
  | { readonly kind: "key"; readonly key: string }
  | { readonly kind: "inherit" };

const permissionFormat = format(1, { sddl: text });
const KEY_CHARS_MAX = 41;

/** Permissions stay as long as their share: whatever has a key must find it, snapshots too. */
function permissionKey({ share }: Tree, found: string) {
  return key(SPACE.filePermission, share, found);
}

export function readPermission(view: View, tree: Tree, found: string): string | null {
  // Nothing has such a key, and the store need not take it as one.
  if (found.length > KEY_CHARS_MAX) return null;
  const record = view.get(permissionKey(tree, found));
  return record === undefined ? null : permissionFormat.decode(record).sddl;
}

/** Returns its key: the same permission has the same key, everywhere and at all times. */
export function writePermission(tx: Transaction, tree: Tree, sddl: string): string {
  const { key: found, text: canonical } = canonicalPermission(sddl);
  const at = permissionKey(tree, found);
  if (tx.get(at) === undefined) tx.set(at, permissionFormat.encode({ sddl: canonical }));
  return found;
}

/** The key that something has from now on which is created in `parent`, or moved there. */
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
  const spelled = writeSddl(descriptor);
  const digest = createHash("sha256").update(spelled).digest();
  const found = `${digest.readBigUInt64BE(0)}*${digest.readBigUInt64BE(8)}`;
  remember(CANONICAL, sddl, { key: found, text: spelled });
  return { key: found, text: spelled };
}

// A share has few permissions and many files: what is a function of a text is worked out once.
const INHERITED = new Map<string, string>();
const CANONICAL = new Map<string, Canonical>();
const REMEMBERED_MAX = 1_000;
/** Longer ones are seldom met twice, and a thousand of them would be much to keep. */
const REMEMBERED_CHARS_MAX = 2_000;

function remember<T>(known: Map<string, T>, at: string, value: T): void {
  if (at.length > REMEMBERED_CHARS_MAX) return;
  if (known.size >= REMEMBERED_MAX) known.clear();
  known.set(at, value);
}
