import type { Home } from "../src/front/console/answers.ts";
import type { SeenRequest } from "../src/front/console/seen-request.ts";
import { SERVICE_LETTERS } from "../src/front/rest/auth/resource.ts";
import { newForm, tokenOf } from "./sas-form.ts";
import { queryOf, signedToken } from "./sas-token.ts";
import { ACCOUNT_LETTERS, FIELD_WORDS } from "./sas-words.ts";
import type { Account } from "./storage.ts";

/** Stands where the page has no key to sign with. */
const NO_SAS = "<SAS>";

/** A curl command that sends a request again, with a SAS of its account that ends in an hour. */
export async function curlOf(
  request: SeenRequest,
  urls: Home["urls"],
  account: Account | undefined,
): Promise<string> {
  const { method, target, service, conditions, leaseId, headers } = request;
  const isRead = method === "GET" || method === "HEAD";
  const all = [
    ...conditions,
    ...(leaseId === null ? [] : [`x-ms-lease-id: ${leaseId}`]),
    ...headers,
    "x-ms-version: 2025-01-05",
    ...(isRead || request.requestBytes > 0 ? [] : ["Content-Length: 0"]),
  ];
  const url = new URL(target ?? "/", urls[service]);
  for (const name of [...url.searchParams.keys()]) {
    if (name === "sig" || name in FIELD_WORDS) url.searchParams.delete(name);
  }
  const separator = url.search === "" ? "?" : "&";
  const sas = account?.key == null ? NO_SAS : await hourlySas(account, service);
  return [
    `curl ${method === "HEAD" ? "--head" : `-X ${method}`} ${quoted(`${url}${separator}${sas}`)}`,
    ...all.map((header) => `-H ${quoted(header)}`),
    ...(request.requestBytes > 0 ? ["--data-binary @body"] : []),
  ].join(" \\\n  ");
}

async function hourlySas(account: Account, service: SeenRequest["service"]): Promise<string> {
  if (account.key === null || service === "smb") return NO_SAS;
  const form = {
    ...newForm(account.name, Date.now()),
    kind: "account" as const,
    services: SERVICE_LETTERS[service],
    types: "sco",
    letters: ACCOUNT_LETTERS,
  };
  return queryOf((await signedToken(tokenOf(form, null), account.key)).fields);
}

/** For a shell: a single quote ends the text, stands for itself, and begins it again. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
