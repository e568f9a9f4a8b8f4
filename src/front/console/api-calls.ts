import type { Clock } from "../../base/clock.ts";
import { StoreError } from "../../store/store.ts";
import type { Home, SceneList } from "./answers.ts";
import type { ConsoleFacts } from "./console-facts.ts";
import { holdersFor } from "./holders-for.ts";
import { error, ok, type Reply } from "./reply.ts";
import { RequestRing } from "./request-ring.ts";
import type { Session } from "./sessions.ts";
import { usageFor } from "./usage-for.ts";
import { visibleTo } from "./visible-to.ts";
import { readWhy } from "./why.ts";

/** A call of the API. Who calls is known already. */
export interface ApiCall {
  readonly method: string;
  /** `/api/holders` */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The body of a POST; undefined if it is no JSON. */
  readonly json: unknown;
  readonly remoteAddress: string;
}

/** Requests in one answer. */
const REQUESTS_MAX = 1_000;

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

/**
 * The calls of the API (docs/reference/console-api.md): of the page, of scripts that have signed in
 * like it, and of commands on the server's machine.
 */
export class ApiCalls {
  readonly ring = new RequestRing();
  readonly #facts: ConsoleFacts;
  readonly #clock: Clock;

  constructor(facts: ConsoleFacts, clock: Clock) {
    this.#facts = facts;
    this.#clock = clock;
  }

  async answer(session: Session, call: ApiCall): Promise<Reply> {
    const facts = this.#facts;
    const { method, path, query, json } = call;
    switch (`${method} ${path}`) {
      case "GET /api/session":
        return ok({ account: session.account });
      case "GET /api/home":
        return ok(await homeFor(session, facts));
      case "GET /api/holders":
        return ok(holdersFor(session, await facts.holders(), this.ring));
      case "GET /api/requests":
        return this.#requests(session, query);
      case "GET /api/explain":
        return this.#explain(session, query);
      case "GET /api/members":
        return session.account === null ? members(facts) : FOR_OPERATORS;
      case "GET /api/scenes":
        return ok(sceneList(facts));
      case "POST /api/scenes":
        return playedScene(session, facts, json);
      case "POST /api/why":
        return this.#why(session, call);
      case "GET /api/usage":
        return ok(usageFor(session, await facts.usage(query.has("again"))));
      case "GET /api/figures":
        return session.account === null ? ok(await facts.figures()) : FOR_OPERATORS;
    }
    return error(404, "NotFound", "See docs/reference/console-api.md for what there is.");
  }

  #requests(session: Session, query: URLSearchParams): Reply {
    const after = Number(query.get("after") ?? 0);
    if (!Number.isSafeInteger(after) || after < 0) {
      return error(400, "InvalidNumber", "after is the number of a request, 0 or more.");
    }
    const requests = this.ring.after(after, REQUESTS_MAX).filter(visibleTo(session));
    return ok({ requests, last: this.ring.last });
  }

  #explain(session: Session, query: URLSearchParams): Reply {
    const explained = this.ring.explain(Number(query.get("number") ?? 0));
    if (explained !== null && visibleTo(session)(explained.request)) return ok(explained);
    return error(404, "RequestNotFound", "The request is no longer remembered.");
  }

  /** Explains a refusal: of a request that is remembered, or of one that somebody pasted. */
  async #why(session: Session, { json, remoteAddress }: ApiCall): Promise<Reply> {
    const asked = (json ?? {}) as Record<string, unknown>;
    const shown = typeof asked.stringToSign === "string" ? asked.stringToSign : null;
    const isVisible = visibleTo(session);
    const found = typeof asked.number === "number" ? this.ring.refused(asked.number) : null;
    if (asked.number !== undefined && found === null) return NOT_REMEMBERED;
    const read =
      found === null
        ? readWhy(asked, remoteAddress, this.#clock.now())
        : { ...found, shownText: shown };
    if (typeof read === "string") return error(400, "InvalidRequest", read);
    const judged = await this.#facts.judge({ ...read, account: session.account });
    if (judged === null)
      return error(404, "ServiceNotFound", `The ${read.service} service is off.`);
    if (isVisible(judged)) return ok(judged);
    if (found !== null) return NOT_REMEMBERED;
    if (judged.account === null) return ok(judged);
    return OTHER_ACCOUNT;
  }
}

async function homeFor(session: Session, facts: ConsoleFacts): Promise<Home> {
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

function sceneList({ scenes }: ConsoleFacts): SceneList {
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
