// Signatures of the storage protocols, made with WebCrypto: keys never leave the browser.

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

/** Headers with a line of their own in the string to sign, in its order. */
const STANDARD_HEADERS = [
  ...["content-encoding", "content-language", "content-length", "content-md5", "content-type"],
  ...["date", "if-modified-since", "if-match", "if-none-match", "if-unmodified-since", "range"],
];

export interface ToSign {
  readonly method: string;
  /** Encoded, with the account: `/account/container/blob`. */
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly bodyBytes: number;
}

/** The string to sign of Shared Key for blobs, queues, files and Data Lake. */
export function stringToSign(account: string, asked: ToSign): string {
  const { method, path, query, headers, bodyBytes } = asked;
  const values = STANDARD_HEADERS.map((name) =>
    name === "content-length" ? (bodyBytes === 0 ? "" : String(bodyBytes)) : (headers[name] ?? ""),
  );
  const own = Object.entries(headers)
    .filter(([name]) => name.startsWith("x-ms-"))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}:${value.trim()}\n`);
  const parameters = Object.entries(query)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `\n${name.toLowerCase()}:${value}`);
  return `${method}\n${values.join("\n")}\n${own.join("")}/${account}${path}${parameters.join("")}`;
}

/** The string to sign of Shared Key for tables. */
export function tableStringToSign(account: string, asked: ToSign): string {
  const { method, path, query, headers } = asked;
  const comp = query.comp === undefined ? "" : `?comp=${query.comp}`;
  const parts = [method, "", headers["content-type"] ?? "", headers["x-ms-date"] ?? ""];
  return `${parts.join("\n")}\n/${account}${path}${comp}`;
}
