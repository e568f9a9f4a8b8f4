import { Fault } from "../../../base/fault.ts";
import { fileTimeOfIso, isoOfFileTime } from "../../../base/file-time.ts";
import { FILE_ATTRIBUTES } from "../../../rules/file-attributes.ts";
import type { ItemSettings, TimeSetting } from "../../../service/file/item-settings.ts";
import type { Directory } from "../../../service/file/tree-records.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader } from "../request-headers.ts";

/** Headers for what files and directories have over SMB, both ways. */

const ATTRIBUTES = "x-ms-file-attributes";
const PRESERVE = "preserve";

type AttributeName = keyof typeof FILE_ATTRIBUTES;
const ATTRIBUTE_NAMES = Object.keys(FILE_ATTRIBUTES) as AttributeName[];

/** What a request says of them; `preserve` and silence are the same. */
export function itemSettingsOf(headers: RequestHeaders): ItemSettings {
  return {
    attributes: attributesOf(headers),
    created: timeOf(headers, "x-ms-file-creation-time"),
    written: timeOf(headers, "x-ms-file-last-write-time"),
    changed: timeOf(headers, "x-ms-file-change-time"),
  };
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

/** `ReadOnly | Archive`; None if there are none. */
export function attributesText(attributes: number): string {
  const names = ATTRIBUTE_NAMES.filter((name) => (attributes & FILE_ATTRIBUTES[name]) !== 0);
  return names.length === 0 ? "None" : names.join(" | ");
}

/** The same of what is stored: in answers to whoever creates, changes or looks at it. */
export function itemHeaders(item: Directory): string[] {
  return [
    "x-ms-file-attributes",
    attributesText(item.attributes),
    "x-ms-file-creation-time",
    isoOfFileTime(item.created),
    "x-ms-file-last-write-time",
    isoOfFileTime(item.written),
    "x-ms-file-change-time",
    isoOfFileTime(item.changed),
    "x-ms-file-permission-key",
    item.permissionKey,
    "x-ms-file-id",
    String(item.id),
    "x-ms-file-parent-id",
    String(item.parent),
  ];
}

/** What belongs to shares over NFS. */
const NFS_HEADERS = ["x-ms-owner", "x-ms-group", "x-ms-mode", "x-ms-file-file-type"];

export function refuseNfsHeaders(headers: RequestHeaders): void {
  for (const name of NFS_HEADERS) {
    if (headers.get(name) === undefined) continue;
    throw new Fault("UnsupportedHeader", {
      HeaderName: name,
      Reason: "It is for shares over NFS, and all shares here are for SMB: send it without.",
    });
  }
}
