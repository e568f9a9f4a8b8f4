import type { CredentialsAsked, CredentialsJudged } from "../../front/console/console-facts.ts";
import type { RestServiceName } from "../../front/outcome.ts";
import {
  type CredentialsExplained,
  explainCredentials,
} from "../../front/rest/explain-credentials.ts";
import type { RestService } from "../../front/rest/http/exchange.ts";
import type { Store } from "../../store/store.ts";
import type { Settings } from "../settings.ts";
import { judgeNeeds } from "./judge-needs.ts";

/** Returns the records of an account. */
export type StoreOf = (account: string, settings: Settings) => Pick<Store, "read">;

/** Returns the service behind a listener, without a lab around it. */
export type ServiceOf = (name: RestServiceName) => RestService | undefined;

/**
 * Tells why credentials are refused, for the console. The services themselves judge them: first
 * signature, dates, address and protocol, then the permissions, in a transaction that only reads.
 */
export async function judgedCredentials(
  { service, sent, shownText, account }: CredentialsAsked,
  settings: Settings,
  storeOf: StoreOf,
  serviceOf: ServiceOf,
): Promise<CredentialsJudged | null> {
  const found = serviceOf(service);
  if (found === undefined) return null;
  const { accounts, pathStyleOnly, statedAccounts } = settings;
  const explained = await explainCredentials(found, sent, {
    accounts: { ...accounts, pathStyleOnly },
    keysFor: (own) =>
      statedAccounts
        .filter(({ name }) => name === own || account === null)
        .sort((one, other) => Number(other.name === own) - Number(one.name === own)),
    shownText,
  });
  const { call, ...judged } = explained;
  const permitted =
    call === null ? null : await judgeNeeds(service, call, sent, storeOf(call.account, settings));
  return withClientText({
    ...judged,
    refusal: judged.refusal ?? permitted?.refusal ?? null,
    need: permitted?.need ?? null,
    acl: permitted?.acl ?? null,
  });
}

type Judged = Omit<CredentialsExplained, "call"> & Pick<CredentialsJudged, "need" | "acl">;

function withClientText({ signature, ...judged }: Judged): CredentialsJudged {
  if (signature === null) return { ...judged, signature };
  const { serverText, client, isShownText } = signature;
  const { text = null, mistake = null } = client ?? {};
  return { ...judged, signature: { serverText, clientText: text, mistake, isShownText } };
}
