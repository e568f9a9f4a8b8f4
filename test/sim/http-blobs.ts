import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { buffer } from "node:stream/consumers";
import type {
  BlobAnswer,
  BlobAsked,
  BlobDone,
  BlobType,
  Found,
  Guards,
  Listed,
  PutPageAsked,
} from "./blob-words.ts";
import { EMPTY_ANSWER } from "./blob-words.ts";
import type { LeaseState } from "./lease-model.ts";
import { PAGES } from "./page-model.ts";
import { bytesOf, PAGE_BYTES, piecesIn, ZERO_PAGE } from "./pieces.ts";

/** An HTTP request; the rest of its URL is the same for all. */
interface HttpRequest {
  readonly method: string;
  readonly query?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Buffer;
}

/** The blobs of a container on a real server, over raw HTTP for accurate timing. */
export class HttpBlobs {
  readonly #agent = new Agent({ keepAlive: true });
  readonly #container: URL;

  /** `container` has a SAS that permits everything. */
  constructor(container: string) {
    this.#container = new URL(container);
  }

  /** Returns the server's answer. The bytes of a blob are read only once `mayRead` resolves. */
  async ask(
    key: string | null,
    asked: BlobAsked,
    mayRead: Promise<void> | null = null,
  ): Promise<BlobAnswer> {
    const sent = this.#send(key, asked);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    await mayRead;
    return answerOf(asked, response, await buffer(response));
  }

  /** Sends a request, and leaves before an answer comes. */
  async leave(key: string | null, asked: BlobAsked): Promise<void> {
    const sent = this.#send(key, asked).on("error", () => {});
    await once(sent, "finish").catch(() => {});
    sent.destroy();
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(key: string | null, asked: BlobAsked) {
    const url = new URL(this.#container);
    if (key !== null) url.pathname += `/${key}`;
    const { method, query, headers, body } = requestOf(asked, sourceOf(url, asked));
    if (query !== undefined) url.search = `${query}&${url.search.slice(1)}`;
    const length = method === "PUT" ? { "content-length": String(body?.length ?? 0) } : {};
    const sent = request(url, {
      method,
      agent: this.#agent,
      headers: { "x-ms-version": "2024-11-04", ...headers, ...length },
    });
    sent.end(body);
    return sent;
  }
}

/** `source` is the URL of the snapshot that is copied. */
function requestOf(asked: BlobAsked, source: string): HttpRequest {
  switch (asked.operation) {
    case "put": {
      const headers = { "x-ms-blob-type": "BlockBlob", ...named(asked), ...guardHeaders(asked) };
      return { method: "PUT", headers, body: bytesOf(asked.piece) };
    }
    case "create-append": {
      const headers = { "x-ms-blob-type": "AppendBlob", ...named(asked), ...guardHeaders(asked) };
      return { method: "PUT", headers };
    }
    case "create-page": {
      const size = { "x-ms-blob-content-length": String(PAGES * PAGE_BYTES) };
      const type = { "x-ms-blob-type": "PageBlob", ...size };
      return { method: "PUT", headers: { ...type, ...named(asked), ...guardHeaders(asked) } };
    }
    case "put-page":
      return renderPage(asked);
    case "set-sequence": {
      const { action, number } = asked;
      const value = action === "increment" ? {} : { "x-ms-blob-sequence-number": String(number) };
      const headers = { "x-ms-sequence-number-action": action, ...value, ...guardHeaders(asked) };
      return { method: "PUT", query: "comp=properties", headers };
    }
    case "snapshot":
      return { method: "PUT", query: "comp=snapshot", headers: guardHeaders(asked) };
    case "get-snapshot":
      return { method: "GET", query: `snapshot=${encodeURIComponent(asked.snapshot)}` };
    case "copy-snapshot": {
      const headers = { "x-ms-requires-sync": "true", "x-ms-copy-source": source };
      return {
        method: "PUT",
        headers: { ...headers, ...named(asked), ...leaseHeader(asked.leaseId) },
      };
    }
    case "append": {
      const { position } = asked;
      const at = position === null ? {} : { "x-ms-blob-condition-appendpos": String(position) };
      const headers = { ...at, ...guardHeaders(asked) };
      return { method: "PUT", query: "comp=appendblock", headers, body: bytesOf(asked.piece) };
    }
    case "stage": {
      const headers = leaseHeader(asked.leaseId);
      const query = `comp=block&blockid=${asked.block}`;
      return { method: "PUT", query, headers, body: bytesOf(asked.piece) };
    }
    case "commit": {
      const headers = { ...named(asked), ...guardHeaders(asked) };
      return { method: "PUT", query: "comp=blocklist", headers, body: blockListXml(asked) };
    }
    case "set-metadata": {
      const headers = { ...named(asked), ...guardHeaders(asked) };
      return { method: "PUT", query: "comp=metadata", headers };
    }
    case "delete": {
      const snapshots = asked.withSnapshots ? { "x-ms-delete-snapshots": "include" } : {};
      return { method: "DELETE", headers: { ...snapshots, ...guardHeaders(asked) } };
    }
    case "get":
    case "head":
      return { method: asked.operation.toUpperCase(), headers: guardHeaders(asked) };
    case "list":
      return { method: "GET", query: "restype=container&comp=list&include=metadata" };
    case "advance":
      throw new Error("the clock is not advanced over HTTP");
    default:
      return { method: "PUT", query: "comp=lease", headers: leaseHeaders(asked) };
  }
}

/** The URL of a snapshot, with its SAS. */
function sourceOf(blob: URL, asked: BlobAsked): string {
  if (asked.operation !== "copy-snapshot") return "";
  const snapshot = `snapshot=${encodeURIComponent(asked.snapshot)}`;
  return `${blob.origin}${blob.pathname}?${snapshot}&${blob.search.slice(1)}`;
}

function renderPage(asked: PutPageAsked): HttpRequest {
  const from = asked.page * PAGE_BYTES;
  const clears = asked.piece === ZERO_PAGE;
  const { sequence } = asked;
  const condition =
    sequence === null
      ? {}
      : { [`x-ms-if-sequence-number-${sequence.is}`]: String(sequence.number) };
  const headers = {
    "x-ms-page-write": clears ? "clear" : "update",
    "x-ms-range": `bytes=${from}-${from + PAGE_BYTES - 1}`,
    ...condition,
    ...guardHeaders(asked),
  };
  const body = clears ? {} : { body: bytesOf(asked.piece) };
  return { method: "PUT", query: "comp=page", headers, ...body };
}

function named({ write }: { write: string }): Record<string, string> {
  return { "x-ms-meta-write": write };
}

function guardHeaders({ ifMatch, ifNoneMatch, leaseId }: Guards): Record<string, string> {
  return {
    ...(ifMatch !== null && { "if-match": ifMatch }),
    ...(ifNoneMatch !== null && { "if-none-match": ifNoneMatch }),
    ...leaseHeader(leaseId),
  };
}

function leaseHeader(id: string | null): Record<string, string> {
  return id === null ? {} : { "x-ms-lease-id": id };
}

function leaseHeaders(
  asked: Extract<BlobAsked, { operation: "acquire" | "renew" | "change" | "release" | "break" }>,
): Record<string, string> {
  const action = { "x-ms-lease-action": asked.operation };
  switch (asked.operation) {
    case "acquire": {
      const proposed = asked.id === null ? {} : { "x-ms-proposed-lease-id": asked.id };
      return { ...action, "x-ms-lease-duration": String(asked.seconds), ...proposed };
    }
    case "change":
      return { ...action, "x-ms-lease-id": asked.id, "x-ms-proposed-lease-id": asked.to };
    case "break":
      return asked.seconds === null
        ? action
        : { ...action, "x-ms-lease-break-period": String(asked.seconds) };
    default:
      return { ...action, "x-ms-lease-id": asked.id };
  }
}

const ELEMENTS = { committed: "Committed", uncommitted: "Uncommitted", latest: "Latest" };

function blockListXml({ blocks }: Extract<BlobAsked, { operation: "commit" }>): Buffer {
  const items = blocks.map(({ id, from }) => `<${ELEMENTS[from]}>${id}</${ELEMENTS[from]}>`);
  return Buffer.from(`<BlockList>${items.join("")}</BlockList>`);
}

function answerOf(asked: BlobAsked, response: IncomingMessage, body: Buffer): BlobAnswer {
  const { statusCode = 0, headers } = response;
  const header = (name: string) => (headers[name] as string | undefined) ?? null;
  if (statusCode >= 300) return { refused: `${statusCode} ${header("x-ms-error-code") ?? ""}` };
  if (asked.operation === "list") return { ...EMPTY_ANSWER, listed: listedIn(body.toString()) };
  // The answers of Put Block and Delete Blob have no properties, so they are not compared.
  if (asked.operation === "stage" || asked.operation === "delete") return EMPTY_ANSWER;
  const modified = header("last-modified");
  const number = (name: string) => (header(name) === null ? null : Number(header(name)));
  const done: BlobDone = {
    ...EMPTY_ANSWER,
    etag: header("etag")?.replaceAll('"', "") ?? null,
    modifiedMs: modified === null ? null : Date.parse(modified),
    leaseId: header("x-ms-lease-id"),
    offset: number("x-ms-blob-append-offset"),
    secondsLeft: number("x-ms-lease-time"),
    snapshot: header("x-ms-snapshot"),
    sequence: number("x-ms-blob-sequence-number"),
  };
  if (!READS.has(asked.operation)) return done;
  const found: Found = {
    type: typeOf(header("x-ms-blob-type")),
    write: header("x-ms-meta-write") ?? "",
    length: Number(header("content-length")),
    // Snapshots cannot be leased, and have no lease headers.
    lease: (header("x-ms-lease-state") ?? "available") as LeaseState,
  };
  return { ...done, found, pieces: asked.operation === "head" ? null : piecesIn(body) };
}

const READS = new Set<BlobAsked["operation"]>(["get", "head", "get-snapshot"]);

const TYPES: Readonly<Record<string, BlobType>> = {
  BlockBlob: "block",
  AppendBlob: "append",
  PageBlob: "page",
};

function typeOf(name: string | null): BlobType {
  const type = TYPES[name ?? ""];
  if (type === undefined) throw new Error(`there is no ${name}`);
  return type;
}

function listedIn(xml: string): Record<string, Listed> {
  const listed: Record<string, Listed> = {};
  for (const [, blob = ""] of xml.matchAll(/<Blob>(.*?)<\/Blob>/gs)) {
    const text = (name: string) => new RegExp(`<${name}>([^<]*)<`, "i").exec(blob)?.[1] ?? "";
    listed[text("Name")] = {
      type: typeOf(text("BlobType")),
      etag: text("Etag"),
      write: text("write"),
      modifiedMs: Date.parse(text("Last-Modified")),
      length: Number(text("Content-Length")),
      lease: text("LeaseState") as LeaseState,
    };
  }
  return listed;
}
