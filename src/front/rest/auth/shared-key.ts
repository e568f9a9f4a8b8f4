import type { Instant } from "../../../base/clock.ts";
import { DATE_SKEW_MS_MAX } from "../../../base/limits.ts";
import { parseHttpDate, rfc1123 } from "../../../base/time-text.ts";
import type { RestRequest } from "../http/exchange.ts";
import type { KnownAddress } from "./address.ts";
import { authenticationFailed, printable, readable, SignatureMismatch } from "./refusals.ts";
import type { ServiceName } from "./resource.ts";
import { dateOf, type SignedRequest, sharedKeyText, unusualTexts } from "./shared-key-text.ts";
import { isSigned, type MacKey } from "./signature.ts";

/** `Authorization: SharedKey account:signature`, or `SharedKeyLite account:signature`. */
export interface SharedKey {
  readonly lite: boolean;
  readonly accountName: string;
  readonly signature: string;
}

/** The value of `Authorization` with which a client of ours sends this request. */
export function sharedKeyHeader(
  request: SignedRequest,
  service: ServiceName,
  { accountName, key }: { readonly accountName: string; readonly key: MacKey },
): string {
  const address = { accountName, isSecondary: false, hostStyle: false };
  return `SharedKey ${accountName}:${key.mac(sharedKeyText(request, address, service, false))}`;
}

/** Throws unless the request was signed recently with a key of the account it addresses. */
export function verifySharedKey(
  request: RestRequest,
  address: KnownAddress,
  service: ServiceName,
  given: SharedKey,
): void {
  requireRecentDate(dateOf(request.headers), request.receivedMs);
  requireSameAccount(given, address, service);
  const { keys } = address.account;
  const usual = sharedKeyText(request, address, service, given.lite);
  if (isSigned(given.signature, usual, keys)) return;
  const tried = [usual];
  for (const text of unusualTexts(request, address, service, given.lite)) {
    if (tried.includes(text)) continue;
    if (isSigned(given.signature, text, keys)) return;
    tried.push(text);
  }
  throw new SignatureMismatch(
    `The MAC signature found in the HTTP request ${readable(given.signature)} is not the same as ` +
      `any computed signature. Server used following string to sign: '${printable(usual)}'.`,
    "If the client signed the same string, check its account name and its key.",
    usual,
  );
}

/** The key that verifies a request must belong to the account that it acts on. */
function requireSameAccount(given: SharedKey, address: KnownAddress, service: ServiceName): void {
  if (given.accountName === address.accountName) return;
  throw authenticationFailed(
    `The request is signed for the account ${readable(given.accountName)}, but its URL names ` +
      `${readable(address.accountName)}: the path begins with the account unless the host does, ` +
      `as in http://${given.accountName}.${service}.localhost.`,
  );
}

let lastDate: { readonly text: string; readonly instant: Instant | null } | null = null;

/** Caches the last date, as requests in the same second send the same text. */
function dateIn(text: string): Instant | null {
  if (lastDate?.text !== text) lastDate = { text, instant: parseHttpDate(text) };
  return lastDate.instant;
}

function requireRecentDate(text: string | undefined, now: Instant): void {
  if (text === undefined) {
    throw authenticationFailed("The request has no date. Send it in x-ms-date or in Date.");
  }
  const sent = dateIn(text);
  if (sent === null) {
    throw authenticationFailed(
      `The request's date, ${readable(text)}, is not an RFC 1123 date such as '${rfc1123(now)}'.`,
    );
  }
  if (Math.abs(sent - now) <= DATE_SKEW_MS_MAX) return;
  throw authenticationFailed(
    `Request date header too ${sent < now ? "old" : "far ahead"}: ${readable(text)}`,
    `It is '${rfc1123(now)}' here, and the two may be 15 minutes apart: set the client's clock.`,
  );
}
