import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import { Agent as SecureAgent, request as secureRequest } from "node:https";
import { rootCertificates } from "node:tls";
import type { Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { S3Failure } from "./s3-failure.ts";
import type { S3Place } from "./s3-place.ts";
import { elementText } from "./s3-xml.ts";

/** Signs requests: `AwsV4Signer` of aws4fetch. */
export type Signer = typeof import("aws4fetch").AwsV4Signer;

export interface S3Request {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  /** The name of the object, prefix included; empty for the bucket. */
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Bytes;
  /** Takes the bytes of an answer with status 206; `begin` refuses an answer by throwing. */
  readonly sink?: ByteSink;
}

export interface ByteSink {
  begin(headers: IncomingHttpHeaders): void;
  take(part: Bytes): void;
}

export interface S3Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Empty if a sink has taken the bytes. */
  readonly body: Bytes;
}

export interface RequestLimits {
  /** How long a connection may be silent during a request. */
  readonly silentMsMax: number;
  readonly connectionsMax: number;
}

/** An answer that is no object is a short XML text. */
const TEXT_BYTES_MAX = 8 * MIB;
const NO_BODY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/** Covered by TLS, which has checksums of its own. */
const UNSIGNED = "UNSIGNED-PAYLOAD";

/**
 * Sends signed requests to one bucket and retries nothing. Without TLS the signature also covers
 * the body, so that the store refuses bytes that were damaged on their way.
 */
export class S3Requests {
  readonly #place: S3Place;
  readonly #Signer: Signer;
  readonly #limits: RequestLimits;
  readonly #now: () => number;
  readonly #agent: Agent;
  readonly #isSecure: boolean;
  /** Keys that were derived for signatures, one for each day. */
  readonly #derivedKeys = new Map<string, ArrayBuffer>();
  /** How far the store's clock is ahead of ours. Signatures are made at the store's time. */
  #aheadMs = 0;

  constructor(place: S3Place, Signer: Signer, limits: RequestLimits, now: () => number) {
    this.#place = place;
    this.#Signer = Signer;
    this.#limits = limits;
    this.#now = now;
    this.#isSecure = place.endpoint.protocol === "https:";
    const options = { keepAlive: true, maxSockets: limits.connectionsMax };
    const { authorities } = place;
    this.#agent = this.#isSecure
      ? new SecureAgent({
          ...options,
          ...(authorities === null ? {} : { ca: [...rootCertificates, authorities] }),
        })
      : new Agent(options);
  }

  /** Sends a request once. Throws an `S3Failure` unless the status is a success. */
  async send(asked: S3Request): Promise<S3Answer> {
    const { url, headers } = await this.#signed(asked);
    const answer = await this.#exchange(asked, url, headers);
    if (answer.status >= 200 && answer.status < 300) return answer;
    throw this.#failureOf(answer);
  }

  close(): void {
    this.#agent.destroy();
  }

  async #signed({ method, name, query = {}, headers = {}, body }: S3Request) {
    const url = this.#urlOf(name);
    for (const [key, value] of Object.entries(query)) url.searchParams.set(key, value);
    const { credentials, region } = this.#place;
    if (this.#derivedKeys.size > 4) this.#derivedKeys.clear();
    const signer = new this.#Signer({
      method,
      url: url.href,
      headers: { ...headers, "x-amz-content-sha256": await this.#bodyHash(body) },
      ...credentials,
      sessionToken: credentials.sessionToken ?? "",
      service: "s3",
      region,
      cache: this.#derivedKeys,
      datetime: new Date(this.#now() + this.#aheadMs).toISOString().replace(/[:-]|\.\d{3}/g, ""),
    });
    const signed = await signer.sign();
    return { url: signed.url, headers: Object.fromEntries(signed.headers) };
  }

  async #bodyHash(body: Bytes | undefined): Promise<string> {
    if (this.#isSecure) return UNSIGNED;
    if (body === undefined) return NO_BODY;
    // Not by `createHash`: a part of several MiB would hold up the event loop.
    return Buffer.from(await crypto.subtle.digest("SHA-256", body)).toString("hex");
  }

  #urlOf(name: string): URL {
    const { endpoint, bucket, isPathStyle } = this.#place;
    const url = new URL(endpoint);
    const folder = endpoint.pathname.replace(/\/$/, "");
    if (isPathStyle) {
      url.pathname = `${folder}/${bucket}/${name}`;
    } else {
      url.hostname = `${bucket}.${endpoint.hostname}`;
      url.pathname = `${folder}/${name}`;
    }
    return url;
  }

  #exchange(asked: S3Request, url: URL, headers: Record<string, string>): Promise<S3Answer> {
    const { method, body, sink } = asked;
    const ask = this.#isSecure ? secureRequest : request;
    return new Promise((resolve, reject) => {
      const failed = (error: unknown) => reject(failureOf(error));
      const length = { "content-length": String(body?.length ?? 0) };
      const sent = ask(url, {
        method,
        agent: this.#agent,
        headers: method === "PUT" || method === "POST" ? { ...headers, ...length } : headers,
      });
      sent.setTimeout(this.#limits.silentMsMax, () =>
        sent.destroy(new S3Failure("unreachable", "the object store does not answer")),
      );
      sent.on("error", failed);
      sent.on("response", (answer) => {
        readAnswer(answer, sink).then(resolve, (error) => {
          sent.destroy();
          failed(error);
        });
      });
      sent.end(body);
    });
  }

  #failureOf({ status, headers, body }: S3Answer): S3Failure {
    const code = codeIn(body.toString("utf8")) ?? "";
    const said = `the object store answered ${status}${code === "" ? "" : ` (${code})`}`;
    if (code === "RequestTimeTooSkewed") {
      const theirMs = Date.parse(headers.date ?? "");
      if (!Number.isNaN(theirMs)) this.#aheadMs = theirMs - this.#now();
      return new S3Failure("busy", said, { status, code });
    }
    if (status === 507 || FULL_CODES.includes(code)) {
      return new S3Failure("full", said, { status, code });
    }
    if (status >= 500 || status === 429 || BUSY_CODES.includes(code)) {
      return new S3Failure("busy", said, { status, code });
    }
    const isS3 = code !== "" || body.length === 0;
    return new S3Failure(isS3 ? "refused" : "garbage", said, { status, code });
  }
}

/** Answers below 500 to a request that may succeed when it is sent again. */
const BUSY_CODES: readonly string[] = [
  "RequestTimeout",
  "OperationAborted",
  "ConditionalRequestConflict",
  "BadDigest",
  "XAmzContentSHA256Mismatch",
];

const FULL_CODES: readonly string[] = ["QuotaExceeded", "XMinioStorageFull"];

function codeIn(xml: string): string | null {
  return xml.includes("<Error>") ? elementText(xml, "Code") : null;
}

async function readAnswer(answer: IncomingMessage, sink: ByteSink | undefined): Promise<S3Answer> {
  const { statusCode: status = 0, headers } = answer;
  const isForSink = sink !== undefined && status === 206;
  if (isForSink) sink.begin(headers);
  const parts: Bytes[] = [];
  let bytes = 0;
  for await (const part of answer as AsyncIterable<Bytes>) {
    if (isForSink) {
      sink.take(part);
      continue;
    }
    parts.push(part);
    bytes += part.length;
    if (bytes > TEXT_BYTES_MAX) throw new S3Failure("garbage", "the answer has too many bytes");
  }
  return { status, headers, body: Buffer.concat(parts) };
}

function failureOf(error: unknown): S3Failure {
  if (error instanceof S3Failure) return error;
  const { code = "", message } = error as NodeJS.ErrnoException;
  // The parser of node:http names what it does not understand.
  if (code.startsWith("HPE_")) {
    const what = `the object store's answer is not HTTP (${code})`;
    return new S3Failure("garbage", what, { code }, { cause: error });
  }
  const why = code === "" ? message : code;
  const what = `the connection to the object store failed (${why})`;
  return new S3Failure("unreachable", what, { code: why }, { cause: error });
}
