import type { Lab } from "./lab.ts";
import { LabError } from "./lab-error.ts";
import { playScene } from "./play-scene.ts";
import { readDuration, readFields, readInteger, readIntegerText, readText } from "./read-fields.ts";
import { SCENES } from "./scenes.ts";

/** A request to the API. */
export interface LabAsked {
  readonly method: string;
  /** `/rules/3` */
  readonly path: string;
  readonly query: URLSearchParams;
  /** The body, parsed; undefined if there is none. */
  readonly body: unknown;
}

type Handler = (lab: Lab, asked: LabAsked, argument: string) => unknown;

const REACHED_MS = 10_000;
const NAME_CHARS_MAX = 100;

/** Method and path; `*` is an argument. The reference page lists them. */
export const LAB_ROUTES: Readonly<Record<string, Handler>> = {
  "GET /": (lab) => ({
    clock: lab.clock.shown,
    seed: lab.rules.seed,
    rules: lab.shownRules,
    waiting: lab.room.shown,
    states: lab.savedNames,
    recording: lab.recorder.shown,
  }),
  "GET /clock": (lab) => lab.clock.shown,
  "POST /clock": async (lab, { body }) => {
    await lab.changeClock(body);
    return lab.clock.shown;
  },
  "GET /rules": (lab) => lab.shownRules,
  "POST /rules": (lab, { body }) => lab.addRule(body),
  "DELETE /rules": (lab) => {
    lab.clearRules();
    return {};
  },
  "GET /rules/*": (lab, _, text) => {
    const id = idOf(lab, text);
    return lab.shownRules.find((rule) => rule.id === id);
  },
  "DELETE /rules/*": (lab, _, id) => {
    lab.removeRule(idOf(lab, id));
    return {};
  },
  "GET /waiting": async (lab, { query }) => {
    await waitFor(lab, query);
    return lab.room.shown;
  },
  "POST /release": (lab, { body }) => {
    const fields = readFields(body ?? {}, "A release", ["rule", "id"]);
    const released = lab.room.release({
      ...(fields.rule === undefined ? {} : { rule: numberOf(fields.rule, "rule") }),
      ...(fields.id === undefined ? {} : { id: numberOf(fields.id, "id") }),
    });
    return { released };
  },
  "POST /seed": (lab, { body }) => ({
    seed: lab.seed(readFields(body, "A seed", ["seed"]).seed),
  }),
  "POST /states/*": (lab, _, name) => {
    lab.save(nameOf(name));
    return { states: lab.savedNames };
  },
  "POST /states/*/restore": async (lab, _, name) => {
    await lab.restore(nameOf(name));
    return {};
  },
  "DELETE /states/*": (lab, _, name) => {
    lab.forget(nameOf(name));
    return {};
  },
  "POST /reset": async (lab) => {
    await lab.reset();
    return {};
  },
  "POST /recording": (lab) => {
    lab.recorder.start();
    return lab.recorder.shown;
  },
  "GET /recording": (lab) => lab.recorder.history,
  "DELETE /recording": (lab) => lab.recorder.stop(),
  "GET /scenes": () => Object.entries(SCENES).map(([name, { title }]) => ({ name, title })),
  "POST /scenes/*": (lab, { body }, name) => playScene(lab, name, body ?? {}),
};

/** Answers a request to the lab. Throws a `LabError` that says what is allowed. */
export async function answerLab(lab: Lab, asked: LabAsked): Promise<unknown> {
  const parts = asked.path.split("/").slice(1);
  const [first = "", argument = "", ...rest] = parts;
  const pattern = ["", first, ...(argument === "" ? [] : ["*"]), ...rest].join("/");
  const handler = LAB_ROUTES[`${asked.method} ${pattern}`];
  if (handler !== undefined) return handler(lab, asked, argument);
  const routes = Object.keys(LAB_ROUTES);
  const methods = routes.filter((route) => route.endsWith(` ${pattern}`));
  if (methods.length === 0) {
    throw new LabError(`The lab has no ${asked.path}. It has ${routes.join(", ")}.`, 404);
  }
  throw new LabError(
    `${asked.path} takes ${methods.map((route) => route.split(" ")[0]).join(", ")}.`,
    405,
  );
}

async function waitFor(lab: Lab, query: URLSearchParams): Promise<void> {
  const wrong = [...query.keys()].find((name) => !["rule", "count", "timeout"].includes(name));
  if (wrong !== undefined) {
    throw new LabError(`/waiting takes the parameters rule, count and timeout; not "${wrong}".`);
  }
  const [rule, count, timeout] = [query.get("rule"), query.get("count"), query.get("timeout")];
  if (rule === null && count === null && timeout === null) return;
  await lab.room.reached(
    rule === null ? null : idOf(lab, rule),
    count === null ? 1 : readIntegerText(count, "count", 1, Number.MAX_SAFE_INTEGER),
    timeout === null ? REACHED_MS : readDuration(timeout, "timeout"),
  );
}

function numberOf(value: unknown, name: string): number {
  return readInteger(value, name, 1, Number.MAX_SAFE_INTEGER);
}

/** The id of a rule that there is. */
function idOf(lab: Lab, text: string): number {
  return lab.rules.find(readIntegerText(text, "The id of a rule", 1, Number.MAX_SAFE_INTEGER)).id;
}

function nameOf(text: string): string {
  const name = readText(text, "The name of a state");
  if (/^[\w.-]+$/.test(name) && name.length <= NAME_CHARS_MAX) return name;
  throw new LabError(
    `The name of a state has up to ${NAME_CHARS_MAX} letters, digits, dots, dashes and underscores.`,
  );
}
