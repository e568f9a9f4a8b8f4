import assert from "node:assert/strict";
import { ROLES, type Role, type RoleAssignment, type RoleName } from "../../src/rules/roles.ts";
import { bearer, TAKES_TOKENS, TENANT } from "./bearer.ts";
import { CERTIFICATE } from "./certificate.ts";
import type { TestServerOptions } from "./server.ts";

/** The container, queue, table or share that some users have their role for. */
export const OWN = "own";

/** One user for each role in the whole account, and one for each role in `OWN` alone. */
export const HAS_ROLES: TestServerOptions = {
  ...TAKES_TOKENS,
  roles: ROLES.flatMap((role) => [assigned(role, null), assigned(role, OWN)]),
};

/** No retries, so that a test sees the first response, and trust in the tests' certificate. */
export const OPTIONS = {
  retryOptions: { maxTries: 1, maxRetries: 0 },
  tlsOptions: { ca: CERTIFICATE },
};

export function roleOf(name: RoleName): Role {
  return ROLES.find((role) => role.name === name) as Role;
}

/** A credential like the identity library's, of the user with this role; of a stranger for null. */
export function userWith(role: RoleName | null, container: string | null = null) {
  return credential({ oid: role === null ? STRANGER : idOf(role, container) });
}

export function credential(claims: object) {
  const token = bearer(claims).authorization.slice("Bearer ".length);
  const expiresOnTimestamp = Date.now() + 3_600_000;
  return { getToken: async () => ({ token, expiresOnTimestamp }) };
}

export const PERMITTED = "permitted";
export const MISMATCH = "403 AuthorizationPermissionMismatch";

/** Returns whether a client may do something; a refusal is its status and code. */
export async function attempt(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return PERMITTED;
  } catch (error) {
    const { statusCode, code, details } = error as {
      statusCode?: number;
      code?: string;
      details?: { errorCode?: string; odataError?: { code?: string } };
    };
    if (statusCode === undefined) throw error;
    return `${statusCode} ${details?.errorCode ?? details?.odataError?.code ?? code}`;
  }
}

/** Asserts which of some operations each role permits. `operations` maps their names to tries. */
export async function assertPermitted<Client>(
  permitted: Readonly<Partial<Record<RoleName | "none", string>>>,
  operations: Readonly<Record<string, (client: Client) => Promise<unknown>>>,
  clientOf: (role: RoleName | null) => Client,
): Promise<void> {
  for (const [name, list] of Object.entries(permitted)) {
    const role = name === "none" ? null : (name as RoleName);
    const may = list.split(" ").filter((one) => one !== "");
    for (const one of may) assert.ok(one in operations, `${one} is not tried`);
    for (const [operation, work] of Object.entries(operations)) {
      const told = await attempt(() => work(clientOf(role)));
      assert.equal(told, may.includes(operation) ? PERMITTED : MISMATCH, `${name} ${operation}`);
    }
  }
}

const STRANGER = "00000000-0000-4000-8000-ffffffffffff";

function idOf(role: RoleName, container: string | null): string {
  const index = ROLES.findIndex(({ name }) => name === role);
  return `00000000-0000-4000-${container === null ? "8000" : "9000"}-${String(index).padStart(12, "0")}`;
}

function assigned(role: Role, container: string | null): RoleAssignment {
  return { principal: { oid: idOf(role.name, container), tid: TENANT }, role, container };
}
