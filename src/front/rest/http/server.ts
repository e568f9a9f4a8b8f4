import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createSecureServer } from "node:tls";
import type { Clock } from "../../../base/clock.ts";
import { Fault } from "../../../base/fault.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import { ConnectionTable, type Counted } from "../../connection-table.ts";
import { Pace } from "../../pace.ts";
import type { SendBudget } from "../../send-budget.ts";
import type { WaitingWork } from "../../waiting-work.ts";
import { Connection, type ConnectionOwner, remoteAddressOf } from "./connection.ts";
import type { RestResponse, RestService } from "./exchange.ts";
import { faultOfError } from "./fault-of-error.ts";
import { IncomingBody } from "./incoming-body.ts";
import { IncomingRequest } from "./incoming-request.ts";
import type { ListenerLimits } from "./limits.ts";
import type { HttpLog } from "./log.ts";
import { redactHeaders, redactTarget } from "./redact.ts";
import type { RequestHead } from "./request-head.ts";
import { nextRequestId } from "./request-id.ts";
import { type Sender, sendResponse } from "./send-response.ts";

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
  /** Of the whole server. */
  readonly budget: SendBudget;
  readonly work: WaitingWork;
  /** What the `Server` header says: `Lazuli/1.2.3`. */
  readonly software: string;
  /** Whether the process can serve at all; `/healthz` says so. */
  healthy(): boolean;
  /** Whether writes that need space are refused because there is none; `/healthz` says so, too. */
  isFull?(): boolean;
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

class HttpListener implements Listener, Sender, ConnectionOwner {
  readonly limits: ListenerLimits;
  readonly pace: Pace;
  readonly budget: SendBudget;
  readonly keepAliveLines: string;
  readonly #options: ListenerOptions;
  readonly #server: Server;
  readonly #receiving: Pace;
  readonly #connections: ConnectionTable<Connection | Handshake>;
  /** By the client's address and port. */
  readonly #handshakes = new Map<string, Handshake>();
  #bound: AddressInfo = { address: "", family: "", port: 0 };
  #timers: NodeJS.Timeout[] = [];
  #drained: Promise<void> | null = null;
  #commonLines = "";
  #commonSecond = Number.NaN;
  #running = 0;
  #onLastAnswer: () => void = () => {};

  constructor(options: ListenerOptions) {
    const { limits } = options;
    this.#options = options;
    this.limits = limits;
    this.pace = new Pace(limits.send);
    this.budget = options.budget;
    this.#receiving = new Pace(limits.receive);
    this.keepAliveLines = keepAliveLines(limits);
    this.#connections = new ConnectionTable(limits);
    this.#server =
      options.tls === null
        ? plainServer((socket) => this.#greet(socket))
        : secureServer(options.tls, limits.headersMs, (socket) => this.#greet(socket)).on(
            "connection",
            (socket) => this.#beginHandshake(socket),
          );
    this.#server.maxConnections = limits.connectionsMax + limits.surplusConnectionsMax;
  }

  /** A TLS connection counts, and can be closed, from its first byte on. */
  #beginHandshake(socket: Socket): void {
    const handshake = new Handshake(socket);
    const client = clientOf(socket);
    handshake.isSurplus = !this.#connections.add(handshake);
    this.#handshakes.set(client, handshake);
    socket.once("close", () => {
      this.#connections.remove(handshake);
      this.#handshakes.delete(client);
    });
  }

  #greet(socket: Socket): void {
    const client = clientOf(socket);
    const handshake = this.#handshakes.get(client);
    let connection: Connection;
    if (handshake === undefined) {
      const newcomer = new Handshake(socket);
      const isSurplus = !this.#connections.add(newcomer);
      connection = new Connection(socket, this, isSurplus);
      this.#connections.replace(newcomer, connection);
    } else {
      connection = new Connection(socket, this, handshake.isSurplus);
      this.#connections.replace(handshake, connection);
      this.#handshakes.delete(client);
    }
    connection.socket.once("close", () => this.#connections.remove(connection));
  }

  rested(connection: Connection): void {
    this.#connections.rested(connection);
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
    this.#every(this.limits.paceCheckMs, () => {
      this.#receiving.check();
      this.pace.check();
    });
    const { headersCheckMs, keepAliveMs } = this.limits;
    const waitMs = keepAliveMs === 0 ? headersCheckMs : Math.min(headersCheckMs, keepAliveMs);
    this.#every(waitMs, () => {
      for (const connection of this.#connections) connection.wait(waitMs);
    });
  }

  #every(ms: number, check: () => void): void {
    this.#timers.push(setInterval(check, ms).unref());
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

  commonLines(): string {
    const now = this.#options.clock.now();
    const second = Math.floor(now / 1_000);
    if (second !== this.#commonSecond) {
      this.#commonLines = `Server: ${this.#options.software}\r\nDate: ${rfc1123(now)}\r\n`;
      this.#commonSecond = second;
    }
    return this.#commonLines;
  }

  drain(): Promise<void> {
    this.#drained ??= this.#close();
    return this.#drained;
  }

  async #close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#connections)
      if (connection.idleRank !== null) connection.close();
    let late: NodeJS.Timeout | undefined;
    const tooLate = new Promise<void>((resolve) => {
      late = setTimeout(resolve, this.limits.drainMs);
    });
    await Promise.race([closed.then(() => this.#allAnswered()), tooLate]);
    clearTimeout(late);
    for (const timer of this.#timers) clearInterval(timer);
    for (const connection of this.#connections) connection.close();
  }

  #allAnswered(): Promise<void> {
    return new Promise((resolve) => {
      this.#onLastAnswer = resolve;
      if (this.#running === 0) resolve();
    });
  }

  serve(connection: Connection, head: RequestHead): void {
    const { clock, tls } = this.#options;
    const proceed = () => connection.socket.write("HTTP/1.1 100 Continue\r\n\r\n", "latin1");
    const leave = head.waitsForLeave ? proceed : null;
    const { work } = this.#options;
    const body = new IncomingBody(connection, head.bodyBytes, this.#receiving, work, leave);
    const { remoteAddress } = connection;
    const request = new IncomingRequest(head, body, remoteAddress, tls !== null, clock.now());
    void this.#run(connection, request);
  }

  noteRefusal({ remoteAddress }: Connection, status: number): string {
    const { log, service, clock } = this.#options;
    const requestId = nextRequestId();
    const seen = { service: service.name, requestId, remoteAddress, method: "-", target: "-" };
    const nothing = { tookMs: 0, requestBytes: 0, responseBytes: 0, aborted: false };
    log.access?.({ atMs: clock.now(), ...seen, status, ...nothing });
    return `${this.commonLines()}x-ms-request-id: ${requestId}\r\n`;
  }

  /** The one place where everything that is thrown ends up. */
  async #run(connection: Connection, request: IncomingRequest): Promise<void> {
    const { work } = this.#options;
    this.#running++;
    try {
      const isTooMuch = connection.isSurplus || work.isTooMuch;
      let response: RestResponse;
      work.begin();
      try {
        response = await this.#respond(request, isTooMuch);
      } catch (error) {
        response = this.#refusal(error, request);
      } finally {
        work.end();
      }
      await this.#send(connection, request, response);
    } catch (error) {
      this.#options.log.failure(request.id, error, request);
      connection.socket.destroy();
    }
    connection.served();
    this.#running--;
    if (this.#running === 0) this.#onLastAnswer();
  }

  /** A response that cannot be spelled is no reason to answer nothing. */
  #send(
    connection: Connection,
    request: IncomingRequest,
    response: RestResponse,
  ): void | Promise<void> {
    let said = response;
    let sent: number | Promise<number>;
    try {
      sent = sendResponse(this, request, connection, said);
    } catch (error) {
      if (connection.isAnswered) throw error;
      said = this.#refusal(error, request);
      sent = sendResponse(this, request, connection, said);
    }
    const report = (bytes: number) => this.#report(request, connection.socket, said, bytes);
    if (typeof sent === "number") return report(sent);
    return sent.then(report, async (error) => {
      if (connection.isAnswered || connection.socket.destroyed) throw error;
      said = this.#refusal(error, request);
      report(await sendResponse(this, request, connection, said));
    });
  }

  #respond(request: IncomingRequest, isTooMuch: boolean): RestResponse | Promise<RestResponse> {
    if (request.path === "/healthz" && isRead(request.method)) return this.#health(request.target);
    request.read();
    if (isTooMuch) throw new Fault("ServerBusy");
    return this.#options.service.handle(request);
  }

  /** A full disk is no reason to send readers elsewhere: only who asks for writes hears 503 then. */
  #health(target: string): RestResponse {
    const headers = ["Content-Type", "text/plain", "Cache-Control", "no-store"];
    if (this.closing || !this.#options.healthy()) {
      return { status: 503, headers, body: "not serving\n" };
    }
    if (this.#options.isFull?.() !== true) return { status: 200, headers, body: "ok\n" };
    const isForWrites = target === HEALTH_FOR_WRITES;
    return { status: isForWrites ? 503 : 200, headers, body: "full: reads and deletes only\n" };
  }

  #refusal(error: unknown, request: IncomingRequest): RestResponse {
    if (!(error instanceof Fault)) this.#options.log.failure(request.id, error, request);
    return this.#options.service.spell(faultOfError(error), request);
  }

  #report(
    request: IncomingRequest,
    { destroyed: aborted }: Socket,
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
      aborted,
    });
    log.debug?.(
      `${id} ${service.name} ${method} ${target}${redactHeaders(request.headers.raw)}\n` +
        `${id} ${status}${redactHeaders(headers)}`,
    );
  }
}

const HEALTH_FOR_WRITES = "/healthz?for=writes";

function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}

function keepAliveLines({ keepAliveMs }: ListenerLimits): string {
  const seconds = Math.floor(keepAliveMs / 1_000);
  const timeout = keepAliveMs === 0 ? "" : `Keep-Alive: timeout=${seconds}\r\n`;
  return `Connection: keep-alive\r\n${timeout}`;
}

const SERVER_TRAITS = {
  // A client may end its side and still want the answer.
  allowHalfOpen: true,
  noDelay: true,
  // Finds out about clients that are gone without a word.
  keepAlive: true,
};

function plainServer(take: (socket: Socket) => void): Server {
  // Not to be read before there is a socket of our own.
  return createServer({ ...SERVER_TRAITS, pauseOnConnect: true }, take);
}

function secureServer(
  tls: TlsOptions,
  handshakeTimeout: number,
  take: (socket: Socket) => void,
): Server {
  const minVersion = "TLSv1.2";
  const traits = { ...SERVER_TRAITS, ALPNProtocols: ["http/1.1"], handshakeTimeout };
  return createSecureServer({ ...traits, ...tls, minVersion }, take).on(
    "tlsClientError",
    (_, socket) => socket.destroy(),
  );
}

/** A connection on which nothing can be asked yet. */
class Handshake implements Counted {
  readonly remoteAddress: string;
  readonly idleRank = 0;
  isSurplus = false;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.remoteAddress = remoteAddressOf(socket);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Node sees to it that a handshake ends in time. */
  wait(): void {}
}

function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
