import type { Query } from "../http/exchange.ts";
import { numberFromQuery, requireFromQuery } from "../request-query.ts";

/** Where in a file data belongs, or how long the file is after a flush. */
export function positionOf(query: Query): number {
  requireFromQuery(query, "position");
  return numberFromQuery(query, "position", 0, Number.MAX_SAFE_INTEGER) ?? 0;
}
