import { lookup as systemLookup } from "node:dns";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { SourceGuard } from "./allowed-sources.ts";

/** A request to another server. */
export interface GuardedRequest {
  readonly secure: boolean;
  /** Host and port, as in a Host header. */
  readonly authority: string;
  /** Path and query, percent-encoded. */
  readonly target: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly guard: SourceGuard;
  /** Time limit for the response headers. */
  readonly answerMs: number;
}

/** A name resolved to an address that the guard does not permit. */
export class ForbiddenAddress extends Error {
  readonly hostname: string;
  readonly address: string;

  constructor(hostname: string, address: string) {
    super(`${hostname} leads to ${address}, which is not on the internet`);
    this.hostname = hostname;
    this.address = address;
  }
}

/**
 * Sends a request and waits for the response headers. Follows no redirects. Rejects with a
 * `ForbiddenAddress` or with the network error.
 */
export function sendGuarded(asked: GuardedRequest): Promise<IncomingMessage> {
  const { secure, authority, guard, answerMs } = asked;
  const { hostname, port, host } = new URL(`http${secure ? "s" : ""}://${authority}`);
  const request = secure ? requestHttps : requestHttp;
  const literal = hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve, reject) => {
    const sent = request({
      method: asked.method,
      host: literal,
      port: port || (secure ? 443 : 80),
      path: asked.target,
      headers: { ...asked.headers, host },
      agent: false,
      lookup: guardedLookup(guard),
      ...(secure && isIP(literal) === 0 ? { servername: literal } : {}),
    });
    const timer = setTimeout(() => sent.destroy(new Error("no answer in time")), answerMs);
    sent.on("response", (answer) => {
      clearTimeout(timer);
      // Readers of the body get the error themselves; an unread body must not crash the process.
      answer.on("error", () => {});
      resolve(answer);
    });
    sent.on("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    sent.end();
  });
}

/**
 * Resolves a name and checks its addresses. The connection uses the result, without a second
 * lookup.
 */
function guardedLookup(guard: SourceGuard): LookupFunction {
  return (hostname, options, callback) => {
    systemLookup(hostname, { family: options.family ?? 0, all: true }, (error, found) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) return callback(error, []);
      const refused = found.find(({ address }) => !guard.permitsAddress(address));
      if (refused !== undefined) {
        return callback(new ForbiddenAddress(hostname, refused.address), []);
      }
      if (options.all) callback(null, found);
      else callback(null, first.address, first.family);
    });
  };
}
