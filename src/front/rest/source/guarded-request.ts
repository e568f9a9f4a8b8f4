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
  /** Until the head of the answer is here. */
  readonly answerMs: number;
}

/** A name led to an address that the guard does not permit. */
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
 * Sends a request and waits for the head of the answer. No redirect is followed. Rejects with a
 * `ForbiddenAddress`, or with what went wrong on the way.
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
      // Whoever reads the body is told; who does not read it need not be.
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

/** The addresses that are checked are those that are connected to: nobody asks for them again. */
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
