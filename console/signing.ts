// Signatures of the storage protocols, made with WebCrypto: keys never leave the browser.

import type { ServiceName } from "../src/front/rest/auth/resource.ts";
import { sharedKeyText } from "../src/front/rest/auth/shared-key-text.ts";

const encoder = new TextEncoder();

export type SigningKey = CryptoKey;

/** Throws if the text is no Base64. */
export function importKey(base64: string): Promise<SigningKey> {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
}

export async function sign(key: SigningKey, text: string): Promise<string> {
  const signature = await crypto.subtle.sign("HMAC", key, encoder.encode(text));
  return btoa(String.fromCharCode(...new Uint8Array(signature)));
}

export interface ToSign {
  readonly method: string;
  /** Encoded, with the account: `/account/container/blob`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBytes: number;
}

/** The value of `Authorization`, by the rule that the server verifies with. */
export async function authorizationOf(
  { name, key }: { readonly name: string; readonly key: SigningKey },
  service: ServiceName,
  { method, path, query, headers, bodyBytes }: ToSign,
): Promise<string> {
  const all: Readonly<Record<string, string>> = { ...headers, "content-length": `${bodyBytes}` };
  const request = {
    method,
    path,
    query: {
      get: (one: string) => query[one],
      entries: Object.entries(query).map(([one, value]) => [one.toLowerCase(), value] as const),
    },
    headers: { get: (one: string) => all[one], raw: Object.entries(all).flat() },
    version: headers["x-ms-version"] ?? "",
  };
  const address = { accountName: name, isSecondary: false, hostStyle: false };
  const text = sharedKeyText(request, address, service, false);
  return `SharedKey ${name}:${await sign(key, text)}`;
}
