import { copyFile } from "../../../service/file/copy-file.ts";
import type { CopySettings } from "../../../service/file/copy-settings.ts";
import type { RequestHeaders, RestResponse } from "../http/exchange.ts";
import { flagOf, invalidHeader } from "../request-headers.ts";
import { versionHeaders } from "../response-headers.ts";
import { copiedMetadataOf } from "../source/source-headers.ts";
import { requireNoBody } from "../stored-body.ts";
import { type FileCall, type FileFront, fileAskedOf, requireNoSnapshot } from "./call.ts";
import { itemSettingsOf, requireSupportedOnExistingItem } from "./item-headers.ts";
import { requireNoNfsHeaders } from "./nfs.ts";

const NFS_HEADERS = ["x-ms-file-mode-copy-mode", "x-ms-file-owner-copy-mode"];

export async function handleCopyFile(context: FileFront, call: FileCall): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoSnapshot(call);
  requireNoBody(call.request);
  requireSupportedOnExistingItem(headers);
  requireNoNfsHeaders(headers, NFS_HEADERS);
  const done = await copyFile(context, {
    ...fileAskedOf(call),
    source: await context.sources.of(call, "file", "copied"),
    metadata: copiedMetadataOf(headers),
    settings: copySettingsOf(headers),
    ignoresReadOnly: flagOf(headers, "x-ms-file-copy-ignore-readonly"),
  });
  const copy = ["x-ms-copy-id", done.copyId, "x-ms-copy-status", done.status];
  return { status: 202, headers: [...versionHeaders(done), ...copy], body: null };
}

const SOURCE = "source";
const FROM_SOURCE = {
  attributes: "x-ms-file-attributes",
  created: "x-ms-file-creation-time",
  written: "x-ms-file-last-write-time",
  changed: "x-ms-file-change-time",
} as const;

/** Reads the settings of the copy: as for a new file, or `source` to take over the source's. */
function copySettingsOf(headers: RequestHeaders): CopySettings {
  const isSource = (name: string) => headers.get(name)?.toLowerCase() === SOURCE;
  const others: RequestHeaders = {
    raw: headers.raw,
    get: (name) => (isSource(name) ? undefined : headers.get(name)),
  };
  const { permission, ...settings } = itemSettingsOf(others);
  const fromSource = (name: keyof typeof FROM_SOURCE) => isSource(FROM_SOURCE[name]);
  return {
    attributes: fromSource("attributes") ? SOURCE : settings.attributes,
    created: fromSource("created") ? SOURCE : settings.created,
    written: fromSource("written") ? SOURCE : settings.written,
    changed: fromSource("changed") ? SOURCE : settings.changed,
    permission: permissionFromSource(headers, permission !== null) ? SOURCE : permission,
    setsArchive: flagOf(headers, "x-ms-file-copy-set-archive"),
  };
}

/**
 * Whether the copy takes over the source's permission. If so, the request must name no other; if
 * not, it must name one.
 */
function permissionFromSource(headers: RequestHeaders, isNamed: boolean): boolean {
  const name = "x-ms-file-permission-copy-mode";
  const value = headers.get(name);
  if (value === undefined || value === "") return false;
  const mode = value.toLowerCase();
  if (mode !== SOURCE && mode !== "override") {
    throw invalidHeader(name, value, "It must be source or override.");
  }
  if (mode === SOURCE && isNamed) {
    throw invalidHeader(name, value, "With source, no other permission can be named.");
  }
  if (mode !== SOURCE && !isNamed) {
    const reason = "With override, name x-ms-file-permission or x-ms-file-permission-key.";
    throw invalidHeader(name, value, reason);
  }
  return mode === SOURCE;
}
