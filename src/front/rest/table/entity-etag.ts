import { Fault } from "../../../base/fault.ts";
import { isoOfStamp, type Stamp, stampOfIso } from "../../../base/stamp.ts";
import type { IfMatch } from "../../../rules/entity-etag.ts";
import type { RequestHeaders } from "../http/exchange.ts";

/** `W/"datetime'2013-08-22T01%3A12%3A06.2608595Z'"` */
export function etagOfStamp(stamp: Stamp): string {
  const time = isoOfStamp(stamp);
  return `W/"datetime'${time.slice(0, 13)}%3A${time.slice(14, 16)}%3A${time.slice(17)}'"`;
}

const ETAG = /^W\/"datetime'(\d{4}-\d\d-\d\dT[\d:.]{1,16}Z)'"$/;
/** Well-formed, but not an ETag of this service: it matches nothing. */
const WEAK_ETAG = /^W\/"[^"]*"$/;
/** A stamp that no entity has. */
const NEVER: Stamp = -1n;

/** Null if it is not sent. Queries, inserts and upserts do not have it; updates require it. */
export function ifMatchOf(headers: RequestHeaders): IfMatch | null {
  if (headers.get("if-none-match") !== undefined) {
    throw new Fault("InvalidInput", { Reason: "If-None-Match is not taken: send If-Match." });
  }
  const sent = headers.get("if-match");
  if (sent === undefined) return null;
  if (sent === "*") return "*";
  const time = ETAG.exec(sent.replaceAll(/%3a/gi, ":"))?.[1];
  if (time !== undefined) return stampOfIso(time) ?? NEVER;
  if (WEAK_ETAG.test(sent)) return NEVER;
  throw new Fault("InvalidInput", {
    Reason: `The ETag ${sent.slice(0, 100)} is not one of this service: send * or one that it gave.`,
  });
}
