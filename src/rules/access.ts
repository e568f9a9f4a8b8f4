import type { Instant } from "../base/clock.ts";
import type { FaultCode } from "../base/fault.ts";
import { type AclNeed, type Caller, SUPER_USER } from "./posix-acl.ts";
import { principalId } from "./posix-acl-text.ts";
import { type CallerClaims, judgeByRoles, type RoleUse } from "./roles.ts";

/**
 * The caller, according to the credentials alone: the front end has checked signature, dates,
 * address and protocol. What they permit is decided here, in the transaction that also reads the
 * container's policies.
 */
export type Access =
  /** The account's key, or a token in an account without roles, whose claims are known. */
  | { readonly kind: "owner"; readonly claims?: CallerClaims }
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
      /** Whether it is for one blob (`sr=b`), and so for nothing that lies below a directory. */
      readonly isForOne?: boolean;
      /** The user that a user delegation SAS names, whom ACLs decide on. */
      readonly user?: SasUser;
    }
  | TokenAccess;

/** A bearer token in an account with roles. Where an account has none, its tokens are owners. */
export interface TokenAccess extends RoleUse {
  readonly kind: "token";
}

/** The user that a user delegation SAS names (`saoid` or `suoid`), or else its signer. */
export interface SasUser {
  readonly claims: CallerClaims;
  /**
   * - signer: the user who signed it
   * - authorized (`saoid`): whom the signer lets do what the SAS permits; only sticky bits count
   * - checked (`suoid`): whom ACLs must grant what the SAS permits
   */
  readonly kind: "signer" | "authorized" | "checked";
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
  /** What ACLs must grant where neither a role nor a SAS permits it; without it, none can. */
  readonly acl?: AclNeed;
}

export const OWNER: Access = { kind: "owner" };

/** `hasAcls`: whether it is a hierarchical container, whose ACLs decide on `callerByAcls`. */
export function judgeByAccess(
  access: Access,
  need: Need,
  guard: Guard | null,
  now: Instant,
  hasAcls = false,
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
      return verdict ?? judgeByUser(access, need, hasAcls);
    }
    case "token":
      return hasAcls && need.acl !== undefined ? null : judgeByRoles(access, need.actions);
  }
}

type ServiceSas = Extract<Access, { kind: "service-sas" }>;

/** Judges the users behind a SAS: its signer by roles, and the one it names, if ACLs decide. */
function judgeByUser({ signer, user }: ServiceSas, need: Need, hasAcls: boolean): FaultCode | null {
  const byAcl = hasAcls && need.acl !== undefined;
  const isChecked = user?.kind === "checked";
  if (isChecked && !byAcl) return "AuthorizationPermissionMismatch";
  return signer === undefined || (byAcl && !isChecked) ? null : judgeByRoles(signer, need.actions);
}

/**
 * Returns the caller that the ACLs of a hierarchical container decide on; null if roles or a SAS
 * alone permit what is needed. ACLs only add to roles, so those come first.
 */
export function callerByAcls(access: Access, need: Need): Caller | null {
  if (need.acl === undefined) return null;
  if (access.kind !== "service-sas") return callerBeyondRoles(access, need);
  const { signer, user } = access;
  if (user?.kind === "checked") return callerOfClaims(user.claims);
  const caller = signer === undefined ? null : callerBeyondRoles(signer, need);
  if (caller !== null || user?.kind !== "authorized" || actsAsOwner(access)) return caller;
  return { ...callerOfClaims(user.claims), isAuthorized: true };
}

/** The letter `o` permits to delete and rename in sticky directories as their owner does. */
function actsAsOwner({ letters }: ServiceSas): boolean {
  return letters?.includes("o") === true;
}

function callerBeyondRoles(access: Access, need: Need): Caller | null {
  if (access.kind !== "token" || judgeByRoles(access, need.actions) === null) return null;
  return callerOfClaims(access.claims);
}

/** Returns who owns what a request creates; null for callers without an identity. */
export function callerOf(access: Access): Caller | null {
  switch (access.kind) {
    case "owner":
      return access.claims === undefined ? null : callerOfClaims(access.claims);
    case "service-sas":
      return access.user === undefined ? null : callerOfClaims(access.user.claims);
    case "token":
      return callerOfClaims(access.claims);
    default:
      return null;
  }
}

/**
 * The caller as ACLs name it: by its object id, or by its subject with other issuers. No claim
 * makes anybody the super-user.
 */
function callerOfClaims({ oid, sub, groups = [] }: CallerClaims): Caller {
  const id = oid?.[0] ?? sub?.[0] ?? "";
  return {
    id: id === SUPER_USER ? "" : principalId(id),
    groups: groups.filter((group) => group !== SUPER_USER).map(principalId),
  };
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

/** Judges an operation that reaches everything in a directory. */
export function judgeReachBelow(access: Access): FaultCode | null {
  const isForOne = access.kind === "service-sas" && access.isForOne === true;
  return isForOne ? "AuthorizationPermissionMismatch" : null;
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
function grantedLetters(access: ServiceSas, guard: Guard | null, now: Instant): string | null {
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
