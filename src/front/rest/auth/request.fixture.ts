import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { NO_BYTES, wholeBody } from "../../../base/bytes.ts";
import { Fault, type FaultCode } from "../../../base/fault.ts";
import type { RestRequest } from "../http/exchange.ts";
import { protocolVersion } from "../http/protocol-version.ts";
import { parseQuery } from "../http/query.ts";
import { RequestFacts } from "../http/request-facts.ts";
import { wholeBodyBudget } from "../http/whole-body.ts";
import { type Account, accountsOf } from "./account.ts";
import { type Address, locate } from "./address.ts";
import { type Authenticated, authenticate } from "./authenticate.ts";
import type { OAuth } from "./bearer.ts";
import type { Resource, ServiceName } from "./resource.ts";

export const ACCOUNT_NAME = "devstoreaccount1";
export const KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
export const SECOND_KEY = Buffer.alloc(64, "second").toString("base64");
export const ACCOUNTS = accountsOf([
  { name: ACCOUNT_NAME, keys: [KEY, SECOND_KEY], domains: ["files.example.org"] },
]);
export const ACCOUNT = ACCOUNTS.byName.get(ACCOUNT_NAME) as Account;
export const NOON = Date.UTC(2030, 0, 1, 12);

/** A request as a test states it; every field has a default. */
export interface Asked {
  readonly method?: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>> | readonly (readonly [string, string])[];
  readonly remoteAddress?: string;
  readonly receivedMs?: number;
}

export function requestOf(asked: Asked): RestRequest {
  const [, scheme = "", host = "", target = ""] =
    /^(https?):\/\/([^/]+)(\/.*)$/.exec(asked.url) ?? [];
  const mark = target.indexOf("?");
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = parseQuery(mark < 0 ? "" : target.slice(mark + 1));
  const given = Array.isArray(asked.headers) ? asked.headers : Object.entries(asked.headers ?? {});
  const pairs: (readonly [string, string])[] = [["Host", host], ...given];
  const byName = new Map(pairs.map(([name, value]) => [name.toLowerCase(), value]));
  const headers = { raw: pairs.flat(), get: (name: string) => byName.get(name) };
  return {
    id: "id",
    method: asked.method ?? "GET",
    target,
    path,
    query,
    headers,
    version: protocolVersion(headers, query),
    body: wholeBody(NO_BYTES),
    secure: scheme === "https",
    remoteAddress: asked.remoteAddress ?? "10.0.0.5",
    receivedMs: asked.receivedMs ?? NOON,
    judgedMs: asked.receivedMs ?? NOON,
    facts: new RequestFacts(),
    wholeBodies: wholeBodyBudget(),
  };
}

/** Splits a path into container and name like a simple router. */
export function resourceOf(service: ServiceName, address: Address): Resource {
  const [, container = "", ...rest] = decodeURIComponent(address.resourcePath).split("/");
  const needsIntent = service === "file" && rest.length > 0;
  if (service !== "table") return { service, container, name: rest.join("/"), needsIntent };
  return { service, container: container.replace(/\(.*/, ""), name: "" };
}

export function authenticated(
  service: ServiceName,
  asked: Asked,
  oauth: OAuth | null = null,
): Authenticated {
  const found = authenticating(service, asked, oauth);
  assert.ok(!(found instanceof Promise), "only a token takes time");
  return found;
}

/** Authenticates with any credentials, including bearer tokens. */
export function authenticating(
  service: ServiceName,
  asked: Asked,
  oauth: OAuth | null,
): Authenticated | Promise<Authenticated> {
  const request = requestOf(asked);
  const address = locate(request.headers.get("host"), request.path, ACCOUNTS);
  return authenticate(request, address, resourceOf(service, address), { oauth });
}

/** Asserts that an attempt is refused with this code; returns the detail of the refusal. */
export function assertRefused(code: FaultCode, attempt: () => unknown, message?: string): string {
  try {
    attempt();
  } catch (error) {
    assert.ok(error instanceof Fault, `${message ?? code}: threw ${error}`);
    assert.equal(error.code, code, message ?? error.detail.AuthenticationErrorDetail);
    const { AuthenticationErrorDetail: detail = "", Reason: reason = "" } = error.detail;
    return `${detail} ${reason}`.trim();
  }
  assert.fail(`not refused: ${message ?? code}`);
}

/** `assertRefused` for an attempt that returns a promise. */
export async function assertRefusedLater(
  code: FaultCode,
  attempt: () => Promise<unknown>,
  message?: string,
): Promise<string> {
  const refused = await attempt().then(
    () => null,
    (error: unknown) => ({ error }),
  );
  return assertRefused(
    code,
    () => {
      if (refused !== null) throw refused.error;
    },
    message,
  );
}

export function sign(text: string, key: string = KEY): string {
  return createHmac("sha256", Buffer.from(key, "base64")).update(text, "utf8").digest("base64");
}
