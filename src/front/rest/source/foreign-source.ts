import type { IncomingMessage } from "node:http";
import type { ByteRange } from "../../../base/byte-range.ts";
import type { Body, Bytes } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import type { Conditions, SourceRole } from "../../../rules/conditions.ts";
import type { CustomerKey } from "../../../rules/encryption.ts";
import type { ForeignSource, OpenedSource, SourceObject } from "../../../service/shared/source.ts";
import { sentKeyHeaders } from "../customer-key.ts";
import type { SourceGuard } from "./allowed-sources.ts";
import { cannotVerifyAnswer } from "./cannot-verify.ts";
import { copyFailure } from "./copy-failure.ts";
import { objectOf } from "./foreign-object.ts";
import { ForbiddenAddress, sendGuarded } from "./guarded-request.ts";
import { publicUrl, type SourceUrl } from "./source-url.ts";

/** Limits on a source on another server. */
export interface ForeignLimits {
  readonly bytesMax: number;
  /** Time limit for the response headers. */
  readonly answerMs: number;
  /** How often progress is checked, and how many bytes must have arrived since the last check. */
  readonly paceMs: number;
  readonly paceBytesMin: number;
  /** Time limit for all bytes. */
  readonly totalMs: number;
}

/** What the client says about a source elsewhere. */
export interface ForeignAsked {
  /** Sent unchanged: the client meant it for this source. */
  readonly authorization: string | null;
  /** The key that the source is encrypted with. It is sent there, as a token is. */
  readonly key?: CustomerKey | null;
  readonly conditions: Conditions;
  readonly role: SourceRole;
  readonly version: string;
}

export interface ForeignSetup extends ForeignAsked {
  readonly url: SourceUrl;
  readonly guard: SourceGuard;
  readonly limits: ForeignLimits;
}

/** An object on another server. Only what the client said about it is sent there. */
export class HttpSource implements ForeignSource {
  readonly kind = "foreign";
  readonly url: string;
  readonly #setup: ForeignSetup;

  constructor(setup: ForeignSetup) {
    this.url = publicUrl(setup.url);
    this.#setup = setup;
  }

  async look(): Promise<SourceObject> {
    const answer = await this.#ask("HEAD", conditionHeaders(this.#setup.conditions));
    answer.destroy();
    return this.#checked(objectOf(answer, answer.headers["content-length"]));
  }

  async open(range: ByteRange | null, etag: string | null): Promise<OpenedSource> {
    const headers = etag === null ? conditionHeaders(this.#setup.conditions) : { "if-match": etag };
    if (range !== null) headers.range = `bytes=${range.from}-${range.to ?? ""}`;
    const answer = await this.#ask("GET", headers);
    try {
      if (range !== null && answer.statusCode !== 206) throw noRanges();
      const total = answer.headers["content-range"]?.split("/")[1];
      const object = this.#checked(objectOf(answer, total ?? answer.headers["content-length"]));
      const body = new AnswerBody(answer, this.#setup.limits);
      return { ...object, body, close: () => body.close() };
    } catch (error) {
      answer.destroy();
      throw error;
    }
  }

  failure(error: unknown): string {
    return copyFailure(error);
  }

  #checked(object: SourceObject): SourceObject {
    const { bytesMax } = this.#setup.limits;
    if (object.length <= bytesMax) return object;
    throw new Fault("RequestBodyTooLarge", { MaxLimit: String(bytesMax) });
  }

  async #ask(method: string, more: Record<string, string>): Promise<IncomingMessage> {
    const { authorization, key = null, version } = this.#setup;
    const headers: Record<string, string> = { ...more, "x-ms-version": version };
    if (authorization !== null) headers.authorization = authorization;
    if (key !== null) Object.assign(headers, sentKeyHeaders(key));
    const answer = await this.#send(method, headers);
    const status = answer.statusCode ?? 0;
    if (status === 200 || status === 206) return answer;
    answer.destroy();
    throw refusalOf(answer, status, this.#setup.role);
  }

  async #send(method: string, headers: Record<string, string>): Promise<IncomingMessage> {
    const { url, guard, limits } = this.#setup;
    const { secure, authority } = url;
    const target = url.query === "" ? url.path : `${url.path}?${url.query}`;
    const { answerMs } = limits;
    try {
      return await sendGuarded({ secure, authority, target, method, headers, guard, answerMs });
    } catch (error) {
      throw error instanceof ForbiddenAddress ? privateAddress(error) : unreachable(error as Error);
    }
  }
}

function privateAddress({ message }: ForbiddenAddress): Fault {
  return new Fault("CopySourceForbidden", {
    Reason:
      `${message}. If that is meant, add its ` +
      `network to "copySources.networks" in the configuration file (--config).`,
  });
}

function unreachable(error: Error): Fault {
  return new Fault("CannotVerifyCopySource", {
    Reason: `The source could not be reached (${error.message}). Try again, or check its URL.`,
  });
}

function noRanges(): Fault {
  return new Fault("CopySourceInvalid", {
    Reason: "The source's server does not serve ranges: copy all of it.",
  });
}

function refusalOf({ headers }: IncomingMessage, status: number, role: SourceRole): Fault {
  const isUnmet = status === 304 || status === 412;
  if (isUnmet && role === "copied") return new Fault("SourceConditionNotMet");
  if (status === 416) return new Fault("InvalidRange");
  const code = headers["x-ms-error-code"];
  const redirects = status >= 300 && status < 400 && !isUnmet;
  const message = redirects
    ? "The source has moved, and nobody follows it: copy from where it is now."
    : `The source's server answered with status ${status}.`;
  return cannotVerifyAnswer(status, typeof code === "string" ? code : "", message);
}

function conditionHeaders(conditions: Conditions): Record<string, string> {
  const { ifMatch, ifNoneMatch, ifModifiedSinceMs, ifUnmodifiedSinceMs } = conditions;
  const headers: Record<string, string> = {};
  if (ifMatch !== null) headers["if-match"] = ifMatch.map(quoted).join(", ");
  if (ifNoneMatch !== null) headers["if-none-match"] = ifNoneMatch.map(quoted).join(", ");
  if (ifModifiedSinceMs !== null) headers["if-modified-since"] = rfc1123(ifModifiedSinceMs);
  if (ifUnmodifiedSinceMs !== null) headers["if-unmodified-since"] = rfc1123(ifUnmodifiedSinceMs);
  return headers;
}

function quoted(etag: string): string {
  return etag === "*" || etag.startsWith("W/") ? etag : `"${etag}"`;
}

/** The body of a response, cut off if it is too slow. */
class AnswerBody implements Body {
  readonly length: number;
  readonly #answer: IncomingMessage;
  readonly #limits: ForeignLimits;

  constructor(answer: IncomingMessage, limits: ForeignLimits) {
    this.length = Number(answer.headers["content-length"]);
    this.#answer = answer;
    this.#limits = limits;
  }

  async drain(take: (part: Bytes) => void | Promise<void>): Promise<void> {
    let came = 0;
    const watch = this.#watch(() => came);
    try {
      for await (const part of this.#answer as AsyncIterable<Bytes>) {
        came += part.length;
        await take(part);
      }
    } catch (error) {
      throw error instanceof Fault ? error : unreachable(error as Error);
    } finally {
      clearInterval(watch);
    }
    if (came !== this.length) throw unreachable(new Error(`it ended after ${came} bytes`));
  }

  close(): void {
    this.#answer.destroy();
  }

  #watch(came: () => number): NodeJS.Timeout {
    const { paceMs, paceBytesMin, totalMs } = this.#limits;
    let seen = 0;
    let passedMs = 0;
    return setInterval(() => {
      passedMs += paceMs;
      const moved = came() - seen;
      seen += moved;
      if (moved < paceBytesMin || passedMs >= totalMs) {
        this.#answer.destroy(new Error("it is too slow"));
      }
    }, paceMs).unref();
  }
}
