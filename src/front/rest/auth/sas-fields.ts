import type { Instant } from "../../../base/clock.ts";
import { parseIsoTime, rfc1123 } from "../../../base/time-text.ts";
import { authenticationFailed, readable } from "./refusals.ts";

// Pure: the console's page imports it, too.

/** The fields of a SAS: parameters of a request, or what the console's page is about to sign. */
export interface SasFields {
  get(name: string): string | undefined;
  /** The value of a field in which an unencoded plus is a blank. */
  form(name: string): string | undefined;
}

/** The time in which a token is valid. Null where it does not say. */
export interface Validity {
  readonly startMs: Instant | null;
  readonly expiryMs: Instant | null;
}

/** All fields that any kind of SAS may have. */
export const SAS_FIELDS: ReadonlySet<string> = new Set(
  (
    "sv ss srt sp st se sip spr si sr sdd ses sig tn spk srk epk erk rscc rscd rsce rscl rsct " +
    "skoid sktid skt ske sks skv saoid suoid scid skdutid sduoid srh srq"
  ).split(" "),
);

/** Fields in which an unencoded plus is a blank. */
export const MAY_HAVE_BLANKS: ReadonlySet<string> = new Set(["si", "spk", "srk", "epk", "erk"]);

/**
 * Returns a field of the token as it was signed; "" if it is missing. Refuses line ends, with which
 * the value of one field could pass for another.
 */
export function sasField(fields: SasFields, name: string): string {
  const value = MAY_HAVE_BLANKS.has(name) ? fields.form(name) : fields.get(name);
  if (value === undefined) return "";
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code < 0x20 || code === 0x7f) {
      throw authenticationFailed(`${name} contains a control character.`);
    }
  }
  return value;
}

export function requireSasField(fields: SasFields, name: string): string {
  const value = sasField(fields, name);
  if (value === "") throw authenticationFailed(`${name} is mandatory. Cannot be empty`);
  return value;
}

export type SasKind = "accountSas" | "serviceSas" | "userDelegationSas";

export function sasKindOf(fields: Pick<SasFields, "get">): SasKind {
  if (fields.get("skoid") !== undefined) return "userDelegationSas";
  const isForAccount = fields.get("ss") !== undefined || fields.get("srt") !== undefined;
  return isForAccount ? "accountSas" : "serviceSas";
}

export function sasTime(fields: SasFields, name: string): Instant | null {
  const text = sasField(fields, name);
  if (text === "") return null;
  const instant = parseIsoTime(text);
  if (instant === null) {
    throw authenticationFailed(
      `${name} must be a time such as 2030-01-02T00:00:00Z, not ${readable(text)}.`,
    );
  }
  return instant;
}

export function validityOf(fields: SasFields): Validity {
  return { startMs: sasTime(fields, "st"), expiryMs: sasTime(fields, "se") };
}

/** Treats a token without a start as if it started now. */
export function requireWithinValidity({ startMs, expiryMs }: Validity, now: Instant): void {
  const start = startMs ?? now;
  if (start <= now && (expiryMs === null || now < expiryMs)) return;
  const expiry = expiryMs === null ? "" : rfc1123(expiryMs);
  if (expiryMs !== null && expiryMs <= start) {
    throw authenticationFailed(
      `Signed expiry time [${expiry}] must be after signed start time [${rfc1123(start)}]`,
    );
  }
  throw authenticationFailed(
    "Signature not valid in the specified time frame: " +
      `Start [${rfc1123(start)}] - Expiry [${expiry}] - Current [${rfc1123(now)}]`,
  );
}
