import type { Bytes } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import { parseSddl, writeSddl } from "../../../base/sddl.ts";
import {
  decodeSecurityDescriptor,
  encodeSecurityDescriptor,
} from "../../../base/security-descriptor.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader } from "../request-headers.ts";

/** The format of a permission: SDDL, or the binary form of Windows in Base64. */
export type PermissionFormat = "sddl" | "binary";

export function permissionFormatOf(headers: RequestHeaders): PermissionFormat {
  const name = "x-ms-file-permission-format";
  const value = headers.get(name) ?? "";
  const format = formatOf(value);
  if (format === null) throw invalidHeader(name, value, "It must be Sddl or Binary.");
  return format;
}

/** Parses a format; null if it is unknown. */
export function formatOf(word: string): PermissionFormat | null {
  const lower = word.toLowerCase();
  if (lower === "" || lower === "sddl") return "sddl";
  return lower === "binary" ? "binary" : null;
}

export function sddlOf(text: string, format: PermissionFormat): string {
  if (format === "sddl") return text;
  const bytes = bytesOf(text);
  const descriptor = bytes === null ? null : decodeSecurityDescriptor(bytes);
  if (descriptor !== null) return writeSddl(descriptor);
  throw new Fault("FileInvalidPermission", {
    Reason: "It is not a self-relative security descriptor in Base64.",
  });
}

export function permissionText(sddl: string, format: PermissionFormat): string {
  if (format === "sddl") return sddl;
  const { descriptor } = parseSddl(sddl);
  const bytes = descriptor === null ? null : encodeSecurityDescriptor(descriptor);
  if (bytes === null) throw new Fault("FileInvalidPermission", { Reason: "Ask for it as SDDL." });
  return bytes.toString("base64");
}

function bytesOf(base64: string): Bytes | null {
  const bytes = Buffer.from(base64, "base64");
  return bytes.toString("base64") === base64 ? bytes : null;
}
