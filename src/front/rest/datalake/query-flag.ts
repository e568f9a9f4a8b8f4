import type { Query } from "../http/exchange.ts";
import { invalidQuery } from "../request-query.ts";

/** Reads a flag, which is false if the parameter is not sent. */
export function flagFromQuery(query: Query, name: string): boolean {
  const value = query.get(name);
  if (value === undefined || value === "") return false;
  const lower = value.toLowerCase();
  if (lower !== "true" && lower !== "false") {
    throw invalidQuery(name, value, "It must be true or false.");
  }
  return lower === "true";
}
