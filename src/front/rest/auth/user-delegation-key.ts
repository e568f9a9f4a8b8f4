import type { Bytes } from "../../../base/bytes.ts";
import type { Instant } from "../../../base/clock.ts";
import type { FaultCode } from "../../../base/fault.ts";
import { USER_DELEGATION_KEY_MS_MAX } from "../../../base/limits.ts";
import { isoTime } from "../../../base/time-text.ts";
import type { MacKey } from "./signature.ts";

/** The subject of a bearer token. */
export interface Identity {
  readonly objectId: string;
  readonly tenantId: string;
}

/** A key with which a user, not the account's owner, may sign. */
export interface UserDelegationKey extends Identity {
  readonly startMs: Instant;
  readonly expiryMs: Instant;
  /** `b`, `q`, … */
  readonly service: string;
  readonly version: string;
  /** The tenant of the users for whom it signs; "" if none was requested. */
  readonly delegatedTenantId: string;
  readonly value: Bytes;
}

/**
 * Derives a key from its terms and the account's secret. So the server stores no keys: it derives
 * each again from the terms that every token repeats. Times have whole seconds.
 */
export function makeUserDelegationKey(
  secret: MacKey,
  identity: Identity,
  startMs: Instant,
  expiryMs: Instant,
  service: string,
  version: string,
  delegatedTenantId = "",
): UserDelegationKey {
  const { objectId, tenantId } = identity;
  // JSON delimits the terms, whatever they contain.
  const terms = [objectId, tenantId, isoTime(startMs), isoTime(expiryMs), service, version];
  if (delegatedTenantId !== "") terms.push(delegatedTenantId);
  const value = Buffer.from(secret.mac(JSON.stringify(terms)), "base64");
  const key = { objectId, tenantId, startMs, expiryMs, service, version };
  return { ...key, delegatedTenantId, value };
}

/**
 * Judges the lifetime of a new key: it ends after its start and after now, and both are within
 * seven days of now.
 */
export function judgeUserDelegationKey(
  startMs: Instant,
  expiryMs: Instant,
  now: Instant,
): FaultCode | null {
  const ordered = startMs < expiryMs && now < expiryMs;
  const near =
    now - startMs <= USER_DELEGATION_KEY_MS_MAX && expiryMs - now <= USER_DELEGATION_KEY_MS_MAX;
  return ordered && near ? null : "InvalidXmlNodeValue";
}
