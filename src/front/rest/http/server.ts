import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Clock } from "../../../base/clock.ts";
import { Fault } from "../../../base/fault.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import type { RestResponse, RestService } from "./exchange.ts";
import { faultOfError } from "./fault-of-error.ts";
import { IncomingBody } from "./incoming-body.ts";
import { IncomingRequest } from "./incoming-request.ts";
import type { ListenerLimits } from "./limits.ts";
import type { HttpLog } from "./log.ts";
import { Pace } from "./pace.ts";
import { redactHeaders, redactTarget } from "./redact.ts";
import { type Sender, sendResponse } from "./send-response.ts";
import { Turns } from "./turns.ts";

export interface ListenerOptions {
  readonly service: RestService;
  readonly host: string;
  /** 0 for any free one. */
  readonly port: number;
  /** Null for plain HTTP. */
  readonly tls: TlsOptions | null;
  readonly clock: Clock;
  readonly limits: ListenerLimits;
  readonly log: HttpLog;
  /** What the `Server` header says: `Lazuli/1.2.3`. */
  readonly software: string;
  /** Whether the process can serve at all; `/healthz` says so. */
  healthy(): boolean;
}

/** A certificate with its key, as PEM or in one PFX file. */
export type TlsOptions =
  | { readonly cert: Buffer; readonly key: Buffer; readonly passphrase?: string }
  | { readonly pfx: Buffer; readonly passphrase?: string };

export interface Listener {
  readonly address: string;
  readonly port: number;
  /** `http://127.0.0.1:10000` */
  readonly origin: string;
  /** Takes no more connections, finishes what runs, and resolves when everything is closed. */
  drain(): Promise<void>;
}

/** Rejects with the system's error (`EADDRINUSE`, `EACCES`, …) if it cannot listen there. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const listener = new HttpListener(options);
  await listener.open();
  return listener;
}

class HttpListener implements Listener, Sender {
  readonly limits: ListenerLimits;
  readonly pace: Pace;
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #receiving: Pace;
  /** Of every connection that there is. */
  readonly #turns = new Map<Socket, Turns>();
  readonly #running = new Set<Promise<void>>();
  #bound: AddressInfo = { address: "", family: "", port: 0 };
  #paceTimer: NodeJS.Timeout | undefined;
  #drained: Promise<void> | null = null;
  #common: readonly string[] = [];
  #commonSecond = Number.NaN;

  constructor(options: ListenerOptions) {
    const { limits } = options;
    this.#options = options;
    this.limits = limits;
    this.pace = new Pace(limits.send);
    this.#receiving = new Pace(limits.receive);
    this.#server = serverOf(options)
      .on("request", (message, output) => this.#accept(message, output, null))
      .on("checkContinue", (message, output) =>
        this.#accept(message, output, () => output.writeContinue()),
      )
      .on(options.tls === null ? "connection" : "secureConnection", (socket: Socket) => {
        this.#turns.set(socket, new Turns());
        socket.once("close", () => this.#turns.delete(socket));
      });
  }

  async open(): Promise<void> {
    const { host, port, log } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject).listen({ host, port }, () => {
        this.#server.off("error", reject);
        // Connections that could not be accepted, for want of descriptors: the others go on.
        this.#server.on("error", (error) => log.failure("", error));
        this.#bound = this.#server.address() as AddressInfo;
        resolve();
      });
    });
    const check = (): void => {
      this.#receiving.check();
      this.pace.check();
    };
    this.#paceTimer = setInterval(check, this.limits.paceCheckMs).unref();
  }

  get address(): string {
    return this.#bound.address;
  }

  get port(): number {
    return this.#bound.port;
  }

  get origin(): string {
    const { address, family, port } = this.#bound;
    const host = family === "IPv6" ? `[${address}]` : address;
    return `${this.#options.tls === null ? "http" : "https"}://${host}:${port}`;
  }

  get closing(): boolean {
    return this.#drained !== null;
  }

  commonHeaders(): readonly string[] {
    const now = this.#options.clock.now();
    const second = Math.floor(now / 1_000);
    if (second !== this.#commonSecond) {
      this.#common = ["Server", this.#options.software, "Date", rfc1123(now)];
      this.#commonSecond = second;
    }
    return this.#common;
  }

  drain(): Promise<void> {
    this.#drained ??= this.#close();
    return this.#drained;
  }

  async #close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const [socket, turns] of this.#turns) if (turns.idle) socket.destroy();
    let late: NodeJS.Timeout | undefined;
    const tooLate = new Promise<void>((resolve) => {
      late = setTimeout(resolve, this.limits.drainMs);
    });
    await Promise.race([closed.then(() => Promise.all(this.#running)), tooLate]);
    clearTimeout(late);
    clearInterval(this.#paceTimer);
    for (const socket of this.#turns.keys()) socket.destroy();
  }

  #accept(message: IncomingMessage, output: ServerResponse, proceed: (() => void) | null): void {
    const { clock, tls } = this.#options;
    const body = new IncomingBody(message, this.#receiving, proceed);
    const request = new IncomingRequest(message, body, tls !== null, clock.now());
    const { socket } = message;
    const turns = this.#turns.get(socket);
    if (turns === undefined) return;
    output.once("close", () => {
      if (socket.destroyed) turns.abandon();
      else turns.over();
      if (this.closing && turns.idle) socket.destroySoon();
    });
    const waiting = turns.take(() => this.#run(request, output));
    if (waiting > this.limits.pipelinedMax) socket.destroy();
  }

  #run(request: IncomingRequest, output: ServerResponse): void {
    const running = this.#answer(request, output).catch((error) => {
      this.#options.log.failure(request.id, error);
      output.destroy();
    });
    this.#running.add(running);
    running.then(() => this.#running.delete(running));
  }

  /** The one place where everything that is thrown ends up. */
  async #answer(request: IncomingRequest, output: ServerResponse): Promise<void> {
    let response: RestResponse;
    try {
      response = await this.#respond(request);
    } catch (error) {
      response = this.#refusal(error, request);
    }
    let bytes: number;
    try {
      bytes = await sendResponse(this, request, output, response);
    } catch (error) {
      if (output.headersSent) throw error;
      response = this.#refusal(error, request);
      bytes = await sendResponse(this, request, output, response);
    }
    this.#report(request, output, response, bytes);
  }

  async #respond(request: IncomingRequest): Promise<RestResponse> {
    if (request.method === "GET" && request.target === "/healthz") return this.#health();
    request.read();
    return await this.#options.service.handle(request);
  }

  #health(): RestResponse {
    const well = !this.closing && this.#options.healthy();
    const headers = ["Content-Type", "text/plain", "Cache-Control", "no-store"];
    return { status: well ? 200 : 503, headers, body: well ? "ok\n" : "not serving\n" };
  }

  #refusal(error: unknown, request: IncomingRequest): RestResponse {
    if (!(error instanceof Fault)) this.#options.log.failure(request.id, error);
    return this.#options.service.spell(faultOfError(error), request);
  }

  #report(
    request: IncomingRequest,
    output: ServerResponse,
    { status, headers }: RestResponse,
    responseBytes: number,
  ): void {
    const { log, service, clock } = this.#options;
    if (log.access === undefined && log.debug === undefined) return;
    const { id, method, remoteAddress, receivedMs } = request;
    const target = redactTarget(request.target);
    log.access?.({
      atMs: receivedMs,
      tookMs: clock.now() - receivedMs,
      service: service.name,
      requestId: id,
      remoteAddress,
      method,
      target,
      status,
      requestBytes: request.body.moved,
      responseBytes,
      aborted: output.destroyed,
    });
    log.debug?.(
      `${id} ${service.name} ${method} ${target}${redactHeaders(request.headers.raw)}\n` +
        `${id} ${status}${redactHeaders(headers)}`,
    );
  }
}

function serverOf({ limits, tls }: ListenerOptions): Server {
  const options = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersMs,
    connectionsCheckingInterval: limits.headersCheckMs,
    keepAliveTimeout: limits.keepAliveMs,
    // Bodies have no time limit as a whole: their pace is checked instead.
    requestTimeout: 0,
    // Finds out about clients that are gone without a word.
    keepAlive: true,
  };
  const server =
    tls === null
      ? createServer(options)
      : createSecureServer({
          ...options,
          ...tls,
          minVersion: "TLSv1.2",
          handshakeTimeout: limits.headersMs,
        });
  server.maxConnections = limits.connectionsMax;
  // Node would drop what is beyond its default unsaid; the size of the head is limited instead.
  server.maxHeadersCount = 0;
  return server;
}
