import type { Home } from "../src/front/console/answers.ts";
import { getJson } from "./api.ts";
import { Account } from "./storage.ts";

/** Who is signed in, and what signs requests to the services. */
export interface SignedIn {
  /** Null with a SAS, which opens the services only. */
  readonly home: Home | null;
  readonly accounts: ReadonlyMap<string, Account>;
  readonly isOperator: boolean;
}

/** Loads what a session may see. */
export async function signedInAs(account: string | null): Promise<SignedIn> {
  const home = await getJson<Home>("/api/home");
  const accounts = new Map<string, Account>();
  for (const { name, keys } of home.accounts) {
    accounts.set(name, await Account.withKey(name, keys[0] ?? "", home.urls.blob ?? null));
  }
  return { home, accounts, isOperator: account === null };
}
