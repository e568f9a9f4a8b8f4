import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../../base/clock.ts";
import { StoreError } from "../../store/store.ts";
import type { Outcomes } from "../outcome.ts";
import type { ConsoleFacts } from "./console-facts.ts";
import { EVENT_NAMES, type EventName, EventStream } from "./event-stream.ts";
import { PAGE_HEADER } from "./forward.ts";
import { RequestRing } from "./request-ring.ts";
import { SESSION_MS, type Session, Sessions } from "./sessions.ts";
import { usageFor } from "./usage-for.ts";
import { visibleTo } from "./visible-to.ts";
import { readWhy } from "./why.ts";

export interface ConsoleApiOptions {
  readonly clock: Clock;
  readonly outcomes: Outcomes;
  readonly facts: ConsoleFacts;
  readonly isSecure: boolean;
  onError(error: unknown): void;
}

const BODY_BYTES_MAX = 16 * 1024;
/** Open pages, each with one stream. */
const STREAMS_MAX = 32;
const EXPIRY_CHECK_MS = 60_000;
/** Requests in one answer. */
const REQUESTS_MAX = 1_000;

/** An answer: a status, and what is sent as JSON. */
interface Reply {
  readonly status: number;
  readonly json: unknown;
  readonly cookie?: string;
}

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

const OTHER_ACCOUNT = error(
  403,
  "OtherAccount",
  "Sign in with a key of the account that the request names.",
);

const NOT_REMEMBERED = error(
  404,
  "RequestNotFound",
  "The request is no longer remembered, or it was not refused for its credentials.",
);

/** The JSON API of the console: docs/reference/console-api.md. */
export class ConsoleApi {
  readonly #options: ConsoleApiOptions;
  readonly #sessions: Sessions;
  readonly #ring = new RequestRing();
  readonly #streams = new Set<EventStream>();
  readonly #expiry: NodeJS.Timeout;
  #stopWatching: (() => void) | null = null;

  constructor(options: ConsoleApiOptions) {
    this.#options = options;
    this.#sessions = new Sessions(
      options.clock,
      () => {
        this.#stopWatching = options.outcomes.add(this.#ring.take);
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
    return this.#replyTo(session, request, path);
  }

  async #replyTo(session: Session, request: IncomingMessage, path: string): Promise<Reply> {
    const { facts } = this.#options;
    const isVisible = visibleTo(session);
    const asked = new URL(request.url ?? "/", "http://console");
    switch (`${request.method} ${path}`) {
      case "GET /api/session":
        return ok({ account: session.account });
      case "GET /api/home":
        return ok(await homeFor(session, facts));
      case "GET /api/holders": {
        const list = await facts.holders();
        return ok({ ...list, holders: list.holders.filter(isVisible) });
      }
      case "GET /api/requests": {
        const after = Number(asked.searchParams.get("after") ?? 0);
        if (!Number.isSafeInteger(after) || after < 0) {
          return error(400, "InvalidNumber", "after is the number of a request, 0 or more.");
        }
        const requests = this.#ring.after(after, REQUESTS_MAX).filter(isVisible);
        return ok({ requests, last: this.#ring.last });
      }
      case "GET /api/explain": {
        const explained = this.#ring.explain(Number(asked.searchParams.get("number") ?? 0));
        if (explained !== null && isVisible(explained.request)) return ok(explained);
        return error(404, "RequestNotFound", "The request is no longer remembered.");
      }
      case "GET /api/members":
        return session.account === null ? members(facts) : FOR_OPERATORS;
      case "GET /api/scenes":
        return ok(sceneList(facts));
      case "POST /api/scenes":
        return playedScene(session, facts, await readJson(request));
      case "POST /api/why":
        return this.#why(session, await readJson(request), request.socket.remoteAddress ?? "");
      case "GET /api/usage": {
        const report = await facts.usage(asked.searchParams.has("again"));
        return ok(usageFor(session, report));
      }
      case "GET /api/figures":
        return session.account === null ? ok(await facts.figures()) : FOR_OPERATORS;
    }
    return error(404, "NotFound", "See docs/reference/console-api.md for what there is.");
  }

  /** Explains a refusal: of a request that is remembered, or of one that somebody pasted. */
  async #why(session: Session, json: unknown, remoteAddress: string): Promise<Reply> {
    const { facts, clock } = this.#options;
    const asked = (json ?? {}) as Record<string, unknown>;
    const shown = typeof asked.stringToSign === "string" ? asked.stringToSign : null;
    const { account } = session;
    const isVisible = visibleTo(session);
    const found = typeof asked.number === "number" ? this.#ring.refused(asked.number) : null;
    if (asked.number !== undefined && found === null) return NOT_REMEMBERED;
    const read =
      found === null ? readWhy(asked, remoteAddress, clock.now()) : { ...found, shownText: shown };
    if (typeof read === "string") return error(400, "InvalidRequest", read);
    const judged = await facts.judge({ ...read, account });
    if (judged === null)
      return error(404, "ServiceNotFound", `The ${read.service} service is off.`);
    if (isVisible(judged)) return ok(judged);
    if (found !== null) return NOT_REMEMBERED;
    if (judged.account === null) return ok(judged);
    return OTHER_ACCOUNT;
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
    const { facts, onError } = this.#options;
    const stream = new EventStream(response, names, session, { ring: this.#ring, facts, onError });
    this.#streams.add(stream);
    response.once("close", () => this.#streams.delete(stream));
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
    this.#ring.clear();
    this.#options.facts.end().catch(this.#options.onError);
  }

  /** Browsers keep cookies by host and not by port, hence the port in the name. */
  #cookie(id: string, port: string, maxAgeMs = SESSION_MS): string {
    const secure = this.#options.isSecure ? "; Secure" : "";
    const terms = `Path=/; Max-Age=${maxAgeMs / 1_000}; HttpOnly; SameSite=Strict${secure}`;
    return `${cookieName(port)}=${id}; ${terms}`;
  }
}

async function homeFor(session: Session, facts: ConsoleFacts): Promise<object> {
  const { version, startedMs, place, urls } = facts;
  const isVisible = visibleTo(session);
  const accounts = facts.accounts().filter(({ name }) => isVisible({ account: name }));
  const home = { version, startedMs, urls, accounts, takesTokens: facts.takesTokens() };
  return session.account === null ? { ...home, place, figures: await facts.figures() } : home;
}

async function members(facts: ConsoleFacts): Promise<Reply> {
  try {
    return ok({ members: await facts.members() });
  } catch (failure) {
    if (!(failure instanceof StoreError)) throw failure;
    return error(
      503,
      "RecordsUnreachable",
      "The database cannot be reached now. It is tried again.",
    );
  }
}

function sceneList({ scenes }: ConsoleFacts): object {
  if (scenes === null) return { scenes: null };
  const { clientsMin, clientsMax } = scenes;
  return { scenes: scenes.list(), clientsMin, clientsMax };
}

/** Plays a scene in the account that is asked for, or in that of the session. */
async function playedScene(
  session: Session,
  { scenes }: ConsoleFacts,
  json: unknown,
): Promise<Reply> {
  if (scenes === null) return error(404, "NoLab", "Start the server with --lab to play scenes.");
  const { name, clients, account = session.account } = (json ?? {}) as Record<string, unknown>;
  const isText = account === null || typeof account === "string";
  if (typeof name !== "string" || !isText) {
    return error(
      400,
      "InvalidScene",
      "Send the name of a scene, clients, and an account if you like.",
    );
  }
  if (account !== null && !visibleTo(session)({ account })) return OTHER_ACCOUNT;
  const played = await scenes.play(name, clients, account);
  if ("svg" in played) return ok(played);
  return error(played.status, "LabRefused", played.message);
}

function ok(json: object): Reply {
  return { status: 200, json };
}

function error(status: number, code: string, message: string): Reply {
  return { status, json: { code, message } };
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
  try {
    return bytes > BODY_BYTES_MAX ? undefined : JSON.parse(Buffer.concat(parts).toString("utf8"));
  } catch {
    return undefined;
  }
}
