import { fileTimeOfIso, isoOfFileTime } from "../../../base/file-time.ts";
import { KIB } from "../../../base/limits.ts";
import { FILE_ATTRIBUTES } from "../../../rules/file-attributes.ts";
import type { ItemSettings, TimeSetting } from "../../../service/file/item-settings.ts";
import type { PermissionSetting } from "../../../service/file/permissions.ts";
import type { Directory } from "../../../service/file/tree-records.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader, refuseHeaders } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { requireNoNfsHeaders } from "./nfs.ts";
import { permissionFormatOf, sddlOf } from "./permission-format.ts";

/** Headers for what files and directories have over SMB, both ways. */

const ATTRIBUTES = "x-ms-file-attributes";
const PRESERVE = "preserve";
const PERMISSION_HEADER_CHARS_MAX = 8 * KIB;

type AttributeName = keyof typeof FILE_ATTRIBUTES;
const ATTRIBUTE_NAMES = Object.keys(FILE_ATTRIBUTES) as AttributeName[];

/** What a request says of them; `preserve` and silence are the same. */
export function itemSettingsOf(headers: RequestHeaders): ItemSettings {
  return {
    attributes: attributesOf(headers),
    created: timeOf(headers, "x-ms-file-creation-time"),
    written: timeOf(headers, "x-ms-file-last-write-time"),
    changed: timeOf(headers, "x-ms-file-change-time"),
    permission: permissionOf(headers),
  };
}

const PERMISSION = "x-ms-file-permission";
const PERMISSION_KEY = "x-ms-file-permission-key";

/** As text or by its key, but not both. */
function permissionOf(headers: RequestHeaders): PermissionSetting | null {
  const text = headers.get(PERMISSION) ?? "";
  const key = headers.get(PERMISSION_KEY) ?? "";
  if (text !== "" && key !== "") {
    throw invalidHeader(PERMISSION_KEY, key, `Send this or ${PERMISSION}, not both.`);
  }
  const format = permissionFormatOf(headers);
  if (key !== "") return { kind: "key", key };
  const word = text.toLowerCase();
  if (word === "" || word === PRESERVE) return null;
  if (word === "inherit") return { kind: "inherit" };
  if (text.length > PERMISSION_HEADER_CHARS_MAX) {
    const reason = "Store a permission of this size with Create Permission, and send its key.";
    throw invalidHeader(PERMISSION, `${text.slice(0, 100)}…`, reason);
  }
  return { kind: "sddl", sddl: sddlOf(text, format) };
}

function attributesOf(headers: RequestHeaders): number | null {
  const value = headers.get(ATTRIBUTES);
  if (value === undefined || value === "" || value.toLowerCase() === PRESERVE) return null;
  let attributes = 0;
  for (const word of value.split(/[|,]/)) {
    const lower = word.trim().toLowerCase();
    const name = ATTRIBUTE_NAMES.find((one) => one.toLowerCase() === lower);
    if (name === undefined && lower !== "none") {
      throw invalidHeader(ATTRIBUTES, value, `It is None, or of: ${ATTRIBUTE_NAMES.join(" | ")}.`);
    }
    if (name !== undefined) attributes |= FILE_ATTRIBUTES[name];
  }
  return attributes;
}

function timeOf(headers: RequestHeaders, name: string): TimeSetting {
  const value = headers.get(name);
  if (value === undefined || value === "") return null;
  const lower = value.toLowerCase();
  if (lower === PRESERVE) return null;
  if (lower === "now") return "now";
  const time = fileTimeOfIso(value);
  if (time !== null) return time;
  throw invalidHeader(name, value, "It is now, preserve, or like 2026-11-16T00:17:23.1234567Z.");
}

/** `ReadOnly | Archive`; None if there are none. Nearly all files have the same. */
export function attributesText(attributes: number): string {
  if (attributes !== lastAttributes) {
    const names = ATTRIBUTE_NAMES.filter((name) => (attributes & FILE_ATTRIBUTES[name]) !== 0);
    lastText = names.length === 0 ? "None" : names.join(" | ");
    lastAttributes = attributes;
  }
  return lastText;
}

let lastAttributes = 0;
let lastText = "None";

/** The same of what is stored: in answers to whoever creates, changes or looks at it. */
export function itemHeaders(item: Directory): string[] {
  const created = isoOfFileTime(item.created);
  // Mostly it was last written and changed when it was created, or both at once.
  const written = item.written === item.created ? created : isoOfFileTime(item.written);
  const changed = item.changed === item.written ? written : isoOfFileTime(item.changed);
  return [
    "x-ms-file-attributes",
    attributesText(item.attributes),
    "x-ms-file-creation-time",
    created,
    "x-ms-file-last-write-time",
    written,
    "x-ms-file-change-time",
    changed,
    "x-ms-file-permission-key",
    item.permissionKey,
    "x-ms-file-id",
    String(item.id),
    "x-ms-file-parent-id",
    String(item.parent),
  ];
}

/** What every answer says of a file or directory that was created or changed. */
export function changedItemHeaders(item: Directory): string[] {
  return [...versionHeaders(item), ...itemHeaders(item), "x-ms-request-server-encrypted", "true"];
}

const SEMANTICS = "x-ms-file-property-semantics";

/** Whether what is created was there before, with the properties that are sent, and comes back. */
export function isRestored(headers: RequestHeaders): boolean {
  const value = headers.get(SEMANTICS);
  if (value === undefined || value === "") return false;
  const lower = value.toLowerCase();
  if (lower !== "new" && lower !== "restore") {
    throw invalidHeader(SEMANTICS, value, "It must be New or Restore.");
  }
  return lower === "restore";
}

/** Headers for shares over NFS. */
const NFS_HEADERS = ["x-ms-owner", "x-ms-group", "x-ms-mode", "x-ms-file-file-type"];

export function requireSupportedOnItem(headers: RequestHeaders): void {
  requireNoNfsHeaders(headers, NFS_HEADERS);
}

/** For requests to existing items: also refuses headers that only creations take. */
export function requireSupportedOnOldItem(headers: RequestHeaders): void {
  requireSupportedOnItem(headers);
  refuseHeaders(headers, [SEMANTICS]);
}
