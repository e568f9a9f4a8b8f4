import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { DAY_MS } from "../../base/limits.ts";
import type { Outcomes } from "../outcome.ts";
import type { ApiCalls } from "./api-calls.ts";
import type { ConsoleFacts } from "./console-facts.ts";
import { EVENT_NAMES, type EventName, EventStream } from "./event-stream.ts";
import { PAGE_HEADER } from "./forward.ts";
import { error, ok, parsedJson, type Reply } from "./reply.ts";
import { type Session, Sessions } from "./sessions.ts";

export interface ConsoleApiOptions {
  readonly clock: Clock;
  readonly outcomes: Outcomes;
  readonly facts: ConsoleFacts;
  readonly calls: ApiCalls;
  readonly isSecure: boolean;
  onError(error: unknown): void;
}

const BODY_BYTES_MAX = 16 * 1024;
/** Open pages, each with one stream. */
const STREAMS_MAX = 32;
const EXPIRY_CHECK_MS = 60_000;
/** The server ends sessions. A page that is open must not lose its cookie before that. */
const COOKIE_MS = 30 * DAY_MS;

const SIGN_IN = error(
  401,
  "SignInNeeded",
  "Sign in: open the address that the server printed at its start, or use an account key.",
);

const FOR_OPERATORS = error(
  403,
  "OperatorNeeded",
  "This is about the whole server: sign in with the address that it printed at its start.",
);

/** The API on the console's port: sign-in, sessions, and streams of events. */
export class ConsoleApi {
  readonly #options: ConsoleApiOptions;
  readonly #sessions: Sessions;
  readonly #streams = new Set<EventStream>();
  readonly #expiry: NodeJS.Timeout;
  #stopWatching: (() => void) | null = null;

  constructor(options: ConsoleApiOptions) {
    this.#options = options;
    this.#sessions = new Sessions(
      options.clock,
      () => {
        this.#stopWatching = options.outcomes.add(options.calls.ring.take);
        options.facts.begin();
      },
      () => this.#stopWatchingNow(),
    );
    this.#expiry = setInterval(() => this.#sessions.expire(), EXPIRY_CHECK_MS).unref();
  }

  get token(): string {
    return this.#sessions.token;
  }

  /** Ends all streams, so that the listener can close. */
  close(): void {
    clearInterval(this.#expiry);
    for (const stream of this.#streams) stream.end();
    this.#stopWatchingNow();
  }

  /** A SAS needs no session, but only programs on this machine reach the services that way. */
  mayForward(request: IncomingMessage): boolean {
    const address = request.socket.remoteAddress ?? "";
    const isLocal = address.startsWith("127.") || /^(::1|::ffff:127\..*)$/.test(address);
    return isLocal || this.#sessionOf(request) !== null;
  }

  async answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    if (path === "/api/events" && request.method === "GET") return this.#stream(request, response);
    const reply = await this.#reply(request, path);
    const text = JSON.stringify(reply.json);
    response.writeHead(reply.status, {
      "Content-Type": "application/json",
      "Content-Length": Buffer.byteLength(text),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      ...(reply.cookie === undefined ? {} : { "Set-Cookie": reply.cookie }),
    });
    response.end(text);
  }

  async #reply(request: IncomingMessage, path: string): Promise<Reply> {
    if (request.method === "POST" && request.headers[PAGE_HEADER] === undefined) {
      // Other sites cannot send it without asking, and nobody would permit it.
      return error(403, "HeaderMissing", `Send the header ${PAGE_HEADER}: 1 with every POST.`);
    }
    switch (`${request.method} ${path}`) {
      case "GET /api/challenge":
        return ok({ challenge: this.#sessions.newChallenge() });
      case "POST /api/sign-in":
        return this.#signIn(await readJson(request), portOf(request));
      case "POST /api/sign-out":
        this.#sessions.signOut(sessionIdOf(request));
        return { ...ok({}), cookie: this.#cookie("", portOf(request), 0) };
    }
    const session = this.#sessionOf(request);
    if (session === null) return SIGN_IN;
    return this.#options.calls.answer(session, {
      method: request.method ?? "",
      path,
      query: new URL(request.url ?? "/", "http://console").searchParams,
      json: request.method === "POST" ? await readJson(request) : undefined,
      remoteAddress: request.socket.remoteAddress ?? "",
    });
  }

  #signIn(asked: unknown, port: string): Reply {
    const { token, account, challenge, signature } = (asked ?? {}) as Record<string, unknown>;
    if (typeof token === "string") {
      const id = this.#sessions.signInByToken(token);
      if (id !== null) return { ...ok({ account: null }), cookie: this.#cookie(id, port) };
      return error(
        401,
        "TokenUsed",
        "The token is wrong, or was used: it works once. Use an account key, or start the server again.",
      );
    }
    if (![account, challenge, signature].every((part) => typeof part === "string")) {
      return error(400, "InvalidSignIn", "Send a token, or account, challenge and signature.");
    }
    const known = this.#options.facts.accounts().find(({ name }) => name === account);
    const id = this.#sessions.signInByKey(
      String(account),
      known?.keys ?? [],
      String(challenge),
      String(signature),
    );
    if (id !== null) return { ...ok({ account }), cookie: this.#cookie(id, port) };
    return error(401, "WrongKey", "The key is not one of this account, or the answer came late.");
  }

  #stream(request: IncomingMessage, response: ServerResponse): void {
    const session = this.#sessionOf(request);
    const asked = new URL(request.url ?? "/", "http://console").searchParams.get("of") ?? "";
    const names = EVENT_NAMES.filter((name) => asked.split(",").includes(name));
    const refusal = this.#refusalOf(session, names);
    if (session === null || refusal !== null) {
      const { status, json } = refusal ?? SIGN_IN;
      response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(json));
      return;
    }
    const { facts, calls, onError } = this.#options;
    const { ring } = calls;
    const stream = new EventStream(response, names, session, { ring, facts, onError });
    this.#streams.add(stream);
    const release = this.#sessions.use(sessionIdOf(request), () => stream.end());
    response.once("close", () => {
      this.#streams.delete(stream);
      release();
    });
  }

  #refusalOf(session: Session | null, names: readonly EventName[]): Reply | null {
    if (session === null) return SIGN_IN;
    if (names.length === 0) {
      return error(400, "InvalidEvents", `of names events: ${EVENT_NAMES.join(", ")}.`);
    }
    if (names.includes("figures") && session.account !== null) return FOR_OPERATORS;
    if (this.#streams.size < STREAMS_MAX) return null;
    return error(503, "TooManyPages", "Close pages of the console that you do not need.");
  }

  #sessionOf(request: IncomingMessage): Session | null {
    return this.#sessions.find(sessionIdOf(request));
  }

  #stopWatchingNow(): void {
    if (this.#stopWatching === null) return;
    this.#stopWatching();
    this.#stopWatching = null;
    this.#options.calls.ring.clear();
    this.#options.facts.end().catch(this.#options.onError);
  }

  /** Browsers keep cookies by host and not by port, hence the port in the name. */
  #cookie(id: string, port: string, maxAgeMs = COOKIE_MS): string {
    const secure = this.#options.isSecure ? "; Secure" : "";
    const terms = `Path=/; Max-Age=${maxAgeMs / 1_000}; HttpOnly; SameSite=Strict${secure}`;
    return `${cookieName(port)}=${id}; ${terms}`;
  }
}

function cookieName(port: string): string {
  return `lazuli-console-${port}`;
}

/** The port that the client sees, which may be another one if it is forwarded. */
function portOf({ headers }: IncomingMessage): string {
  return /:(\d+)$/.exec(headers.host ?? "")?.[1] ?? "0";
}

function sessionIdOf(request: IncomingMessage): string {
  const name = cookieName(portOf(request));
  const pairs = (request.headers.cookie ?? "").split(/;\s*/);
  const found = pairs.find((pair) => pair.startsWith(`${name}=`));
  return found?.slice(name.length + 1) ?? "";
}

/** Undefined if the body is no JSON, or too long. */
async function readJson(request: IncomingMessage): Promise<unknown> {
  let bytes = 0;
  const parts: Buffer[] = [];
  for await (const part of request) {
    bytes += part.length;
    if (bytes <= BODY_BYTES_MAX) parts.push(part);
  }
  return bytes > BODY_BYTES_MAX ? undefined : parsedJson(Buffer.concat(parts));
}
