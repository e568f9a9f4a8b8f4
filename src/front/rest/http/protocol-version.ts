import { Fault } from "../../../base/fault.ts";
import { invalidHeader } from "../request-headers.ts";
import type { Query, RequestHeaders } from "./exchange.ts";

/** Requests that name no version get this one; later ones are accepted and treated like it. */
export const NEWEST_VERSION = "2026-04-06";

const DATE = /^\d{4}-\d\d-\d\d$/;

/** The version whose rules a request follows. A SAS may name it in the URL. */
export function protocolVersion(headers: RequestHeaders, query: Query): string {
  const signedUrl = query.get("sig") !== undefined;
  const asked = signedUrl ? query.get("api-version") : undefined;
  if (asked !== undefined) {
    if (DATE.test(asked)) return asked;
    throw new Fault("InvalidQueryParameterValue", {
      QueryParameterName: "api-version",
      QueryParameterValue: asked,
      Reason: "A version is a date: YYYY-MM-DD.",
    });
  }
  const version = headers.get("x-ms-version");
  if (version !== undefined) {
    if (DATE.test(version)) return version;
    throw invalidHeader("x-ms-version", version, "A version is a date: YYYY-MM-DD.");
  }
  const sv = signedUrl ? query.get("sv") : undefined;
  return sv !== undefined && DATE.test(sv) ? sv : NEWEST_VERSION;
}
