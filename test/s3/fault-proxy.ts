import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { CERTIFICATE, CERTIFICATE_KEY } from "../sdk/certificate.ts";

/** What happens to a request on its way to the object store. */
export type Mishap =
  /** The store gets nothing, and this is the answer. */
  | { readonly kind: "answer"; readonly status: number; readonly body: string }
  /** The answer is not HTTP. */
  | { readonly kind: "nonsense" }
  /** Nobody ever answers. */
  | { readonly kind: "silence" }
  /** The connection ends after this many bytes of the body; the store does not get the rest. */
  | { readonly kind: "cut request"; readonly after: number }
  /** The store does what it is asked to, but the answer is lost. */
  | { readonly kind: "lose answer" }
  /** The connection ends after this many bytes of the answer. */
  | { readonly kind: "cut answer"; readonly after: number }
  /** A byte of the request's body is changed. */
  | { readonly kind: "damage request" };

/** Chooses a mishap for a request; null lets it pass. */
export type Plan = (asked: string) => Mishap | null;

/** A proxy on loopback, between the engine and a real object store. */
export class FaultProxy {
  /** Everything that was asked, as `PUT /bucket/name?query`. */
  readonly asked: string[] = [];
  /** The ranges that were asked for. */
  readonly ranges: string[] = [];
  plan: Plan = () => null;
  readonly #server: Server;
  readonly #target: URL;
  readonly #scheme: "http" | "https";

  private constructor(target: URL, scheme: "http" | "https") {
    this.#target = target;
    this.#scheme = scheme;
    const serve = (incoming: IncomingMessage, answer: ServerResponse) =>
      this.#serve(incoming, answer);
    const tls = { cert: CERTIFICATE, key: CERTIFICATE_KEY };
    this.#server = scheme === "http" ? createServer(serve) : createSecureServer(tls, serve);
  }

  static async start(target: URL, scheme: "http" | "https" = "http"): Promise<FaultProxy> {
    const proxy = new FaultProxy(target, scheme);
    await new Promise<void>((resolve) => proxy.#server.listen(0, "127.0.0.1", resolve));
    return proxy;
  }

  get endpoint(): URL {
    return new URL(`${this.#scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #serve(incoming: IncomingMessage, answer: ServerResponse): void {
    const asked = `${incoming.method} ${incoming.url}`;
    this.asked.push(asked);
    if (incoming.headers.range !== undefined) this.ranges.push(incoming.headers.range);
    const mishap = this.plan(asked);
    incoming.on("error", () => {});
    switch (mishap?.kind) {
      case "answer":
        incoming.resume();
        answer.writeHead(mishap.status).end(mishap.body);
        return;
      case "nonsense":
        incoming.resume();
        incoming.socket.end("what do you want?\r\n\r\n");
        return;
      case "silence":
        incoming.resume();
        return;
      default:
        this.#forward(incoming, answer, mishap);
    }
  }

  #forward(incoming: IncomingMessage, answer: ServerResponse, mishap: Mishap | null): void {
    const { method, url = "", headers } = incoming;
    const onward = request(new URL(url, this.#target), { method, headers });
    onward.on("error", () => answer.destroy());
    onward.on("response", (came) => {
      if (mishap?.kind === "lose answer") {
        came.resume().on("end", () => answer.destroy());
        return;
      }
      answer.writeHead(came.statusCode ?? 0, came.headers);
      if (mishap?.kind === "cut answer") cutAfter(came, answer, mishap.after);
      else came.pipe(answer);
    });
    if (mishap?.kind === "cut request") {
      let bytes = 0;
      incoming.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes < mishap.after) onward.write(part);
        else {
          onward.destroy();
          answer.destroy();
        }
      });
      incoming.on("end", () => answer.destroy());
    } else if (mishap?.kind === "damage request") {
      incoming.on("data", (part: Buffer) => {
        part[0] = (part[0] as number) ^ 1;
        onward.write(part);
      });
      incoming.on("end", () => onward.end());
    } else incoming.pipe(onward);
  }
}

function cutAfter(came: IncomingMessage, answer: ServerResponse, after: number): void {
  let bytes = 0;
  came.on("data", (part: Buffer) => {
    const rest = after - bytes;
    bytes += part.length;
    if (part.length < rest) answer.write(part);
    else if (rest > 0) answer.write(part.subarray(0, rest), () => answer.destroy());
  });
}

/** Each of the first requests that match has a mishap; the others pass. */
export function first(count: number, matching: RegExp, mishap: Mishap): Plan {
  let left = count;
  return (asked) => (matching.test(asked) && left-- > 0 ? mishap : null);
}

export function always(mishap: Mishap): Plan {
  return () => mishap;
}
