import { isUtf8 } from "node:buffer";
import type { Query } from "../http/exchange.ts";
import { invalidQuery } from "../request-query.ts";

/** Where a long operation goes on with the next request, as clients send it back. */

export function continuationHeaders(text: string | null): string[] {
  if (text === null) return [];
  return ["x-ms-continuation", Buffer.from(text, "utf8").toString("base64")];
}

/** The text of the continuation; null if none is sent. */
export function continuationOf(query: Query): string | null {
  const value = query.get("continuation");
  if (value === undefined || value === "") return null;
  const bytes = Buffer.from(value, "base64");
  if (bytes.toString("base64") === value && isUtf8(bytes)) return bytes.toString("utf8");
  const reason = "Send x-ms-continuation of the answer before, unchanged and percent-encoded.";
  throw invalidQuery("continuation", value, reason);
}
