import type { Bytes } from "../../../base/bytes.ts";
import type { Instant } from "../../../base/clock.ts";
import type { FaultCode } from "../../../base/fault.ts";
import { USER_DELEGATION_KEY_MS_MAX } from "../../../base/limits.ts";
import { isoTime } from "../../../base/time-text.ts";
import type { MacKey } from "./signature.ts";

/** Who a bearer token speaks for. */
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
  /** The tenant of those for whom it signs; "" unless it was asked for them. */
  readonly delegatedTenantId: string;
  readonly value: Bytes;
}

/**
 * The key is a function of its terms and of the account's secret. So the server keeps none of them,
 * and finds any of them again from the terms that every token repeats. Times count to the second.
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
  // JSON keeps the terms apart, whatever they contain.
  const terms = [objectId, tenantId, isoTime(startMs), isoTime(expiryMs), service, version];
  if (delegatedTenantId !== "") terms.push(delegatedTenantId);
  const value = Buffer.from(secret.mac(JSON.stringify(terms)), "base64");
  const key = { objectId, tenantId, startMs, expiryMs, service, version };
  return { ...key, delegatedTenantId, value };
}

/** A key ends after it starts and is not over yet, and both lie within seven days of now. */
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
