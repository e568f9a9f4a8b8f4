import { Fault } from "../../../base/fault.ts";
import { parseIsoTime } from "../../../base/time-text.ts";
import { invalidHeader } from "../request-headers.ts";
import type { Query, RequestHeaders } from "./exchange.ts";

/** The version of requests that name none. Later versions are accepted and treated like it. */
export const NEWEST_VERSION = "2026-04-06";

const CHARS = "2026-04-06".length;
/** Versions of this year or later are taken for mistakes. */
const YEAR_TOO_LATE = "2100";
const REASON = "A version is a date before the year 2100: YYYY-MM-DD.";

/** The version of the last request is cached, because most requests name the same. */
let lastVersion = NEWEST_VERSION;

export function isProtocolVersion(text: string): boolean {
  if (text === lastVersion) return true;
  if (text.length !== CHARS || text >= YEAR_TOO_LATE || parseIsoTime(text) === null) return false;
  lastVersion = text;
  return true;
}

/** The version whose rules a request follows. A SAS may name it in the URL. */
export function protocolVersion(headers: RequestHeaders, query: Query): string {
  const signedUrl = query.get("sig") !== undefined;
  const asked = signedUrl ? query.get("api-version") : undefined;
  if (asked !== undefined) {
    if (isProtocolVersion(asked)) return asked;
    throw new Fault("InvalidQueryParameterValue", {
      QueryParameterName: "api-version",
      QueryParameterValue: asked,
      Reason: REASON,
    });
  }
  const version = headers.get("x-ms-version");
  if (version !== undefined) {
    if (isProtocolVersion(version)) return version;
    throw invalidHeader("x-ms-version", version, REASON);
  }
  const sv = signedUrl ? query.get("sv") : undefined;
  return sv !== undefined && isProtocolVersion(sv) ? sv : NEWEST_VERSION;
}
