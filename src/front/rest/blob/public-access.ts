import type { PublicAccess } from "../../../rules/access.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader } from "../request-headers.ts";

const HEADER = "x-ms-blob-public-access";

/** Without the header nothing is public. */
export function publicAccessOf(headers: RequestHeaders): PublicAccess {
  const value = headers.get(HEADER) ?? "";
  if (value === "") return "none";
  if (value === "container" || value === "blob") return value;
  throw invalidHeader(HEADER, value);
}

export function publicAccessHeaders(level: PublicAccess): string[] {
  return level === "none" ? [] : [HEADER, level];
}
