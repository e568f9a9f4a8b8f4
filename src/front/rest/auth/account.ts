import type { RoleAssignment } from "../../../rules/roles.ts";
import { SECONDARY_SUFFIX } from "./resource.ts";
import { MacKey } from "./signature.ts";

/** An account as authentication sees it. */
export interface Account {
  readonly name: string;
  /** One or two; either grants everything. */
  readonly keys: readonly MacKey[];
  /**
   * Secret for user delegation keys, derived from the first key: replacing that key revokes them.
   */
  readonly delegationSecret: MacKey;
  /** Host names of this account, in lower case. */
  readonly domains: readonly string[];
  /** What bearer tokens may do; empty if every accepted token may do everything. */
  readonly roles: readonly RoleAssignment[];
}

/** An account as the configuration states it. */
export interface AccountSettings {
  readonly name: string;
  /** One or two, in Base64. */
  readonly keys: readonly string[];
  /** Host names of this account, without a port. */
  readonly domains?: readonly string[];
  readonly roles?: readonly RoleAssignment[];
}

/** All accounts of this server. */
export interface Accounts {
  readonly byName: ReadonlyMap<string, Account>;
  readonly byDomain: ReadonlyMap<string, Account>;
  /** Ignore host names, except the cloud's own: the path names the account. */
  readonly pathStyleOnly: boolean;
}

const KEYS_MAX = 2;
/** Must fit into the first label of a host name. */
const ACCOUNT_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Settings that cannot be used. The message is a sentence for the operator, without a key. */
export class InvalidAccount extends Error {
  /** The place of the account in the list. */
  readonly index: number;

  constructor(message: string, index: number) {
    super(message);
    this.index = index;
  }
}

/** Throws an `InvalidAccount` if the settings are invalid. */
export function accountsOf(settings: readonly AccountSettings[]): Accounts {
  const byName = new Map<string, Account>();
  const byDomain = new Map<string, Account>();
  settings.forEach((one, index) => {
    const problem = problemOf(one);
    if (problem !== null) throw new InvalidAccount(problem, index);
    if (byName.has(one.name)) {
      const what = `The account "${one.name}" is configured twice. Give each its own name.`;
      throw new InvalidAccount(what, index);
    }
    const account = accountOf(one);
    byName.set(one.name, account);
    for (const host of account.domains) {
      if (byDomain.has(host)) {
        const what = `The domain "${host}" is given to two accounts. It can stand for one.`;
        throw new InvalidAccount(what, index);
      }
      byDomain.set(host, account);
    }
  });
  return { byName, byDomain, pathStyleOnly: false };
}

/** A sentence about what is wrong with an account by itself; null if nothing is. */
function problemOf({ name, keys }: AccountSettings): string | null {
  if (!ACCOUNT_NAME.test(name) || name.endsWith(SECONDARY_SUFFIX)) {
    return (
      `"${name}" cannot be the name of an account: use 1 to 63 lower-case letters, digits and ` +
      `hyphens, with no hyphen at either end, and not ending in "${SECONDARY_SUFFIX}".`
    );
  }
  if (keys.length < 1 || keys.length > KEYS_MAX) {
    return `The account "${name}" has ${keys.length} keys. Give it one or two.`;
  }
  if (keys.every((key) => keyBytes(key).length > 0)) return null;
  return `A key of the account "${name}" is empty. 64 random bytes in Base64 are usual.`;
}

function accountOf({ name, keys, domains = [], roles = [] }: AccountSettings): Account {
  return keyed(
    name,
    keys.map(keyBytes),
    domains.map((domain) => domain.toLowerCase()),
    roles,
  );
}

/**
 * Decodes a key like the JavaScript SDK and Azurite: padding may be missing, and characters outside
 * Base64 are skipped. The operator is warned of such keys at the start.
 */
function keyBytes(key: string): Buffer {
  return Buffer.from(key, "base64");
}

function keyed(
  name: string,
  keys: readonly Buffer[],
  domains: readonly string[],
  roles: readonly RoleAssignment[],
): Account {
  const macKeys = keys.map((key) => new MacKey(key));
  const secret = (macKeys[0] as MacKey).mac("user delegation keys");
  const delegationSecret = new MacKey(Buffer.from(secret, "base64"));
  return { name, keys: macKeys, delegationSecret, domains, roles };
}
