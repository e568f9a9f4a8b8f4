import type { Bytes } from "../../base/bytes.ts";
import { StoreError, type StoreErrorKind } from "../../store/store.ts";
import { RangeSink } from "./range-sink.ts";
import { S3Failure } from "./s3-failure.ts";
import type { S3Answer, S3Request } from "./s3-requests.ts";
import { elements, elementText } from "./s3-xml.ts";

/** Sends one request and fails with an `S3Failure`: `S3Requests`, or a stand-in of a test. */
export interface Sends {
  send(asked: S3Request): Promise<S3Answer>;
  close(): void;
}

/** Waits between two attempts; tests bring their own. */
export type Pause = (ms: number) => Promise<void>;

export interface Retrying {
  /** Attempts of one request. */
  readonly attemptsMax: number;
  /** No further attempt begins after this long. */
  readonly msMax: number;
  readonly pause: Pause;
  readonly now: () => number;
}

const FIRST_PAUSE_MS = 50;
const PAUSE_MS_MAX = 2_000;

/** Names the process that made an object, so that a repeated request knows its own work. */
const MAKER_HEADER = "x-amz-meta-lazuli-maker";

export interface ListedObject {
  readonly name: string;
  readonly bytes: number;
}

/** An upload in parts that was begun and not completed. */
export interface UnfinishedUpload {
  readonly name: string;
  readonly uploadId: string;
}

/** Objects of one bucket. Each call retries for a while, then fails with a `StoreError`. */
export class S3Objects {
  /** The bucket and prefix, for messages. */
  readonly url: string;
  readonly #requests: Sends;
  readonly #retrying: Retrying;
  readonly #maker: string;

  constructor(url: string, requests: Sends, retrying: Retrying, maker: string) {
    this.url = url;
    this.#requests = requests;
    this.#retrying = retrying;
    this.#maker = maker;
  }

  /** Creates an object in one request. Fails if another process has made one with this name. */
  async create(name: string, body: Bytes): Promise<void> {
    const headers = { "if-none-match": "*", [MAKER_HEADER]: this.#maker };
    try {
      await this.#send({ method: "PUT", name, headers, body }, requireEtag);
    } catch (error) {
      // An earlier attempt may have made it although its answer was lost.
      if (statusIn(error) === 412 && (await this.#isOurs(name, body.length))) return;
      throw error;
    }
  }

  /**
   * Begins an upload in parts and returns its id. The object appears when it is completed. Fails if
   * there is one with this name.
   */
  async beginUpload(name: string): Promise<string> {
    // Some stores ignore the condition of the last request, so this one looks before.
    if ((await this.#head(name)) !== null) throw this.#takenError(name);
    const headers = { [MAKER_HEADER]: this.#maker };
    const asked: S3Request = { method: "POST", name, query: { uploads: "" }, headers };
    return this.#send(asked, ({ body }) => required(elementText(text(body), "UploadId")));
  }

  /** Uploads a part, numbered from 1, and returns its tag. */
  putPart(name: string, uploadId: string, part: number, body: Bytes): Promise<string> {
    const query = { partNumber: String(part), uploadId };
    return this.#send({ method: "PUT", name, query, body }, requireEtag);
  }

  /** Makes the object of these parts. Fails if another process has made one with this name. */
  async completeUpload(
    name: string,
    uploadId: string,
    tags: readonly string[],
    bytes: number,
  ): Promise<void> {
    const headers = { "if-none-match": "*" };
    const body = Buffer.from(completion(tags));
    try {
      await this.#send({ method: "POST", name, query: { uploadId }, headers, body }, (answer) =>
        // An answer that begins as a success may end as an error.
        required(elementText(text(answer.body), "ETag")),
      );
    } catch (error) {
      const isGone = statusIn(error) === 404 || statusIn(error) === 412;
      if (isGone && (await this.#isOurs(name, bytes))) return;
      throw error;
    }
  }

  /** Gives up an upload in parts; does nothing if it is over. */
  abortUpload(name: string, uploadId: string): Promise<void> {
    return this.#sendUnlessGone({ method: "DELETE", name, query: { uploadId } });
  }

  /** Deletes an object; does nothing if there is none. */
  delete(name: string): Promise<void> {
    return this.#sendUnlessGone({ method: "DELETE", name });
  }

  /** Deletes an object if this process has made it: a failed request may have. */
  async deleteOwn(name: string): Promise<void> {
    const found = await this.#head(name);
    if (found?.maker === this.#maker) await this.delete(name);
  }

  /** The size of an object; null if there is none. */
  async size(name: string): Promise<number | null> {
    const found = await this.#head(name);
    return found === null ? null : found.bytes;
  }

  /**
   * Fills `into` with the bytes of an object from an offset on. After a lost connection it goes on
   * where it was. False if there is no such object, or it is too short.
   */
  async read(name: string, offset: number, into: Bytes): Promise<boolean> {
    const sink = new RangeSink(offset, into);
    try {
      await this.#retry(async () => {
        if (sink.isFull) return;
        const headers = { range: sink.nextRange() };
        await this.#requests.send({ method: "GET", name, headers, sink });
        if (!sink.isFull) throw new S3Failure("garbage", "the object store sent too few bytes");
      });
      return true;
    } catch (error) {
      const status = statusIn(error);
      if (isMissingObject(error) || status === 416) return false;
      throw error;
    }
  }

  /** The text of a small object; null if there is none. */
  async readText(name: string): Promise<string | null> {
    try {
      return await this.#send({ method: "GET", name }, ({ body }) => text(body));
    } catch (error) {
      if (isMissingObject(error)) return null;
      throw error;
    }
  }

  /** Reads a small object once. Rejects if that fails, or there is none. */
  async probe(name: string): Promise<void> {
    try {
      await this.#requests.send({ method: "GET", name });
    } catch (error) {
      throw error instanceof S3Failure ? this.#storeError(error) : error;
    }
  }

  /** Objects whose names begin with this, in the order of their names, page by page. */
  list(start: string): AsyncIterable<readonly ListedObject[]> {
    return this.#pages({ "list-type": "2", prefix: start }, objectsIn);
  }

  /** Uploads in parts that are not completed, of objects whose names begin with this. */
  listUploads(start: string): AsyncIterable<readonly UnfinishedUpload[]> {
    return this.#pages({ uploads: "", prefix: start }, uploadsIn);
  }

  async *#pages<T>(
    query: Readonly<Record<string, string>>,
    read: (xml: string) => Page<T>,
  ): AsyncIterable<readonly T[]> {
    let next: Readonly<Record<string, string>> | null = {};
    while (next !== null) {
      const asked: S3Request = { method: "GET", name: "", query: { ...query, ...next } };
      const page: Page<T> = await this.#send(asked, ({ body }) => read(text(body)));
      yield page.items;
      next = page.next;
    }
  }

  close(): void {
    this.#requests.close();
  }

  /** Whether this process made the object: its name is taken, and a lost answer may be why. */
  async #isOurs(name: string, bytes: number): Promise<boolean> {
    const found = await this.#head(name);
    if (found === null) return false;
    if (found.maker === this.#maker && found.bytes === bytes) return true;
    throw this.#takenError(name);
  }

  #takenError(name: string): StoreError {
    return new StoreError(
      "broken",
      `${this.url}: another server has made ${name}. Give each store of records a prefix of its own`,
    );
  }

  async #head(name: string): Promise<{ bytes: number; maker: string } | null> {
    try {
      return await this.#send({ method: "HEAD", name }, ({ headers }) => ({
        bytes: Number(required(headers["content-length"])),
        maker: String(headers[MAKER_HEADER] ?? ""),
      }));
    } catch (error) {
      if (statusIn(error) === 404) return null;
      throw error;
    }
  }

  async #sendUnlessGone(asked: S3Request): Promise<void> {
    try {
      await this.#send(asked, () => {});
    } catch (error) {
      const code = failureIn(error)?.code;
      if (code !== "NoSuchKey" && code !== "NoSuchUpload") throw error;
    }
  }

  /** Sends a request until an answer can be read, or trying again is in vain. */
  #send<T>(asked: S3Request, read: (answer: S3Answer) => T): Promise<T> {
    return this.#retry(async () => read(await this.#requests.send(asked)));
  }

  async #retry<T>(attempt: () => Promise<T>): Promise<T> {
    const { attemptsMax, msMax, pause, now } = this.#retrying;
    const untilMs = now() + msMax;
    for (let attempts = 1; ; attempts++) {
      try {
        return await attempt();
      } catch (error) {
        if (!(error instanceof S3Failure)) throw error;
        const isLast = attempts >= attemptsMax || now() >= untilMs;
        if (!error.isPassing || isLast) throw this.#storeError(error);
        await pause(pauseMs(attempts));
      }
    }
  }

  #storeError(failure: S3Failure): StoreError {
    const message = `${this.url}: ${failure.message}`;
    return new StoreError(storeErrorKind(failure), message, { cause: failure });
  }
}

/** Refused for now: keys can be renewed, a bucket can be made. Then requests succeed again. */
const ACCESS_STATUSES: readonly number[] = [401, 403, 404];

function storeErrorKind({ kind, status }: S3Failure): StoreErrorKind {
  if (kind === "full") return "full";
  return kind !== "refused" || ACCESS_STATUSES.includes(status) ? "unreachable" : "broken";
}

/** Twice as long after each attempt, and a little different each time. */
function pauseMs(attempts: number): number {
  const ms = Math.min(FIRST_PAUSE_MS * 2 ** (attempts - 1), PAUSE_MS_MAX);
  return ms * (0.5 + Math.random() / 2);
}

/** The failed request behind an error, if it was one. */
export function failureIn(error: unknown): S3Failure | null {
  const cause = error instanceof StoreError ? error.cause : error;
  return cause instanceof S3Failure ? cause : null;
}

function statusIn(error: unknown): number {
  return failureIn(error)?.status ?? 0;
}

/** Not a missing bucket, which is another mistake. */
function isMissingObject(error: unknown): boolean {
  return failureIn(error)?.code === "NoSuchKey";
}

function requireEtag({ headers }: S3Answer): string {
  return required(headers.etag);
}

/** A page of a list, and the parameters that ask for the next one. */
interface Page<T> {
  readonly items: readonly T[];
  readonly next: Readonly<Record<string, string>> | null;
}

function objectsIn(xml: string): Page<ListedObject> {
  if (!xml.includes("<ListBucketResult")) throw notS3();
  const items = elements(xml, "Contents").map((one) => ({
    name: required(elementText(one, "Key")),
    bytes: Number(required(elementText(one, "Size"))),
  }));
  const token = elementText(xml, "NextContinuationToken");
  const hasMore = elementText(xml, "IsTruncated") === "true" && token !== null;
  return { items, next: hasMore ? { "continuation-token": token } : null };
}

function uploadsIn(xml: string): Page<UnfinishedUpload> {
  if (!xml.includes("<ListMultipartUploadsResult")) throw notS3();
  const items = elements(xml, "Upload").map((one) => ({
    name: required(elementText(one, "Key")),
    uploadId: required(elementText(one, "UploadId")),
  }));
  const key = elementText(xml, "NextKeyMarker");
  const hasMore = elementText(xml, "IsTruncated") === "true" && key !== null;
  const id = elementText(xml, "NextUploadIdMarker") ?? "";
  return { items, next: hasMore ? { "key-marker": key, "upload-id-marker": id } : null };
}

/** What an answer of S3 always has. */
function required(part: string | null | undefined): string {
  if (part === null || part === undefined) throw notS3();
  return part;
}

function notS3(): S3Failure {
  return new S3Failure("garbage", "what answered is not an S3 object store");
}

function text(body: Bytes): string {
  return body.toString("utf8");
}

function completion(tags: readonly string[]): string {
  const parts = tags.map(
    (tag, at) =>
      `<Part><PartNumber>${at + 1}</PartNumber><ETag>${tag.replaceAll('"', "&quot;")}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
}
