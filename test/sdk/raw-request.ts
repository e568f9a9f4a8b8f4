import { CREDENTIAL, type TestService } from "./server.ts";

type RawServer = Pick<TestService, "url" | "account">;

export interface RawAsked {
  readonly method?: string;
  /** The path after the account: `/container/blob?comp=…`, percent-encoded. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Null to send none. */
  readonly version?: string | null;
  /** Whether to sign with the account's key; true by default. */
  readonly signed?: boolean;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** `x-ms-error-code`, or "" */
  readonly code: string;
}

/** Sends exactly this request, for what the SDK hides or refuses to send. */
export async function rawRequest(server: RawServer, asked: RawAsked): Promise<RawAnswer> {
  const method = asked.method ?? "GET";
  const headers: Record<string, string> = {
    "x-ms-date": new Date().toUTCString(),
    ...(asked.version !== null && { "x-ms-version": asked.version ?? "2026-04-06" }),
    ...lowerCased(asked.headers ?? {}),
  };
  if (asked.body !== undefined) headers["content-type"] ??= "application/xml";
  if (asked.signed ?? true) {
    headers.authorization = authorizationOf(server, method, asked, headers);
  }
  const body = asked.body ?? null;
  const response = await fetch(server.url + asked.path, { method, headers, body });
  return {
    status: response.status,
    headers: response.headers,
    text: await response.text(),
    code: response.headers.get("x-ms-error-code") ?? "",
  };
}

function lowerCased(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

const SIGNED_HEADERS = [
  "content-encoding",
  "content-language",
  "content-length",
  "content-md5",
  "content-type",
  "date",
  "if-modified-since",
  "if-match",
  "if-none-match",
  "if-unmodified-since",
  "range",
];

function authorizationOf(
  server: RawServer,
  method: string,
  { path, body }: RawAsked,
  headers: Readonly<Record<string, string>>,
): string {
  const length = Buffer.byteLength(body ?? "");
  const known: Record<string, string> = {
    ...headers,
    ...(length > 0 && { "content-length": String(length) }),
  };
  const lines = [method, ...SIGNED_HEADERS.map((name) => known[name] ?? "")];
  const ours = Object.keys(headers).filter((name) => name.startsWith("x-ms-"));
  for (const name of ours.sort()) lines.push(`${name}:${headers[name]}`);
  const url = new URL(server.url + path);
  let resource = `/${server.account}${url.pathname}`;
  const query = [...url.searchParams].map(([name, value]) => `${name.toLowerCase()}:${value}`);
  for (const line of query.sort()) resource += `\n${line}`;
  lines.push(resource);
  return `SharedKey ${server.account}:${CREDENTIAL.computeHMACSHA256(lines.join("\n"))}`;
}
