import { request } from "node:https";
import { CERTIFICATE, CERTIFICATE_KEY } from "./certificate.ts";
import type { TestServerOptions, TestService } from "./server.ts";

/** Options of a server that accepts tokens, which requires HTTPS. */
export const TAKES_TOKENS: TestServerOptions = {
  tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY },
  oauth: { mode: "basic" },
};

export const TENANT = "11111111-2222-4333-8444-555555555555";
export const USER = "99999999-2222-4333-8444-555555555555";

/** Makes a token with valid claims, except those that are given. */
export function bearer(claims: object = {}): { authorization: string } {
  const seconds = Math.floor(Date.now() / 1_000);
  const all = {
    iss: `https://sts.windows.net/${TENANT}/`,
    aud: "https://storage.azure.com",
    nbf: seconds,
    exp: seconds + 3_600,
    oid: USER,
    tid: TENANT,
    ...claims,
  };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return { authorization: `Bearer ${part({ alg: "RS256", typ: "JWT" })}.${part(all)}.c2ln` };
}

export interface SecureAnswer {
  readonly status: number;
  readonly code: string;
  readonly text: string;
}

/** Sends a request over HTTPS, with no credentials but those in the headers. */
export function askSecurely(
  server: TestService,
  method: string,
  path: string,
  headers: object = {},
  body = "",
): Promise<SecureAnswer> {
  const options = {
    method,
    ca: CERTIFICATE,
    // The name in the certificate, whatever host the headers name.
    servername: "localhost",
    headers: { "x-ms-version": "2026-04-06", "content-length": body.length, ...headers },
  };
  return new Promise((resolve, reject) => {
    const sent = request(server.url + path, options, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => {
        text += part;
      });
      answer.on("error", reject).on("end", () => {
        const code = String(answer.headers["x-ms-error-code"] ?? "");
        resolve({ status: answer.statusCode ?? 0, code, text });
      });
    });
    sent.on("error", reject).end(body);
  });
}

/** Requests a user delegation key, valid from one time to the other. */
export function askForKey(
  server: TestService,
  startMs: number,
  expiryMs: number,
  headers: object = bearer(),
): Promise<SecureAnswer> {
  const seconds = (ms: number) => `${new Date(ms).toISOString().slice(0, 19)}Z`;
  const terms = `<Start>${seconds(startMs)}</Start><Expiry>${seconds(expiryMs)}</Expiry>`;
  const path = "/?restype=service&comp=userdelegationkey";
  return askSecurely(server, "POST", path, headers, `<KeyInfo>${terms}</KeyInfo>`);
}

/** Reads the key from a response, in the form the SDKs use. */
export function keyIn(text: string) {
  const value = (name: string) => new RegExp(`<${name}>(.*)</${name}>`).exec(text)?.[1] ?? "";
  return {
    signedObjectId: value("SignedOid"),
    signedTenantId: value("SignedTid"),
    signedStartsOn: new Date(value("SignedStart")),
    signedExpiresOn: new Date(value("SignedExpiry")),
    signedService: value("SignedService"),
    signedVersion: value("SignedVersion"),
    value: value("Value"),
  };
}
