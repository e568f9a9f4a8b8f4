import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import { type Bytes, NO_BYTES } from "../base/bytes.ts";
import { Fault } from "../base/fault.ts";
import { sharedKeyHeader } from "../front/rest/auth/shared-key.ts";
import { MacKey } from "../front/rest/auth/signature.ts";
import { parseQuery } from "../front/rest/http/query.ts";
import { parseXml, type XmlElement } from "../front/rest/xml/parse-xml.ts";
import type { AccountAddress } from "./account-address.ts";
import { type Answer, answerOf, judgeAnswer } from "./answer.ts";
import { gathered } from "./gathered.ts";
import type { Body, ServiceKind } from "./item.ts";
import { readPipeline, renderPipeline } from "./pipelined.ts";
import { TransferError } from "./transfer-error.ts";

/**
 * The version that requests ask for. Emulators of some years know it; only what is never sent to
 * them uses a newer one.
 */
const VERSION = "2021-08-06";
/** The first version with dots at the end of names of files. */
const FILE_VERSION = "2022-11-02";
const TRIES = 5;
/** Answers and errors after which the server has done nothing. */
const REFUSED = [429, 503];
const NOT_CONNECTED = ["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"];
const FIRST_PAUSE_MS = 200;
/** No byte for this long: the server has gone. */
const SILENCE_MS_MAX = 60_000;
/** Bodies up to this length are read before they are sent. */
const GATHERED_BYTES_MAX = 256 * 1024;

export type Headers = Readonly<Record<string, string>>;

export interface Asked {
  readonly service: ServiceKind;
  readonly method: "DELETE" | "GET" | "HEAD" | "MERGE" | "PATCH" | "POST" | "PUT";
  /** Container, queue, table or share, and the name in it; unencoded. */
  readonly path: string;
  /** As it stands in the URL: for tables, whose paths have parentheses and quotes. */
  readonly isEncoded?: boolean;
  readonly query?: Headers;
  readonly headers?: Headers;
  readonly body?: Bytes | Body;
  /** The caller reads the body of the answer as it arrives. */
  readonly streams?: boolean;
  /** Refusals that the caller expects, by their code or status; they are answers then. */
  readonly expects?: readonly (string | number)[];
  /** False if it must not be executed twice: it is repeated only if it was not done. */
  readonly isRepeatable?: boolean;
}

interface Base {
  readonly base: URL;
  /** The path of the account, without a slash at its end. */
  readonly root: string;
}

/** A request whose body is in memory. */
interface WholeAsked extends Asked {
  readonly body?: Bytes;
}

interface RequestHead {
  readonly path: string;
  readonly query: string;
  /** Path and query. */
  readonly target: string;
  readonly version: string;
  readonly headers: Headers;
}

/** What came of a request that was sent together with others. */
export type Together = Answer | TransferError;

/** A client of one account: signs requests, and tries again what failed for a moment. */
export class RestClient {
  readonly address: AccountAddress;
  readonly #key: MacKey | null;
  readonly #bases = new Map<ServiceKind, Base>();
  readonly #agents: readonly [http.Agent, https.Agent];
  #isOurs: Promise<boolean> | null = null;
  #takesPipelines = true;

  /** A server on this machine may have a certificate for other names: `isLocal`. */
  constructor(address: AccountAddress, connectionsMax: number, isLocal = false) {
    this.address = address;
    const { credentials } = address;
    this.#key = "key" in credentials ? new MacKey(Buffer.from(credentials.key, "base64")) : null;
    const options = { keepAlive: true, maxSockets: connectionsMax, scheduling: "lifo" } as const;
    this.#agents = [
      new http.Agent(options),
      new https.Agent({ ...options, rejectUnauthorized: !isLocal }),
    ];
  }

  has(service: ServiceKind): boolean {
    return this.address.urls[service] !== undefined;
  }

  /** Whether the server is one of ours, and the key permits what only those can do. */
  isOurs(service: ServiceKind): Promise<boolean> {
    if (this.#key === null) return Promise.resolve(false);
    this.#isOurs ??= this.#askWhose(service);
    return this.#isOurs;
  }

  async #askWhose(service: ServiceKind): Promise<boolean> {
    const query = { restype: "service", comp: "properties" };
    const expects = [400, 403, 404, 501];
    const answer = await this.request({ service, method: "GET", path: "", query, expects });
    return answer.header("server")?.startsWith("Lazuli/") === true;
  }

  close(): void {
    for (const agent of this.#agents) agent.destroy();
  }

  async request(asked: Asked): Promise<Answer> {
    const { isRepeatable = true } = asked;
    let isRepeated = false;
    for (let tries = 1; ; tries++) {
      let reason: string;
      let mayBeDone = true;
      try {
        const answer = await this.#sendOnce(asked);
        const verdict = judgeAnswer(asked, answer);
        if (!("again" in verdict)) return isRepeated ? { ...verdict, isRepeated } : verdict;
        reason = verdict.again;
        mayBeDone = !REFUSED.includes(answer.status);
      } catch (error) {
        if (error instanceof TransferError) throw error;
        const { code = "", message } = error as NodeJS.ErrnoException;
        reason = message || code;
        mayBeDone = !NOT_CONNECTED.includes(code);
      }
      isRepeated ||= mayBeDone;
      if (mayBeDone && !isRepeatable) throw unsure(asked, reason);
      if (tries === TRIES) throw unreachable(asked, this.#origin(asked.service), reason);
      // tidy-allow sleep: a server that is busy or starts again needs some time
      await pause(FIRST_PAUSE_MS * 2 ** (tries - 1));
    }
  }

  /**
   * Sends small requests to blobs of one container, with which a server of ours deals in one
   * exchange. Any that fail for a moment, or all if it does not, are sent again one by one.
   */
  async together(container: string, asked: readonly Asked[]): Promise<Together[]> {
    const whole = await Promise.all(asked.map(withWholeBody));
    const sent = whole.filter((one) => !(one instanceof TransferError)) as WholeAsked[];
    const answers = sent.length > 0 ? await this.#pipeline(container, sent) : [];
    let at = 0;
    return Promise.all(
      whole.map((one) => {
        if (one instanceof TransferError) return one;
        const answer = answers?.[at++];
        return answer === undefined ? this.#settled(one) : this.#judged(one, answer);
      }),
    );
  }

  async #pipeline(container: string, asked: readonly WholeAsked[]): Promise<Answer[] | null> {
    if (!this.#takesPipelines) return null;
    const requests = asked.map((one) => {
      const { target, headers } = this.#headOf(one);
      return { method: one.method, target, headers, body: one.body ?? NO_BYTES };
    });
    try {
      const answer = await this.#sendOnce({
        service: "blob",
        method: "POST",
        path: container,
        query: { restype: "container", comp: "lazuli-pipeline" },
        headers: { "Content-Type": "application/http" },
        body: renderPipeline(requests, this.#baseOf("blob").base.host),
      });
      // An earlier version does not know them.
      if (answer.status === 400) this.#takesPipelines = false;
      return answer.status === 200 ? readPipeline(answer.bytes, asked.length) : null;
    } catch {
      // Each finds out by itself what is wrong.
      return null;
    }
  }

  #judged(asked: Asked, answer: Answer): Answer | TransferError | Promise<Together> {
    try {
      const verdict = judgeAnswer(asked, answer);
      return "again" in verdict ? this.#settled(asked) : verdict;
    } catch (error) {
      if (error instanceof TransferError) return error;
      throw error;
    }
  }

  async #settled(asked: Asked): Promise<Together> {
    try {
      return await this.request(asked);
    } catch (error) {
      if (error instanceof TransferError) return error;
      throw error;
    }
  }

  /** The document in the answer. */
  async xml(asked: Asked): Promise<XmlElement> {
    return documentOf(asked, await this.request(asked));
  }

  #origin(service: ServiceKind): string {
    const url = this.address.urls[service];
    if (url === undefined) {
      throw new TransferError(`The account ${this.address.name} has no ${service} endpoint.`);
    }
    return url;
  }

  /** The URL of a service, parsed once. */
  #baseOf(service: ServiceKind): Base {
    const known = this.#bases.get(service);
    if (known !== undefined) return known;
    const base = new URL(this.#origin(service));
    const found = { base, root: base.pathname.replace(/\/$/, "") };
    this.#bases.set(service, found);
    return found;
  }

  async #sendOnce(asked: Asked): Promise<Answer> {
    const response = await this.#send(asked);
    const isStream = asked.streams === true && (response.statusCode ?? 0) < 300;
    // A connection is free again when its answer is read.
    return answerOf(response, isStream ? NO_BYTES : await collected(response));
  }

  #headOf(asked: Asked): RequestHead {
    const { service, query = {} } = asked;
    const { root } = this.#baseOf(service);
    const name = asked.isEncoded === true ? asked.path : encodePath(asked.path);
    const path = name === "" ? root || "/" : `${root}/${name}`;
    const { credentials } = this.address;
    const pairs: string[] = [];
    for (const key in query) pairs.push(`${key}=${encodeURIComponent(query[key] as string)}`);
    if ("sas" in credentials) pairs.push(credentials.sas);
    const queryText = pairs.join("&");
    const version = service === "file" ? FILE_VERSION : VERSION;
    const headers = { "x-ms-version": version, ...asked.headers };
    const target = queryText === "" ? path : `${path}?${queryText}`;
    return { path, query: queryText, target, version, headers };
  }

  async #send(asked: Asked): Promise<http.IncomingMessage> {
    const { service, method, body } = asked;
    const { base } = this.#baseOf(service);
    const { path, query, target, version, headers: given } = this.#headOf(asked);
    const length = body === undefined ? 0 : Buffer.isBuffer(body) ? body.length : body.bytes;
    const headers: Record<string, string> = {
      "x-ms-date": new Date().toUTCString(),
      ...(service === "file" ? { "x-ms-allow-trailing-dot": "true" } : {}),
      ...(method === "PUT" || method === "POST" || method === "MERGE" || method === "PATCH"
        ? { "Content-Length": `${length}` }
        : {}),
      ...given,
    };
    if (this.#key !== null) {
      const signed = {
        method,
        path,
        query: parseQuery(query),
        headers: signedFrom(headers),
        version,
      };
      const own = { accountName: this.address.name, key: this.#key };
      headers.Authorization = sharedKeyHeader(signed, service, own);
    }
    const streamed = isStreamed(body) ? body : null;
    const whole = streamed !== null || body === undefined ? undefined : await wholeOf(body);
    const isSecure = base.protocol === "https:";
    const request = (isSecure ? https : http).request({
      agent: this.#agents[isSecure ? 1 : 0],
      hostname: base.hostname.replace(/^\[|\]$/g, ""),
      ...(base.port === "" ? {} : { port: base.port }),
      method,
      path: target,
      headers,
      timeout: SILENCE_MS_MAX,
    });
    request.on("timeout", () => request.destroy(new Error("no answer in time")));
    // An error behind the answer reaches whoever reads the body.
    const response = new Promise<http.IncomingMessage>((resolve, reject) => {
      request.on("response", resolve);
      request.on("error", reject);
    });
    if (streamed === null) {
      request.end(whole);
      return response;
    }
    response.catch(() => {});
    await sendBody(request, streamed, response);
    return response;
  }
}

/** The document in an answer. */
export function documentOf({ method, service, path }: Asked, { bytes }: Answer): XmlElement {
  try {
    return parseXml(bytes, { keepLineEnds: true });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const what = `${method} ${service} ${path}`;
    throw new TransferError(`The answer to ${what} cannot be read: ${error.detail.Reason}`);
  }
}

async function withWholeBody(asked: Asked): Promise<WholeAsked | TransferError> {
  const { body, ...others } = asked;
  try {
    return body === undefined ? others : { ...others, body: await wholeOf(body) };
  } catch (error) {
    if (error instanceof TransferError) return error;
    throw error;
  }
}

/** A small body, which goes out in one write with the head of the request. */
function wholeOf(body: Bytes | Body): Bytes | Promise<Bytes> {
  return Buffer.isBuffer(body) ? body : gathered(body);
}

function isStreamed(body: Asked["body"]): body is Body {
  return body !== undefined && !Buffer.isBuffer(body) && body.bytes > GATHERED_BYTES_MAX;
}

/** Stops sending if the server answers before it has everything. */
async function sendBody(
  request: http.ClientRequest,
  body: Body,
  response: Promise<unknown>,
): Promise<void> {
  let isOver = false;
  const over = response.then(
    () => {
      isOver = true;
    },
    () => {
      isOver = true;
    },
  );
  try {
    for await (const part of body.read()) {
      if (isOver) return;
      if (!request.write(part)) await Promise.race([once(request, "drain"), over]);
    }
    request.end();
  } catch (error) {
    // The server sees a request that broke off, and stores nothing of it.
    request.destroy();
    throw error;
  }
}

function signedFrom(headers: Headers) {
  const raw: string[] = [];
  const lower = new Map<string, string>();
  for (const name in headers) {
    const value = headers[name] as string;
    raw.push(name, value);
    lower.set(name.toLowerCase(), value);
  }
  return { raw, get: (name: string) => lower.get(name) };
}

/** Most paths need no encoding. */
const PLAIN_PATH = /^(?:[\w-][\w.-]*\/)*[\w-][\w.-]*$/;

/** Encodes each segment. A segment of dots would be taken for a step up by some servers. */
function encodePath(path: string): string {
  if (PLAIN_PATH.test(path)) return path;
  return path
    .split("/")
    .map((part) =>
      /^\.{1,2}$/.test(part) ? part.replaceAll(".", "%2E") : encodeURIComponent(part),
    )
    .join("/");
}

/** The whole body. Most answers to writes have none. */
function collected(response: http.IncomingMessage): Promise<Bytes> {
  const parts: Bytes[] = [];
  return new Promise((resolve, reject) => {
    response.on("data", (part: Bytes) => parts.push(part));
    response.on("end", () => resolve(parts.length === 0 ? NO_BYTES : Buffer.concat(parts)));
    response.on("error", reject);
    response.on("close", () => reject(new Error("the connection was closed")));
  });
}

function unsure({ method, service, path }: Asked, reason: string): TransferError {
  return new TransferError(
    `Nobody knows whether ${method} ${service} ${path} was executed (${reason}). It is not sent ` +
      "again, because it could be done twice. Look at the target.",
  );
}

function unreachable(asked: Asked, url: string, reason: string): TransferError {
  return new TransferError(
    `${new URL(url).origin} does not answer ${asked.method} ${asked.service} ${asked.path} ` +
      `(${reason}). Check that the server runs there.`,
  );
}
