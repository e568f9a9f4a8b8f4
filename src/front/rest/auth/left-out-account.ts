import type { RestRequest } from "../http/exchange.ts";
import type { Account, Accounts } from "./account.ts";

/**
 * Finds the account of a request whose URL names no account of this server. Some clients leave the
 * account out of the path when they rename, but sign for it: SharedKey names it in the header, and
 * the string that a SAS signs contains it. The request is then verified with that account's key,
 * over the path as sent. A bearer token may be valid for several accounts, so there the source of
 * the rename names it, if it is one of Data Lake.
 */
export function accountSignedFor(
  { headers, query }: RestRequest,
  accounts: Accounts,
  isSasOf: (account: Account) => boolean,
): Account | null {
  const named = SHARED_KEY.exec(headers.get("authorization") ?? "")?.[1];
  if (named !== undefined) return accounts.byName.get(named) ?? null;
  if (query.get("sig") === undefined) {
    const source = SOURCE_ACCOUNT.exec(headers.get("x-ms-rename-source") ?? "")?.[1];
    return accounts.byName.get(source ?? "") ?? null;
  }
  for (const account of accounts.byName.values()) {
    if (isSasOf(account)) return account;
  }
  return null;
}

/** `/account/filesystem/path` */
const SOURCE_ACCOUNT = /^\/([^/?]+)\/[^/?]+\/[^/?]/;
const SHARED_KEY = /^SharedKey(?:Lite)? +([^\s:]+)\s*:/i;
