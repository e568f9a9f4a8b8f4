import type { FaultCode } from "../base/fault.ts";
import type { AccountSettings } from "../front/rest/auth/account.ts";
import { judgeContainerName } from "../rules/container-name.ts";
import { DASHED_NAME_RULE, judgeDashedName } from "../rules/dashed-name.ts";
import {
  fitsContainer,
  PRINCIPAL_CLAIMS,
  type Principal,
  type PrincipalClaim,
  ROLES,
  type Role,
  type RoleAssignment,
  type RoleService,
} from "../rules/roles.ts";
import { judgeTableName, TABLE_NAME_RULE } from "../rules/table-name.ts";
import type { Fields } from "./config-fields.ts";

interface Given {
  readonly assignment: RoleAssignment;
  /** Null for all accounts. */
  readonly account: string | null;
  /** Where it stands in the file. */
  readonly fields: Fields;
}

/** The roles of a configuration file. The accounts may be configured elsewhere. */
export class ConfiguredRoles {
  readonly #given: readonly Given[];

  /** Throws a `UsageError` that names the line of a mistake. */
  constructor(given: readonly Fields[]) {
    this.#given = given.map(readGiven);
  }

  /** Gives accounts their roles. Throws a `UsageError` if a role names none of them. */
  of(accounts: readonly AccountSettings[]): AccountSettings[] {
    const names = accounts.map(({ name }) => name);
    for (const { account, fields } of this.#given) {
      if (account === null || names.includes(account)) continue;
      const known = names.join(", ");
      throw fields.wrong(["scope"], `names the account "${account}". There is: ${known}.`);
    }
    return accounts.map((one) => ({ ...one, roles: this.#rolesOf(one.name) }));
  }

  #rolesOf(name: string): RoleAssignment[] {
    const own = this.#given.filter(({ account }) => account === null || account === name);
    return own.map(({ assignment }) => assignment);
  }
}

function readGiven(fields: Fields): Given {
  const principal = readPrincipal(fields.object("principal"));
  const role = readRole(fields);
  const { account, container } = readScope(fields, role);
  fields.requireNoOthers();
  return { assignment: { principal, role, container }, account, fields };
}

/** Claims of Microsoft's directories only, which are always GUIDs. */
const GUID_CLAIMS: readonly PrincipalClaim[] = ["oid", "tid"];
const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: refuses control characters on purpose
const VALUE = /^(?! )[^\u0000-\u001f\u007f]*(?<! )$/;

function readPrincipal(fields: Fields): Principal {
  const principal: Partial<Record<PrincipalClaim, string>> = {};
  for (const claim of PRINCIPAL_CLAIMS) {
    if (fields.mayHave(claim)) principal[claim] = readClaim(fields, claim);
  }
  fields.requireNoOthers();
  if (Object.keys(principal).length > 0) return principal;
  throw fields.wrong([], `must name at least one claim: ${PRINCIPAL_CLAIMS.join(", ")}.`);
}

function readClaim(fields: Fields, claim: PrincipalClaim): string {
  const value = fields.text(claim);
  if (!GUID_CLAIMS.includes(claim)) {
    if (VALUE.test(value)) return value;
    throw fields.wrong([claim], "has blanks around it, or control characters. Take them out.");
  }
  const id = value.toLowerCase();
  if (GUID.test(id)) return id;
  throw fields.wrong(
    [claim],
    'must be a GUID such as "00000000-0000-0000-0000-000000000000". Other issuers than ' +
      'Microsoft\'s name users by "sub".',
  );
}

function readRole(fields: Fields): Role {
  const text = fields.text("role");
  const role = ROLES.find(({ name, title }) => text === name || text === title);
  if (role !== undefined) return role;
  const known = ROLES.map(({ name }) => name).join(", ");
  throw fields.wrong(["role"], `is not a role. There is: ${known}.`);
}

type Scope = Pick<Given, "account"> & Pick<RoleAssignment, "container">;

/** Reads `account` or `account/container`. Without a scope, a role covers all accounts. */
function readScope(fields: Fields, role: Role): Scope {
  if (!fields.mayHave("scope")) return { account: null, container: null };
  const [account = "", container, ...others] = fields.text("scope").split("/");
  if (account === "" || container === "" || others.length > 0) {
    throw fields.wrong(["scope"], 'must be "account" or "account/container".');
  }
  if (container === undefined) return { account, container: null };
  if (!fitsContainer(role)) {
    throw fields.wrong(["scope"], `must be an account: ${role.name} covers a whole account.`);
  }
  const [service] = Object.keys(role.actions) as [RoleService];
  const { judge, rule } = NAMES[service];
  if (judge(container) !== null) throw fields.problem(["scope"], rule);
  return { account, container: service === "table" ? container.toLowerCase() : container };
}

interface NameRule {
  readonly judge: (name: string) => FaultCode | null;
  readonly rule: string;
}

const NAMES: Readonly<Record<RoleService, NameRule>> = {
  blob: { judge: judgeContainerName, rule: DASHED_NAME_RULE },
  file: { judge: judgeDashedName, rule: DASHED_NAME_RULE },
  queue: { judge: judgeDashedName, rule: DASHED_NAME_RULE },
  table: { judge: judgeTableName, rule: TABLE_NAME_RULE },
};
