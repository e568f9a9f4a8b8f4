import type { Access, TokenAccess } from "../../../rules/access.ts";
import type { CallerClaims, PrincipalClaim, RoleService } from "../../../rules/roles.ts";
import type { Account } from "./account.ts";
import type { Resource, ServiceName } from "./resource.ts";
import type { Claims } from "./token.ts";
import type { Identity } from "./user-delegation-key.ts";

/** Returns what roles decide about a caller; null in an account without roles. */
export function accessByRoles(
  { roles: assignments }: Account,
  claims: CallerClaims,
  { service, container }: Pick<Resource, "service" | "container">,
): TokenAccess | null {
  if (assignments.length === 0) return null;
  return { kind: "token", claims, assignments, service: roleServiceOf(service), container };
}

/** The access of a bearer token: its roles, or everything in an account without roles. */
export function accessOfToken(account: Account, claims: CallerClaims, resource: Resource): Access {
  return accessByRoles(account, claims, resource) ?? { kind: "owner", claims };
}

/**
 * Returns the access of the same caller to another container of the account: a role may cover only
 * one of them.
 */
export function accessTo(access: Access, service: ServiceName, container: string): Access {
  if (access.kind !== "token") return access;
  return { ...access, service: roleServiceOf(service), container };
}

/** Whether the caller proved itself with a key or a token, not with a SAS. */
export function hasAccountAccess({ kind }: Access): boolean {
  return kind === "owner" || kind === "token";
}

/** The claims of a token that roles can name. Ids of Microsoft's directories have no case. */
export function callerClaims(claims: Claims): CallerClaims {
  const found: Partial<Record<PrincipalClaim, readonly string[]>> = {};
  for (const [claim, names] of CLAIM_NAMES) {
    const values = names.flatMap((name) => textsOf(claims[name]));
    if (values.length > 0) found[claim] = HAS_NO_CASE.has(claim) ? values.map(lower) : values;
  }
  return found;
}

/**
 * What is known of the owner of a user delegation key, whose SAS is used without a token: the two
 * claims that the key was made from. Groups and application roles are not among them.
 */
export function signerClaims({ objectId, tenantId }: Identity): CallerClaims {
  const isIssuer = tenantId.includes(":");
  return isIssuer
    ? { sub: [objectId], iss: [tenantId] }
    : { oid: [lower(objectId)], tid: [lower(tenantId)] };
}

/** Applications are named by `appid` in version 1 of Microsoft's tokens, and by `azp` in others. */
const CLAIM_NAMES: readonly (readonly [PrincipalClaim, readonly string[]])[] = [
  ["oid", ["oid"]],
  ["tid", ["tid"]],
  ["sub", ["sub"]],
  ["iss", ["iss"]],
  ["appid", ["appid", "azp"]],
  ["groups", ["groups"]],
  ["roles", ["roles"]],
];

const HAS_NO_CASE: ReadonlySet<PrincipalClaim> = new Set(["oid", "tid"]);

function lower(text: string): string {
  return text.toLowerCase();
}

function textsOf(value: unknown): string[] {
  const values: unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((one): one is string => typeof one === "string" && one !== "");
}

function roleServiceOf(service: ServiceName): RoleService {
  return service === "dfs" ? "blob" : service;
}
