import { NO_BYTES, wholeBody } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import type { SentRequest } from "../outcome.ts";
import type { Accounts } from "./auth/account.ts";
import { type KnownAddress, locate } from "./auth/address.ts";
import { SignatureMismatch } from "./auth/refusals.ts";
import type { Resource } from "./auth/resource.ts";
import {
  findSignedOtherwise,
  headersOf,
  isSignatureOf,
  type SignedOtherwise,
  type StatedKeys,
} from "./auth/signed-otherwise.ts";
import { REST_FAULTS } from "./fault-status.ts";
import type { GatedCall, RestRequest, RestService } from "./http/exchange.ts";
import { protocolVersion } from "./http/protocol-version.ts";
import { parseQuery } from "./http/query.ts";
import { redactHeader, redactSignatures } from "./http/redact.ts";
import { RequestFacts } from "./http/request-facts.ts";
import { wholeBodyBudget } from "./http/whole-body.ts";

/** What the server thinks of the credentials of a request. It contains no signature. */
export interface CredentialsExplained {
  /** As the route names it: `putBlob`; null if it was refused before that. */
  readonly operation: string | null;
  /** Null if it names no account of this server. */
  readonly account: string | null;
  /** `sharedKey`, `serviceSas`… */
  readonly auth: string;
  /** Null if the credentials are good. */
  readonly refusal: RefusalWords | null;
  /** Both strings, if the signature is the reason. */
  readonly signature: SignatureExplained | null;
  /** What its credentials grant; null if they are refused. */
  readonly call: GatedCall | null;
}

export interface RefusalWords {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** The service's own sentence about the reason, and ours. */
  readonly detail: string | null;
  readonly reason: string | null;
}

interface SignatureExplained {
  readonly serverText: string;
  /** What the client has signed, if it is found out. */
  readonly client: SignedOtherwise | null;
  /** Whether the text that the client has shown is what it signed, with a key of the account. */
  readonly isShownText: boolean | null;
}

export interface ExplainOptions {
  readonly accounts: Accounts;
  /** Keys that may be tried. Those of the request's account come first. */
  keysFor(account: string): readonly StatedKeys[];
  /** The string that the client says it signed; null if unknown. */
  readonly shownText: string | null;
}

/** Ends the handling of a request whose credentials are good: it must have no effect. */
class Reached extends Error {}

/** Lets a service judge the credentials of a request, by the same code as a real one, and do nothing. */
export async function explainCredentials(
  service: RestService,
  sent: SentRequest,
  options: ExplainOptions,
): Promise<CredentialsExplained> {
  let call: GatedCall | null = null;
  let fault: Fault | null = null;
  let request: RestRequest | null = null;
  try {
    request = requestOf(sent);
    request.gate = {
      now: () => sent.judgedMs,
      pass: async (_, asked) => {
        call = asked;
        throw new Reached();
      },
      learn: () => {},
    };
    await service.handle(request);
    fault = request.facts.refusal;
  } catch (error) {
    if (error instanceof Fault) fault = error;
    else if (!(error instanceof Reached)) throw error;
  }
  const { operation, account, auth } = request?.facts ?? new RequestFacts();
  const mismatch = fault instanceof SignatureMismatch ? fault : null;
  return {
    operation: operation === new RequestFacts().operation ? null : operation,
    account,
    auth,
    refusal: fault === null ? null : refusalWords(fault),
    signature:
      mismatch === null || request === null || account === null
        ? null
        : signatureExplained(mismatch, request, account, service, options),
    call,
  };
}

/** A refusal as clients see it. The detail may repeat the client's signature, which is left out. */
export function refusalWords({ code, detail, sentence }: Fault): RefusalWords {
  const { status, code: shown, message } = REST_FAULTS[code];
  const said = detail.AuthenticationErrorDetail ?? null;
  const isAboutSignature = said !== null && /string to sign/i.test(said);
  return {
    status,
    code: shown,
    message: sentence ?? message,
    detail: isAboutSignature ? "The signature does not fit the request." : said,
    reason: detail.Reason ?? null,
  };
}

function signatureExplained(
  { stringToSign }: SignatureMismatch,
  request: RestRequest,
  accountName: string,
  service: RestService,
  { accounts, keysFor, shownText }: ExplainOptions,
): SignatureExplained {
  const account = accounts.byName.get(accountName);
  if (account === undefined) {
    return { serverText: withoutSecrets(stringToSign), client: null, isShownText: null };
  }
  const located = locate(request.headers.get("host"), request.path, accounts);
  const address: KnownAddress = { ...located, account, accountName };
  const unsigned = {
    request,
    address,
    resource: resourceOf(service, address),
    signature: signatureOf(request),
    text: stringToSign,
    accounts: keysFor(accountName),
  };
  const client = findSignedOtherwise(unsigned);
  return {
    serverText: withoutSecrets(stringToSign),
    client: client === null ? null : { ...client, text: withoutSecrets(client.text) },
    isShownText: shownText === null ? null : isSignatureOf(shownText, unsigned),
  };
}

/** Headers are part of a string to sign: keys of clients, and sources with a SAS. */
function withoutSecrets(text: string): string {
  return text
    .split("\n")
    .map((line) => {
      const colon = line.indexOf(":");
      const name = line.slice(0, Math.max(colon, 0));
      if (name === "sig") return "sig:[redacted]";
      return name.startsWith("x-ms-")
        ? `${name}:${redactHeader(name, line.slice(colon + 1))}`
        : redactSignatures(line);
    })
    .join("\n");
}

/** The names in a path, as far as mistakes in signing need them. */
function resourceOf({ name }: RestService, { resourcePath }: KnownAddress): Resource {
  const [, container = "", ...rest] = resourcePath.split("/").map(decoded);
  const isWithNames = name !== "queue" && name !== "table";
  return { service: name, container, name: isWithNames ? rest.join("/") : "" };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function signatureOf({ headers, query }: RestRequest): string {
  const authorization = headers.get("authorization");
  if (authorization === undefined) return query.get("sig") ?? "";
  return authorization.slice(authorization.indexOf(":") + 1).trim();
}

/** The request as the listener would make it, without a body. Throws a Fault if it makes none. */
function requestOf(sent: SentRequest): RestRequest {
  const { method, target, isSecure, remoteAddress, receivedMs, judgedMs } = sent;
  const mark = target.indexOf("?");
  const query = parseQuery(mark < 0 ? "" : target.slice(mark + 1));
  const raw = sent.headers;
  const pairs = raw.flatMap((name, at) =>
    at % 2 === 0 ? [[name, raw[at + 1] ?? ""] as const] : [],
  );
  const headers = headersOf(pairs);
  return {
    id: "",
    method,
    target,
    path: mark < 0 ? target : target.slice(0, mark),
    query,
    headers,
    version: protocolVersion(headers, query),
    body: wholeBody(NO_BYTES),
    secure: isSecure,
    remoteAddress,
    receivedMs,
    judgedMs,
    facts: new RequestFacts(),
    wholeBodies: wholeBodyBudget(),
  };
}
