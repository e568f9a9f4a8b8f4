import { fileTimeOfIso, isoOfFileTime } from "../../../base/file-time.ts";
import { KIB } from "../../../base/limits.ts";
import { FILE_ATTRIBUTES } from "../../../rules/file-attributes.ts";
import type { ItemSettings, TimeSetting } from "../../../service/file/item-settings.ts";
import type { PermissionSetting } from "../../../service/file/permissions.ts";
import type { Directory } from "../../../service/file/tree-records.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader, requireNoHeaders } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { requireNoNfsHeaders } from "./nfs.ts";
import { permissionFormatOf, sddlOf } from "./permission-format.ts";

/** Parses and formats headers for the SMB properties of files and directories. */

const ATTRIBUTES = "x-ms-file-attributes";
const PRESERVE = "preserve";
const PERMISSION_HEADER_CHARS_MAX = 8 * KIB;

type AttributeName = keyof typeof FILE_ATTRIBUTES;
const ATTRIBUTE_NAMES = Object.keys(FILE_ATTRIBUTES) as AttributeName[];

/** Reads the settings in a request; `preserve` and a missing header mean the same. */
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

/** Reads the permission, as text or by key, but not both. */
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

/**
 * Formats attributes as `ReadOnly | Archive`, or None. Caches the last, as nearly all files have
 * the same.
 */
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

/** Formats the stored settings, for responses to requests that create, change or read an item. */
export function itemHeaders(item: Directory): string[] {
  const created = isoOfFileTime(item.created);
  // Usually the times are equal, so each is formatted once.
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

/** Formats the headers of every response that created or changed a file or directory. */
export function changedItemHeaders(item: Directory): string[] {
  return [...versionHeaders(item), ...itemHeaders(item), "x-ms-request-server-encrypted", "true"];
}

const SEMANTICS = "x-ms-file-property-semantics";

/** Whether the request restores a file that existed before, with the properties it sends. */
export function isRestored(headers: RequestHeaders): boolean {
  const value = headers.get(SEMANTICS);
  if (value === undefined || value === "") return false;
  const lower = value.toLowerCase();
  if (lower !== "new" && lower !== "restore") {
    throw invalidHeader(SEMANTICS, value, "It must be New or Restore.");
  }
  return lower === "restore";
}

/** Headers for NFS shares. */
const NFS_HEADERS = ["x-ms-owner", "x-ms-group", "x-ms-mode", "x-ms-file-file-type"];

export function requireSupportedOnItem(headers: RequestHeaders): void {
  requireNoNfsHeaders(headers, NFS_HEADERS);
}

/** Refuses headers that are for the creation of items only. */
export function requireSupportedOnExistingItem(headers: RequestHeaders): void {
  requireSupportedOnItem(headers);
  requireNoHeaders(headers, [SEMANTICS]);
}
