import { FAULT_CODES } from "../base/fault.ts";
import { REST_SERVICE_NAMES } from "../front/outcome.ts";
import { LabError } from "./lab-error.ts";
import { operationsOf, SMB_OPERATIONS } from "./operations.ts";
import {
  type Fields,
  readAccount,
  readDuration,
  readFields,
  readInteger,
  readOneOf,
  readText,
  requireTrue,
  shown,
} from "./read-fields.ts";
import {
  type Effect,
  type Match,
  POINTS,
  type Point,
  type Rule,
  type RuleService,
  type ThirdParty,
} from "./rule.ts";
import { REFUSALS } from "./smb-gate.ts";

const SERVICES = [...REST_SERVICE_NAMES, "smb"] as const;
const MATCHES = [
  "service",
  "operation",
  "method",
  "account",
  "container",
  "object",
  "clientRequestId",
  "headers",
] as const;
const EFFECTS = ["answer", "drop", "delay", "truncate", "slow", "hold", "run"] as const;
const OTHERS = ["at", "times", "skip", "chance", "retryAfter", "timeout"] as const;
const FIELDS = [...MATCHES, ...EFFECTS, ...OTHERS];

type EffectName = (typeof EFFECTS)[number];

export const STATUSES = [409, 412, 429, 500, 503] as const;
const METHODS = ["GET", "HEAD", "PUT", "POST", "DELETE", "PATCH", "MERGE"] as const;
const TIMES_MAX = 1_000_000;
const HOLD_MS = 30_000;
/** Longer than a test waits; SDK clients give up earlier. */
const WAIT_MS_MAX = 3_600_000;
const BYTES_MAX = Number.MAX_SAFE_INTEGER;

/** Where each effect may act; the first is the default. */
const PLACES: Readonly<Record<EffectName, readonly Point[]>> = {
  answer: POINTS,
  drop: POINTS,
  delay: POINTS,
  hold: ["read", "arrival", "commit", "answer"],
  run: ["read", "arrival", "commit", "answer"],
  truncate: ["answer"],
  slow: ["answer"],
};

/** Fields that make no sense over SMB. */
const REST_FIELDS = ["method", "clientRequestId", "headers", "retryAfter", "truncate", "slow"];
/**
 * Between these a request over SMB is refused or dropped by nobody: a CLOSE that ended half-way
 * would leave its handle open for ever.
 */
const ENDS: readonly Point[] = ["arrival", "answer"];
const SMB_PLACES = { ...PLACES, answer: ENDS, drop: ENDS };

/** Checks a rule. Throws a `LabError` that says what is allowed. */
export function readRule(asked: unknown, accounts: readonly string[]): Rule {
  const fields = readFields(asked, "A rule", FIELDS);
  const given = EFFECTS.filter((name) => fields[name] !== undefined);
  const [name] = given;
  if (name === undefined || given.length > 1) {
    throw new LabError(
      `A rule has one effect: ${EFFECTS.join(", ")}. This one has ${given.join(" and ") || "none"}.`,
    );
  }
  requireCompanion(fields, "retryAfter", name, "answer");
  requireCompanion(fields, "timeout", name, "hold");
  const isSmb = fields.service === "smb";
  if (isSmb) requireNoneOf(REST_FIELDS, fields);
  const places = (isSmb ? SMB_PLACES : PLACES)[name];
  return {
    match: readMatch(fields, accounts),
    at: fields.at === undefined ? (places[0] as Point) : readOneOf(fields.at, "at", places),
    effect: readEffect(name, fields, isSmb, accounts),
    times: readTimes(fields.times),
    skip: fields.skip === undefined ? 0 : readInteger(fields.skip, "skip", 0, TIMES_MAX),
    chance: readChance(fields.chance),
  };
}

function requireCompanion(fields: Fields, field: string, name: EffectName, of: EffectName): void {
  if (fields[field] === undefined || name === of) return;
  throw new LabError(`${field} belongs to ${of}, and this rule has ${name}: leave it out.`);
}

function requireNoneOf(names: readonly string[], fields: Fields): void {
  const wrong = names.find((name) => fields[name] !== undefined);
  if (wrong === undefined) return;
  throw new LabError(
    `${wrong} is about requests over REST. A rule with "service": "smb" has no ${names.join(", ")}.`,
  );
}

function readMatch(fields: Fields, accounts: readonly string[]): Match {
  const { service, operation, method, account, headers } = fields;
  const known = service === undefined ? undefined : readOneOf(service, "service", SERVICES);
  if (account !== undefined) readAccount(account, "account", accounts);
  const patterns = Object.fromEntries(
    (["account", "container", "object", "clientRequestId"] as const)
      .filter((name) => fields[name] !== undefined)
      .map((name) => [name, readText(fields[name], name)]),
  );
  return {
    ...patterns,
    ...(known === undefined ? {} : { service: known }),
    ...(operation === undefined ? {} : { operation: readOperation(operation, known) }),
    ...(method === undefined ? {} : { method: readOneOf(method, "method", METHODS) }),
    ...(headers === undefined ? {} : { headers: readHeaders(headers, "headers") }),
  };
}

function readOperation(value: unknown, service: RuleService | undefined): string {
  const text = readText(value, "operation");
  const all = operationsFor(service);
  const word = text.toLowerCase();
  const isIt = (name: string) => name.toLowerCase() === word;
  const found = all.find(isIt);
  if (found !== undefined) return found;
  if (service === undefined && SMB_OPERATIONS.some(isIt)) {
    throw new LabError(`${text} is an operation over SMB: add "service": "smb".`);
  }
  const near = all.filter((name) => name.toLowerCase().includes(word));
  throw new LabError(
    `There is no operation ${shown(text)}${service === undefined ? "" : ` of ${service}`}. ` +
      `There are ${(near.length > 0 ? near : all).sort().join(", ")}.`,
  );
}

function operationsFor(service: RuleService | undefined): string[] {
  if (service === "smb") return [...SMB_OPERATIONS];
  const services = service === undefined ? REST_SERVICE_NAMES : [service];
  return [...new Set(services.flatMap(operationsOf))];
}

export function readHeaders(value: unknown, name: string): Record<string, string> {
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  const entries = isObject ? Object.entries(value) : [];
  const isValid = isObject && entries.every(([, text]) => typeof text === "string");
  if (!isValid) {
    throw new LabError(`${name} must be an object of texts, such as {"x-ms-lease-id": "*"}.`);
  }
  return Object.fromEntries(entries.map(([key, text]) => [key.toLowerCase(), text as string]));
}

function readEffect(
  name: EffectName,
  fields: Fields,
  isSmb: boolean,
  accounts: readonly string[],
): Effect {
  const value = fields[name];
  switch (name) {
    case "answer":
      return isSmb ? readSmbAnswer(value) : readAnswer(value, fields.retryAfter);
    case "drop":
      requireTrue(value, name);
      return { kind: "drop" };
    case "delay":
      return { kind: "delay", ms: readWait(value, name) };
    case "truncate":
      return { kind: "truncate", bytes: readInteger(value, name, 0, BYTES_MAX) };
    case "slow":
      return { kind: "slow", bytesPerSecond: readInteger(value, name, 1, BYTES_MAX) };
    case "hold": {
      requireTrue(value, name);
      const { timeout } = fields;
      return {
        kind: "hold",
        timeoutMs: timeout === undefined ? HOLD_MS : readWait(timeout, "timeout"),
      };
    }
    case "run":
      return { kind: "run", request: readThirdParty(value, accounts) };
  }
}

function readWait(value: unknown, name: string): number {
  const ms = readDuration(value, name, 1);
  if (ms <= WAIT_MS_MAX) return ms;
  throw new LabError(`${name} must be an hour or shorter.`);
}

function readAnswer(value: unknown, retryAfter: unknown): Effect {
  const code = FAULT_CODES.find((one) => one === value) ?? null;
  const status = STATUSES.find((one) => one === value) ?? null;
  if (code === null && status === null) {
    throw new LabError(
      `answer must be one of ${STATUSES.join(", ")}, or an error code such as "LeaseIdMissing" ` +
        `(docs/reference/errors.md has all); not ${shown(value)}.`,
    );
  }
  const seconds = retryAfter === undefined ? null : readInteger(retryAfter, "retryAfter", 0, 3_600);
  return { kind: "answer", status, code, retryAfter: seconds };
}

function readSmbAnswer(value: unknown): Effect {
  if (typeof value === "string" && REFUSALS.has(value)) {
    return { kind: "answer", status: null, code: value, retryAfter: null };
  }
  throw new LabError(
    `Over SMB, answer must be one of ${[...REFUSALS.keys()].sort().join(", ")}; not ${shown(value)}.`,
  );
}

function readThirdParty(value: unknown, accounts: readonly string[]): ThirdParty {
  const names = ["service", "account", "method", "path", "headers", "body"];
  const { service, account, method, path, headers, body } = readFields(value, "run", names);
  const at = readText(path, "run.path");
  if (!at.startsWith("/") || /[^\x21-\x7e]/.test(at)) {
    throw new LabError(
      `run.path must begin with a slash and be percent-encoded, such as "/box/doc.txt?comp=metadata".`,
    );
  }
  if (body !== undefined && typeof body !== "string")
    throw new LabError("run.body must be a text.");
  return {
    service: service === undefined ? null : readOneOf(service, "run.service", REST_SERVICE_NAMES),
    account: account === undefined ? null : readAccount(account, "run.account", accounts),
    method: readOneOf(method, "run.method", METHODS),
    path: at,
    headers: headers === undefined ? {} : readHeaders(headers, "run.headers"),
    body: body ?? "",
  };
}

function readTimes(value: unknown): number | null {
  if (value === undefined) return 1;
  if (value === "always") return null;
  if (Number.isSafeInteger(value)) return readInteger(value, "times", 1, TIMES_MAX);
  throw new LabError(`times must be a whole number, 1 or more, or "always"; not ${shown(value)}.`);
}

function readChance(value: unknown): number {
  if (value === undefined) return 1;
  if (typeof value === "number" && value > 0 && value <= 1) return value;
  throw new LabError(`chance must be a number above 0, up to 1, such as 0.2; not ${shown(value)}.`);
}
