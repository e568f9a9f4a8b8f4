import type { AddressInfo, Server } from "node:net";
import { Server as SecureServer } from "node:tls";
import type { TableLimits } from "../../connection-table.ts";
import { AcceptedSockets } from "./accepted-sockets.ts";
import type { RestService } from "./exchange.ts";
import { Exchanges } from "./exchanges.ts";
import type { ListenerOptions } from "./listener-options.ts";
import { nodeServer } from "./node-server.ts";
import { ownServer } from "./own-server.ts";
import { type TlsOptions, tlsSettings } from "./tls-settings.ts";

/** What can change while a listener runs. */
export interface ListenerChange {
  readonly service: RestService;
  /** Null for plain HTTP. TLS cannot be switched on or off. */
  readonly tls: TlsOptions | null;
  readonly limits: TableLimits;
}

export interface Listener {
  readonly address: string;
  readonly port: number;
  /** `http://127.0.0.1:10000` */
  readonly origin: string;
  /** The number of open connections. */
  readonly connections: number;
  /**
   * Serves by new settings from the next request on. Requests that have begun end with the old
   * service, and connections stay open with the certificate that they began with.
   */
  change(change: ListenerChange): void;
  /**
   * Closes each connection with its next answer, and tells health checks that the server stops. New
   * connections are still accepted: clients find their way to other servers without a failure.
   */
  retire(): void;
  /** Accepts no more connections and finishes running requests. Resolves when all are closed. */
  drain(): Promise<void>;
}

/** Rejects with the system's error (`EADDRINUSE`, `EACCES`, …) if it cannot listen there. */
export async function openListener(options: ListenerOptions): Promise<Listener> {
  const listener = new HttpListener(options);
  await listener.open();
  return listener;
}

class HttpListener implements Listener {
  readonly #options: ListenerOptions;
  readonly #exchanges: Exchanges;
  readonly #sockets: AcceptedSockets;
  readonly #server: Server;
  #bound: AddressInfo = { address: "", family: "", port: 0 };
  #timers: NodeJS.Timeout[] = [];
  #drained: Promise<void> | null = null;

  constructor(options: ListenerOptions) {
    const { limits, kind } = options;
    this.#options = options;
    this.#exchanges = new Exchanges(options);
    this.#sockets = new AcceptedSockets(limits);
    const server = kind === "own" ? ownServer : nodeServer;
    this.#server = server(this.#exchanges, this.#sockets);
    this.#server.maxConnections = limits.connectionsMax + limits.surplusConnectionsMax;
  }

  async open(): Promise<void> {
    const { host, port, log, limits } = this.#options;
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject).listen({ host, port }, () => {
        this.#server.off("error", reject);
        // The system may run out of descriptors for new connections. The existing ones stay.
        this.#server.on("error", (error) => log.failure("", error));
        this.#bound = this.#server.address() as AddressInfo;
        resolve();
      });
    });
    this.#every(limits.paceCheckMs, () => this.#exchanges.checkPace());
    const { headersCheckMs, keepAliveMs } = limits;
    const waitMs = keepAliveMs === 0 ? headersCheckMs : Math.min(headersCheckMs, keepAliveMs);
    this.#every(waitMs, () => {
      for (const connection of this.#sockets) connection.wait(waitMs);
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

  get connections(): number {
    return this.#sockets.size;
  }

  change({ service, tls, limits }: ListenerChange): void {
    if (tls !== null && this.#server instanceof SecureServer) {
      this.#server.setSecureContext(tlsSettings(tls, this.#options.limits));
    }
    this.#exchanges.service = service;
    this.#sockets.limits = limits;
  }

  retire(): void {
    this.#exchanges.closing = true;
  }

  drain(): Promise<void> {
    this.#drained ??= this.#close();
    return this.#drained;
  }

  async #close(): Promise<void> {
    this.retire();
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const connection of this.#sockets) if (connection.idleRank !== null) connection.close();
    let late: NodeJS.Timeout | undefined;
    const tooLate = new Promise<void>((resolve) => {
      late = setTimeout(resolve, this.#options.limits.drainMs);
    });
    await Promise.race([closed.then(() => this.#exchanges.allAnswered()), tooLate]);
    clearTimeout(late);
    for (const timer of this.#timers) clearInterval(timer);
    for (const connection of this.#sockets) connection.close();
  }
}
