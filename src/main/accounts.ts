import { DEVELOPMENT_ACCOUNT_NAME, WELL_KNOWN_KEY } from "../base/development-account.ts";
import { type AccountSettings, type Accounts, accountsOf } from "../front/rest/auth/account.ts";
import { UsageError } from "./start-error.ts";

export const DEVELOPMENT_ACCOUNT: AccountSettings = {
  name: DEVELOPMENT_ACCOUNT_NAME,
  keys: [WELL_KNOWN_KEY],
};

export function usesWellKnownKey(accounts: readonly AccountSettings[]): boolean {
  return accounts.some(({ keys }) => keys.includes(WELL_KNOWN_KEY));
}

/** A shorter key can be guessed by trying signatures offline. */
const KEY_BYTES_MIN = 16;

/** A sentence, without the key, for each key that is too weak for a network. */
export function weakKeys(accounts: readonly AccountSettings[]): string[] {
  return accounts.flatMap(({ name, keys }) =>
    keys.flatMap((key) => {
      const weakness = weaknessOf(key);
      return weakness === null ? [] : [`a key of the account "${name}" ${weakness}`];
    }),
  );
}

function weaknessOf(key: string): string | null {
  const bytes = Buffer.from(key, "base64");
  if (bytes.toString("base64") !== key) return "is not canonical Base64, which some clients refuse";
  if (bytes.length >= KEY_BYTES_MIN) return null;
  return `is shorter than ${KEY_BYTES_MIN} bytes and can be guessed`;
}

/** Splits `name:key1[:key2];name2:key1…`, the format of AZURITE_ACCOUNTS. */
export function splitAccountList(text: string): AccountSettings[] {
  return text
    .split(";")
    .filter((part) => part.trim() !== "")
    .map((part) => {
      const [name = "", ...keys] = part.trim().split(":");
      return { name, keys };
    });
}

/** Checks the accounts. `source` names where they come from, for the error message. */
export function checkAccounts(source: string, settings: readonly AccountSettings[]): Accounts {
  if (settings.length === 0) {
    throw new UsageError(`${source} names no account. Give at least one, or leave it out.`);
  }
  try {
    return accountsOf(settings);
  } catch (error) {
    throw new UsageError(`${source}: ${(error as Error).message}`);
  }
}
