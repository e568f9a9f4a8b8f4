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
  readonly #sockets = new Set<Socket>();
  readonly #turns = new WeakMap<Socket, Turns>();
  readonly #running = new Set<Promise<void>>();
  #paceTimer: NodeJS.Timeout | undefined;
  #closing = false;
  #common: readonly string[] = [];
  #commonSecond = Number.NaN;
}
