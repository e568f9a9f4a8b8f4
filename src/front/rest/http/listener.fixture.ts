import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { ManualClock } from "../../../base/clock.ts";
import { KIB } from "../../../base/limits.ts";
import { HEALTHY } from "../../health.ts";
import type { RestOutcome } from "../../outcome.ts";
import { SendBudget } from "../../send-budget.ts";
import { WaitingWork } from "../../waiting-work.ts";
import { renderXmlError } from "../render-error.ts";
import type { RestRequest, RestResponse } from "./exchange.ts";
import { DEFAULT_LIMITS, type ListenerLimits } from "./limits.ts";
import { LISTENER_KINDS, type ListenerKind, type ListenerOptions } from "./listener-options.ts";
import { restReadMemory } from "./own-server.ts";
import { type Listener, openListener } from "./server.ts";
import { SliceQuota } from "./slice-quota.ts";
import { wholeBodyBudget } from "./whole-body.ts";

export type Handle = (request: RestRequest) => RestResponse | Promise<RestResponse>;

export interface Running {
  readonly listener: Listener;
  readonly clock: ManualClock;
  /** Request ids and errors that were logged as failures. */
  readonly failures: [string, unknown][];
  readonly outcomes: RestOutcome[];
  readonly debug: string[];
  /** Resolves when the next outcome is reported. */
  answered(): Promise<void>;
  connect(): RawClient;
}

export const NOON = Date.UTC(2030, 0, 1, 12);

export interface Settings {
  readonly limits?: Partial<ListenerLimits>;
  readonly options?: Partial<ListenerOptions>;
}

const kinds = new WeakMap<TestContext, ListenerKind>();

/** A test that runs on either listener: `listen` opens the one that it is for. */
export function testOnBoth(name: string, run: (t: TestContext) => unknown): void {
  for (const kind of LISTENER_KINDS) {
    test(`${name} (${kind} listener)`, async (t) => {
      kinds.set(t, kind);
      await run(t);
    });
  }
}

/** Whether the test runs on Node's listener, whose parser refuses some heads by itself. */
export function isOnNode(t: TestContext): boolean {
  return kinds.get(t) === "node";
}

/** A listener on a free port, closed with the test. */
export async function listen(t: TestContext, handle: Handle, set: Settings = {}): Promise<Running> {
  const clock = new ManualClock(NOON);
  const failures: [string, unknown][] = [];
  const outcomes: RestOutcome[] = [];
  const debug: string[] = [];
  const clients: RawClient[] = [];
  const readMemory = restReadMemory();
  let answered = () => {};
  const listener = await openListener({
    kind: kinds.get(t) ?? "own",
    service: {
      name: "blob",
      handle: async (request) => handle(request),
      renderFault: renderXmlError,
    },
    host: "127.0.0.1",
    port: 0,
    tls: null,
    clock,
    limits: { ...DEFAULT_LIMITS, ...set.limits },
    log: {
      failure: (id, error) => failures.push([id, error]),
      debug: (text) => debug.push(text),
    },
    outcomes: {
      take(outcome) {
        outcomes.push(outcome as RestOutcome);
        answered();
      },
    },
    budget: new SendBudget(),
    slices: new SliceQuota(),
    work: new WaitingWork(),
    readMemory,
    wholeBodies: wholeBodyBudget(),
    software: "Lazuli/1.2.3",
    health: () => HEALTHY,
    ...set.options,
  });
  t.after(async () => {
    for (const client of clients) client.socket.destroy();
    await listener.drain();
    readMemory.close();
  });
  return {
    listener,
    clock,
    failures,
    outcomes,
    debug,
    answered: () =>
      new Promise((resolve) => {
        answered = resolve;
      }),
    connect() {
      const client = new RawClient(listener.port);
      clients.push(client);
      return client;
    },
  };
}

/** Speaks HTTP byte by byte. */
export class RawClient {
  readonly socket: Socket;
  /** Resolves with all that came when the connection is closed, by either side. */
  readonly closed: Promise<string>;
  received = "";

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    this.socket.setNoDelay(true).setEncoding("latin1");
    this.socket.on("data", (text: string) => {
      this.received += text;
    });
    this.socket.on("error", () => {});
    this.closed = new Promise((resolve) => {
      this.socket.on("end", () => this.socket.end()).on("close", () => resolve(this.received));
    });
  }

  /** Sends exactly these bytes. */
  send(text: string | Buffer): this {
    this.socket.write(text);
    return this;
  }

  /** Waits until what has come matches, and takes it up to the end of the match. */
  async until(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.received);
      if (match !== null) {
        const end = match.index + match[0].length;
        const found = this.received.slice(0, end);
        this.received = this.received.slice(end);
        return found;
      }
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    if (this.socket.closed) throw new Error(`closed after ${JSON.stringify(this.received)}`);
    const heard = new AbortController();
    const { signal } = heard;
    const events = ["data", "close"].map((event) => once(this.socket, event, { signal }));
    await Promise.race(events).finally(() => heard.abort());
    await Promise.allSettled(events);
  }

  /** The next answer: its head and a body of the length that it states. */
  async answer(): Promise<Answer> {
    const head = await this.until(/\r\n\r\n/);
    const [statusLine = "", ...lines] = head.trimEnd().split("\r\n");
    const headers = new Map(
      lines.map((line) => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const status = Number(statusLine.split(" ")[1]);
    const length = Number(headers.get("content-length") ?? 0);
    while (this.received.length < length) await this.#more();
    const body = this.received.slice(0, length);
    this.received = this.received.slice(length);
    return { status, headers, body, head };
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly head: string;
}

export const GET = "GET /a/c/b HTTP/1.1\r\nHost: x\r\n\r\n";

/** The head of a PUT with these lines added. */
export function put(length: number, ...lines: string[]): string {
  const head = ["PUT /a/c/b HTTP/1.1", "Host: x", `Content-Length: ${length}`, ...lines];
  return `${head.join("\r\n")}\r\n\r\n`;
}

export const DONE: RestResponse = { status: 201, headers: [], body: null };

/** More than the socket buffers of both ends hold. */
export const LARGE_BYTES = 32 * 1024 * KIB;
