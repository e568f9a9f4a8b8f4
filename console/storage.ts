import type { ServiceName } from "../src/front/rest/auth/resource.ts";
import { ApiError, PAGE_HEADERS } from "./api.ts";
import { authorizationOf, importKey, type SigningKey } from "./signing.ts";

const VERSION = "2025-01-05";
/** Files longer than this go up in blocks. */
const WHOLE_BYTES_MAX = 32 * 1024 * 1024;
const BLOCK_BYTES = 8 * 1024 * 1024;

export interface Asked {
  readonly service: ServiceName;
  readonly method?: string;
  /** Names below the account, not encoded: `["container", "blob"]`. */
  readonly path?: readonly string[];
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Blob | string;
  /** Told how much of the body is sent. */
  readonly onProgress?: (bytes: number) => void;
  readonly signal?: AbortSignal;
}

/** What a transfer tells, and what cancels it. */
export interface Ticket {
  readonly onProgress: (bytes: number) => void;
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  header(name: string): string;
  /** The names of all headers, in lower case. */
  readonly names: readonly string[];
  /** The body as it comes; null for an upload's answer, which is whole. */
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>> | null;
  blob(): Promise<Blob>;
  text(): Promise<string>;
  xml(): Promise<Document>;
  json<T>(): Promise<T>;
}

/** An account, with what signs its requests: a key, or a SAS. Neither is stored anywhere. */
export class Account {
  readonly name: string;
  /** Where copies find blobs of this account; null if the page was not told. */
  readonly blobUrl: string | null;
  readonly #key: SigningKey | null;
  readonly #sas: Readonly<Record<string, string>>;

  private constructor(
    name: string,
    blobUrl: string | null,
    key: SigningKey | null,
    sas: Record<string, string>,
  ) {
    this.name = name;
    this.blobUrl = blobUrl;
    this.#key = key;
    this.#sas = sas;
  }

  static async withKey(name: string, key: string, blobUrl: string | null): Promise<Account> {
    return new Account(name, blobUrl, await importKey(key), {});
  }

  static withSas(name: string, sas: string): Account {
    const query = new URLSearchParams(sas.replace(/^[^?]*\?/, ""));
    return new Account(name, null, null, Object.fromEntries(query));
  }

  get key(): SigningKey | null {
    return this.#key;
  }

  /** Sends a request through the console. Throws an `ApiError` with the service's own words. */
  async ask(asked: Asked): Promise<Answer> {
    const { method = "GET", body, onProgress, signal } = asked;
    const { url, headers } = await this.#signed(asked);
    const sent = { ...headers, ...PAGE_HEADERS };
    const answer =
      onProgress === undefined
        ? await fetched(url, { method, headers: sent, body: body ?? null, signal: signal ?? null })
        : await uploaded(url, method, sent, body ?? "", onProgress, signal);
    if (answer.status < 300) return answer;
    throw await errorOf(answer);
  }

  async #signed({ service, method = "GET", path = [], query = {}, headers = {}, body }: Asked) {
    const names = [this.name, ...path];
    const encoded = names.map((name) => encodePath(name)).join("/");
    const length = typeof body === "string" ? new Blob([body]).size : (body?.size ?? 0);
    const own: Record<string, string> = {
      "x-ms-version": VERSION,
      "x-ms-date": new Date().toUTCString(),
      ...(body === undefined ? {} : { "content-type": "application/octet-stream" }),
      ...(service === "table" ? { accept: "application/json;odata=fullmetadata" } : {}),
      ...headers,
    };
    const all = { ...query, ...this.#sas };
    const asked = { method, path: `/${encoded}`, query, headers: own, bodyBytes: length };
    if (this.#key !== null) {
      const signer = { name: this.name, key: this.#key };
      own.authorization = await authorizationOf(signer, service, asked);
    }
    const search = Object.entries(all)
      .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
      .join("&");
    const url = `/services/${service}/${encoded}${search === "" ? "" : `?${search}`}`;
    return { url, headers: own };
  }
}

/** Slashes within a blob's name stay as they are. */
export function encodePath(name: string): string {
  return name
    .split("/")
    .map((part) => encodeURIComponent(part).replace(/[!'()*]/g, percent))
    .join("/");
}

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}

async function fetched(url: string, options: RequestInit): Promise<Answer> {
  // The browser's cache would change `range` or add a condition, and both are signed.
  const response = await fetch(url, { ...options, cache: "no-store" });
  const { status, headers, body } = response;
  const blob = () => response.blob();
  return answerFrom(status, [...headers.keys()], (name) => headers.get(name), body, blob);
}

/** `fetch` does not tell how much was sent. */
function uploaded(
  url: string,
  method: string,
  headers: Readonly<Record<string, string>>,
  body: Blob | string,
  onProgress: (bytes: number) => void,
  signal?: AbortSignal,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    request.responseType = "blob";
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = () =>
      resolve(
        answerFrom(
          request.status,
          [],
          (name) => request.getResponseHeader(name),
          null,
          async () => request.response as Blob,
        ),
      );
    request.onerror = () => reject(new ApiError(0, "NoAnswer", "The server did not answer."));
    request.onabort = () => reject(new ApiError(0, "Cancelled", "The upload was cancelled."));
    signal?.addEventListener("abort", () => request.abort());
    request.send(body);
  });
}

function answerFrom(
  status: number,
  names: readonly string[],
  header: (name: string) => string | null,
  body: Answer["body"],
  blob: () => Promise<Blob>,
): Answer {
  const text = async () => (await blob()).text();
  return {
    status,
    names,
    body,
    header: (name) => header(name) ?? "",
    blob,
    text,
    xml: async () => new DOMParser().parseFromString(await text(), "application/xml"),
    json: async <T>() => JSON.parse(await text()) as T,
  };
}

async function errorOf(answer: Answer): Promise<ApiError> {
  const text = await answer.text();
  const code = answer.header("x-ms-error-code");
  const [, words] = /<Message>([^<]*)/.exec(text) ?? [];
  const [, json] = /"value":\s*"([^"]*)/.exec(text) ?? [];
  const message = (words ?? json ?? text).split("\n")[0]?.replaceAll("\\n", " ") ?? "";
  return new ApiError(answer.status, code, message || `HTTP ${answer.status}`);
}

/** Uploads a blob, in blocks if it is large. */
export async function uploadBlob(
  account: Account,
  container: string,
  name: string,
  file: File,
  { onProgress, signal }: Ticket,
): Promise<void> {
  const at = { service: "blob", method: "PUT", path: [container, name], signal } as const;
  const type = file.type || "application/octet-stream";
  if (file.size <= WHOLE_BYTES_MAX) {
    const headers = { "x-ms-blob-type": "BlockBlob", "content-type": type };
    await account.ask({ ...at, headers, body: file, onProgress });
    return;
  }
  const ids: string[] = [];
  for (let from = 0; from < file.size; from += BLOCK_BYTES) {
    const blockid = btoa(String(ids.length).padStart(6, "0"));
    const body = file.slice(from, from + BLOCK_BYTES);
    const query = { comp: "block", blockid };
    await account.ask({ ...at, query, body, onProgress: (bytes) => onProgress(from + bytes) });
    ids.push(blockid);
  }
  const list = ids.map((id) => `<Latest>${id}</Latest>`).join("");
  await account.ask({
    ...at,
    query: { comp: "blocklist" },
    headers: { "x-ms-blob-content-type": type, "content-type": "application/xml" },
    body: `<?xml version="1.0" encoding="utf-8"?><BlockList>${list}</BlockList>`,
  });
}

/** Downloaded bytes that are held in the page's own memory; a browser moves more to the disk. */
const HELD_BYTES_MAX = 16 * 1024 * 1024;

/** Saves what a request returns as a file of the user's. */
export async function save(
  account: Account,
  asked: Asked,
  name: string,
  { onProgress, signal }: Ticket,
): Promise<void> {
  const answer = await account.ask({ ...asked, signal });
  const url = URL.createObjectURL(await received(answer.body, onProgress));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** Reads a body to its end, and tells how far it is. Rejects if the connection breaks before that. */
async function received(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  onProgress: (bytes: number) => void,
): Promise<Blob> {
  const blobs: Blob[] = [];
  let parts: Uint8Array<ArrayBuffer>[] = [];
  let held = 0;
  let done = 0;
  const reader = body?.getReader();
  for (let step = await reader?.read(); step?.done === false; step = await reader?.read()) {
    parts.push(step.value);
    held += step.value.length;
    done += step.value.length;
    if (held >= HELD_BYTES_MAX) {
      blobs.push(new Blob(parts));
      parts = [];
      held = 0;
    }
    onProgress(done);
  }
  return new Blob([...blobs, ...parts]);
}
