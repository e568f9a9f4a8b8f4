import { MacKey } from "./signature.ts";

/** An account as authentication sees it. */
export interface Account {
  readonly name: string;
  /** One or two; either opens everything. */
  readonly keys: readonly MacKey[];
  /** User delegation keys are made from it. It follows the first key: a new one revokes them. */
  readonly delegationSecret: MacKey;
  /** Host names that stand for it, in lower case. */
  readonly domains: readonly string[];
}

/** An account as the configuration states it. */
export interface AccountSettings {
  readonly name: string;
  /** One or two, in Base64. */
  readonly keys: readonly string[];
  /** Host names that stand for this account, without a port. */
  readonly domains?: readonly string[];
}

/** Every account that this server has. */
export interface Accounts {
  readonly byName: ReadonlyMap<string, Account>;
  readonly byDomain: ReadonlyMap<string, Account>;
  /** Host names mean nothing, but for the cloud's own: the account stands in the path. */
  readonly pathStyleOnly: boolean;
}

export const SECONDARY_SUFFIX = "-secondary";
const KEYS_MAX = 2;
/** It has to fit into the first label of a host name. */
const ACCOUNT_NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Throws an Error with a sentence for the operator if the settings make no sense. */
export function accountsOf(settings: readonly AccountSettings[]): Accounts {
  const byName = new Map<string, Account>();
  const byDomain = new Map<string, Account>();
  for (const one of settings) {
    if (byName.has(one.name)) {
      throw new Error(`The account "${one.name}" is configured twice. Give each its own name.`);
    }
    const account = accountOf(one);
    byName.set(one.name, account);
    for (const host of account.domains) {
      if (byDomain.has(host)) {
        throw new Error(`The domain "${host}" is given to two accounts. It can stand for one.`);
      }
      byDomain.set(host, account);
    }
  }
  return { byName, byDomain, pathStyleOnly: false };
}

function accountOf({ name, keys, domains = [] }: AccountSettings): Account {
  if (!ACCOUNT_NAME.test(name) || name.endsWith(SECONDARY_SUFFIX)) {
    throw new Error(
      `"${name}" cannot be the name of an account: use 1 to 63 lower-case letters, digits and ` +
        `hyphens, with no hyphen at either end, and not ending in "${SECONDARY_SUFFIX}".`,
    );
  }
  if (keys.length < 1 || keys.length > KEYS_MAX) {
    throw new Error(`The account "${name}" has ${keys.length} keys. Give it one or two.`);
  }
  return keyed(
    name,
    keys.map((key) => keyBytes(name, key)),
    domains.map((domain) => domain.toLowerCase()),
  );
}

/**
 * As the JavaScript SDK and Azurite read a key: padding may be missing, and characters that Base64
 * does not have count for nothing. Whoever starts the server is warned of such keys.
 */
function keyBytes(name: string, key: string): Buffer {
  const bytes = Buffer.from(key, "base64");
  if (bytes.length === 0) {
    throw new Error(
      `A key of the account "${name}" is empty. 64 random bytes in Base64 are usual.`,
    );
  }
  return bytes;
}

function keyed(name: string, keys: readonly Buffer[], domains: readonly string[]): Account {
  const macKeys = keys.map((key) => new MacKey(key));
  const secret = (macKeys[0] as MacKey).mac("user delegation keys");
  const delegationSecret = new MacKey(Buffer.from(secret, "base64"));
  return { name, keys: macKeys, delegationSecret, domains };
}
