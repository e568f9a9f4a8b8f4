import type { GivenFlags } from "./account-flags.ts";
import { type CommandName, DEFAULT_HOST, DEFAULT_LAB_PORT } from "./flags.ts";
import { UsageError } from "./start-error.ts";

export type LabCommand = Extract<CommandName, `lab ${string}`>;

/** A request to the lab of a running server. */
export interface LabAsked {
  readonly command: LabCommand;
  /** `http://127.0.0.1:10006` */
  readonly origin: string;
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly body: object | null;
  /** Where a scene is drawn; null for nowhere. */
  readonly svg: string | null;
}

interface Flags extends GivenFlags {
  number(name: string, what: string, from: number, to?: number): number | null;
}

const PORT_MAX = 65_535;

/** Reads a command about the lab. Throws a `UsageError`. */
export function readLabCommand(
  command: LabCommand,
  argument: string | null,
  given: Flags,
): LabAsked {
  const port = given.number("labPort", "a port", 1, PORT_MAX) ?? DEFAULT_LAB_PORT;
  const origin = `http://${DEFAULT_HOST}:${port}`;
  const account = given.text("account");
  const svg = given.text("svg");
  const clients = given.number("clients", "a number of clients", 2, 16);
  const stage = { ...(account && { account }), ...(clients && { clients }) };
  return { command, origin, svg, ...requestOf(command, argument ?? "", stage) };
}

type Request = Pick<LabAsked, "method" | "path" | "body">;

function requestOf(command: LabCommand, argument: string, stage: object): Request {
  const post = (path: string, body: object | null = null): Request => ({
    method: "POST",
    path,
    body,
  });
  switch (command) {
    case "lab status":
      return { method: "GET", path: "/", body: null };
    case "lab clock":
      return post("/clock", { ...clockChange(argument), ...stage });
    case "lab rule":
      return post("/rules", readRuleText(argument));
    case "lab waiting":
      return { method: "GET", path: "/waiting", body: null };
    case "lab release":
      return post("/release", argument === "" ? {} : { rule: Number(argument) });
    case "lab clear":
      return {
        method: "DELETE",
        path: argument === "" ? "/rules" : `/rules/${argument}`,
        body: null,
      };
    case "lab seed":
      return post("/seed", { seed: Number(argument) });
    case "lab save":
      return post(`/states/${encodeURIComponent(argument)}`);
    case "lab restore":
      return post(`/states/${encodeURIComponent(argument)}/restore`);
    case "lab reset":
      return post("/reset");
    case "lab scene":
      return post(`/scenes/${encodeURIComponent(argument)}`, stage);
    case "lab record":
      if (argument === "start") return post("/recording");
      if (argument === "stop") return { method: "DELETE", path: "/recording", body: null };
      throw new UsageError(`A recording can start or stop; not "${argument}".`);
  }
}

/** `move 20s` as the API takes it. */
function clockChange(text: string): object {
  const [verb = "", value = "", surplus] = text.split(" ");
  const isAlone = value === "";
  if (surplus === undefined) {
    if (verb === "move" && !isAlone) return { move: value };
    if (verb === "back" && !isAlone) return { move: `-${value}` };
    if (verb === "set" && !isAlone) return { set: value };
    if (["freeze", "resume", "reset"].includes(verb) && isAlone) return { [verb]: true };
  }
  throw new UsageError(
    `"${text}" does not change a clock. Say move 20s, back 5m, set 2030-01-01T00:00:00Z, freeze, ` +
      "resume or reset.",
  );
}

/** A rule as JSON, or as words: `operation=PutBlob answer=503`. */
function readRuleText(text: string): object {
  if (text.trimStart().startsWith("{")) {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new UsageError(`The rule is no JSON: ${(error as Error).message}.`);
    }
  }
  const fields = text.split(" ").map((word) => {
    const at = word.indexOf("=");
    if (at > 0) return [word.slice(0, at), fieldValue(word.slice(at + 1))];
    throw new UsageError(
      `"${word}" is no field of a rule. Write fields as operation=PutBlob answer=503, or the rule as JSON.`,
    );
  });
  return Object.fromEntries(fields);
}

/** Numbers, true, and objects in braces are JSON; everything else is a text. */
function fieldValue(text: string): unknown {
  if (!/^(?:\d+(?:\.\d+)?|true|false|\{.*\})$/.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
