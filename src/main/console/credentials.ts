import { Fault } from "../../base/fault.ts";
import type {
  CredentialsAsked,
  CredentialsJudged,
  NeedJudged,
} from "../../front/console/console-facts.ts";
import type { RestServiceName, SentRequest } from "../../front/outcome.ts";
import {
  type CredentialsExplained,
  explainCredentials,
  refusalWords,
} from "../../front/rest/explain-credentials.ts";
import type { GatedCall, RestService } from "../../front/rest/http/exchange.ts";
import type { Access, Need } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import { admitToContainer } from "../../service/blob/admit.ts";
import { admitToShare } from "../../service/file/admit.ts";
import { admitToQueue } from "../../service/queue/admit.ts";
import { admitToTable } from "../../service/table/admit.ts";
import type { Store, View } from "../../store/store.ts";
import type { Settings } from "../settings.ts";

/** Returns the records of an account. */
export type StoreOf = (account: string, settings: Settings) => Pick<Store, "read">;

/** Returns the service behind a listener, without a lab around it. */
export type ServiceOf = (name: RestServiceName) => RestService | undefined;

const NEEDS: Readonly<Record<RestServiceName, Readonly<Record<string, Need>>>> = {
  blob: BLOB_NEEDS,
  dfs: BLOB_NEEDS,
  queue: QUEUE_NEEDS,
  table: TABLE_NEEDS,
  file: FILE_NEEDS,
};

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
    call === null ? null : await judgeNeed(service, call, sent, storeOf(call.account, settings));
  return withClientText({
    ...judged,
    refusal: judged.refusal ?? permitted?.refusal ?? null,
    need: permitted?.need ?? null,
  });
}

type Judged = Omit<CredentialsExplained, "call"> & Pick<CredentialsJudged, "need">;

function withClientText({ signature, ...judged }: Judged): CredentialsJudged {
  if (signature === null) return { ...judged, signature };
  const { serverText, client, isShownText } = signature;
  const { text = null, mistake = null } = client ?? {};
  return { ...judged, signature: { serverText, clientText: text, mistake, isShownText } };
}

async function judgeNeed(
  service: RestServiceName,
  call: GatedCall,
  sent: SentRequest,
  store: Pick<Store, "read">,
): Promise<Pick<CredentialsJudged, "refusal" | "need"> | null> {
  const need = NEEDS[service][operationOf(call, sent)];
  if (need === undefined) return null;
  const refusal = await store.read((view) => {
    try {
      admit(view, service, call, need);
      return null;
    } catch (error) {
      // Whether something exists is no question of credentials.
      if (error instanceof Fault) return isForbidden(error) ? refusalWords(error) : null;
      throw error;
    }
  });
  return { refusal, need: needJudged(call.access, need) };
}

function isForbidden(fault: Fault): boolean {
  return [401, 403].includes(refusalWords(fault).status);
}

/** Some operations need something else by what their parameters say. */
function operationOf({ operation }: GatedCall, { target, headers }: SentRequest): string {
  const action = headers.findIndex((name) => name.toLowerCase() === "x-ms-lease-action");
  if (operation.startsWith("lease") && headers[action + 1]?.toLowerCase() === "break") {
    return operation.replace("lease", "break").concat("Lease");
  }
  if (operation !== "deleteBlob") return operation;
  if (/[?&]deletetype=permanent/i.test(target)) return "deleteBlobPermanently";
  return /[?&]versionid=/i.test(target) ? "deleteBlobVersion" : operation;
}

function admit(view: View, service: RestServiceName, call: GatedCall, need: Need): void {
  const { account, container, access } = call;
  switch (service) {
    case "blob":
    case "dfs":
      admitToContainer(view, { at: { account, container }, access }, need, true);
      return;
    case "queue":
      admitToQueue(view, { at: { account, queue: container }, access }, need);
      return;
    case "table":
      admitToTable(view, { at: { account, table: container }, access }, need);
      return;
    case "file":
      admitToShare(view, { at: { account, share: container, snapshot: null }, access }, need);
  }
}

function needJudged(access: Access, need: Need): NeedJudged {
  const isAccount = access.kind === "account-sas";
  return {
    kind: access.kind,
    letters: isAccount ? need.account : need.service,
    isEvery: need.every === true,
    type: need.on,
    granted: access.kind === "account-sas" || access.kind === "service-sas" ? access.letters : null,
    grantedTypes: access.kind === "account-sas" ? access.types : null,
    policy: access.kind === "service-sas" ? (access.policy?.id ?? null) : null,
  };
}
