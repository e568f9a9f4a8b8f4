import type { RestRequest } from "../http/exchange.ts";
import type { Account, Accounts } from "./account.ts";

/**
 * The account that a request means whose URL names none of this server's. Some clients leave the
 * account out of the path when they rename, but sign for it: SharedKey names it in the header, and
 * the text that a SAS signs holds its name. The request is verified with that account's key
 * afterwards, over the path as it was sent. Nothing but a signature names an account here: a bearer
 * token may be good for several.
 */
export function accountSignedFor(
  { headers, query }: RestRequest,
  accounts: Accounts,
  isSasOf: (account: Account) => boolean,
): Account | null {
  const named = SHARED_KEY.exec(headers.get("authorization") ?? "")?.[1];
  if (named !== undefined) return accounts.byName.get(named) ?? null;
  if (query.get("sig") === undefined) return null;
  for (const account of accounts.byName.values()) {
    if (isSasOf(account)) return account;
  }
  return null;
}

const SHARED_KEY = /^SharedKey(?:Lite)? +([^\s:]+)\s*:/i;
