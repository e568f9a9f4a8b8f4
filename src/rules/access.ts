import type { Instant } from "../base/clock.ts";
import type { FaultCode } from "../base/fault.ts";
import { judgeByRoles, type RoleUse } from "./roles.ts";

/**
 * The caller, according to the credentials alone: the front end has checked signature, dates,
 * address and protocol. What they permit is decided here, in the transaction that also reads the
 * container's policies.
 */
export type Access =
  | { readonly kind: "owner" }
  /** `hides`: for old versions, what the caller may not read does not exist. */
  | { readonly kind: "anonymous"; readonly hides: boolean }
  | { readonly kind: "account-sas"; readonly types: string; readonly letters: string }
  | {
      readonly kind: "service-sas";
      /** Null if the stored policy names them. */
      readonly letters: string | null;
      readonly policy: PolicyUse | null;
      /** The user who signed it, if not the account: it permits no more than the user's roles. */
      readonly signer?: TokenAccess;
    }
  | TokenAccess;

/** A bearer token in an account with roles. Where an account has none, its tokens are owners. */
export interface TokenAccess extends RoleUse {
  readonly kind: "token";
}

/** A SAS that names a stored policy: each of the three stands in the token or in the policy. */
export interface PolicyUse {
  readonly id: string;
  readonly startMs: Instant | null;
  readonly expiryMs: Instant | null;
}

/** A stored access policy of a container, queue, table or share. */
export interface StoredPolicy {
  readonly id: string;
  readonly startMs: Instant | null;
  readonly expiryMs: Instant | null;
  readonly letters: string | null;
}

/** The part of a table that a SAS permits. Null is an open end. */
export interface KeyRange {
  /** In lower case: table names are compared without case. */
  readonly table: string;
  readonly startPartition: string | null;
  readonly startRow: string | null;
  readonly endPartition: string | null;
  readonly endRow: string | null;
}

export type PublicAccess = "none" | "blob" | "container";

/** The parts of the resource's record that decide on access. */
export interface Guard {
  readonly publicAccess: PublicAccess;
  readonly policies: readonly StoredPolicy[];
}

/** What an operation needs. One of several letters suffices, unless `every` is set. */
export interface Need {
  /** The resource type of an account SAS: service, container or object; or either of two. */
  readonly on: "s" | "c" | "o" | "co";
  /** Letters in an account SAS; "" if none permits it. */
  readonly account: string;
  /** Letters in a service SAS; "" if none permits it. */
  readonly service: string;
  readonly every?: boolean;
  /** The lowest level of public access that permits it. */
  readonly anonymous: "never" | "blob" | "container";
  /** Actions of roles; one of them suffices. */
  readonly actions: readonly string[];
}

export const OWNER: Access = { kind: "owner" };

export function judgeByAccess(
  access: Access,
  need: Need,
  guard: Guard | null,
  now: Instant,
): FaultCode | null {
  switch (access.kind) {
    case "owner":
      return null;
    case "anonymous":
      if (opens(guard?.publicAccess ?? "none", need)) return null;
      return access.hides ? "ResourceNotFound" : "NoAuthenticationInformation";
    case "account-sas":
      if (need.account === "") return "AuthorizationFailure";
      if (!hasOneOf(access.types, need.on)) return "AuthorizationResourceTypeMismatch";
      return judgeByLetters(access.letters, need.account, need.every);
    case "service-sas": {
      if (need.service === "") return "AuthorizationFailure";
      const letters = grantedLetters(access, guard, now);
      if (letters === null) return "AuthenticationFailed";
      const verdict = judgeByLetters(letters, need.service, need.every);
      if (verdict !== null || access.signer === undefined) return verdict;
      return judgeByRoles(access.signer, need.actions);
    }
    case "token":
      return judgeByRoles(access, need.actions);
  }
}

/**
 * A SAS that may only create must not replace an existing object. Every role that may create may
 * also replace.
 */
export function judgeOverwrite(
  access: Access,
  guard: Guard | null,
  now: Instant,
): FaultCode | null {
  if (access.kind === "owner" || access.kind === "token") return null;
  if (access.kind === "anonymous") return "NoAuthenticationInformation";
  const letters =
    access.kind === "account-sas" ? access.letters : grantedLetters(access, guard, now);
  return letters?.includes("w") ? null : "UnauthorizedBlobOverwrite";
}

/** Both ends belong to the range. A row bound counts only in its own partition. */
export function judgeByKeyRange(
  range: KeyRange | null,
  table: string,
  partition: string,
  row: string,
): FaultCode | null {
  if (range === null) return null;
  const { startPartition, startRow, endPartition, endRow } = range;
  const inTable = table.toLowerCase() === range.table;
  const afterStart =
    startPartition === null ||
    partition > startPartition ||
    (partition === startPartition && (startRow === null || row >= startRow));
  const beforeEnd =
    endPartition === null ||
    partition < endPartition ||
    (partition === endPartition && (endRow === null || row <= endRow));
  return inTable && afterStart && beforeEnd ? null : "AuthorizationFailure";
}

/**
 * The letters that token and policy grant together now; null if they contradict or are not valid
 * now.
 */
function grantedLetters(
  access: Extract<Access, { kind: "service-sas" }>,
  guard: Guard | null,
  now: Instant,
): string | null {
  const use = access.policy;
  if (use === null) return access.letters;
  const policy = guard?.policies.find((one) => one.id === use.id);
  if (policy === undefined) return null;
  const twice =
    (use.startMs !== null && policy.startMs !== null) ||
    (use.expiryMs !== null && policy.expiryMs !== null) ||
    (access.letters !== null && policy.letters !== null);
  if (twice) return null;
  const startMs = use.startMs ?? policy.startMs;
  const expiryMs = use.expiryMs ?? policy.expiryMs;
  if (expiryMs === null || now >= expiryMs || (startMs !== null && now < startMs)) return null;
  return access.letters ?? policy.letters;
}

function judgeByLetters(letters: string, needed: string, every = false): FaultCode | null {
  const enough = every
    ? [...needed].every((letter) => letters.includes(letter))
    : hasOneOf(letters, needed);
  return enough ? null : "AuthorizationPermissionMismatch";
}

function hasOneOf(letters: string, needed: string): boolean {
  return [...needed].some((letter) => letters.includes(letter));
}

function opens(level: PublicAccess, need: Need): boolean {
  if (need.anonymous === "never" || level === "none") return false;
  return level === "container" || need.anonymous === "blob";
}
