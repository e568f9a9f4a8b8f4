import { DAY_MS } from "../base/limits.ts";
import { LabError } from "./lab-error.ts";

/** The fields of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: DAY_MS,
};

/** Checks that a value is an object with no other fields than these. */
export function readFields(value: unknown, what: string, names: readonly string[]): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new LabError(`${what} must be a JSON object with fields of ${names.join(", ")}.`);
  }
  const wrong = Object.keys(value).find((name) => !names.includes(name));
  if (wrong === undefined) return value as Fields;
  throw new LabError(`${what} has no field "${wrong}". Its fields are ${names.join(", ")}.`);
}

/** `20s` in milliseconds; `from` is the least, in milliseconds. */
export function readDuration(value: unknown, name: string, from = 0): number {
  const [, number, unit = ""] = /^([+-]?\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(`${value}`) ?? [];
  const ms = Math.round(Number(number) * (UNITS_MS[unit] ?? Number.NaN));
  if (Number.isSafeInteger(ms) && ms >= from) return ms;
  const least = from > Number.MIN_SAFE_INTEGER ? `, ${from} ms or longer` : "";
  throw new LabError(
    `${name} must be a duration such as "500ms", "20s", "15m", "2h" or "7d"${least}; ` +
      `not ${shown(value)}.`,
  );
}

export function readText(value: unknown, name: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new LabError(`${name} must be a text; not ${shown(value)}.`);
}

/** The name of an account that there is. */
export function readAccount(value: unknown, name: string, accounts: readonly string[]): string {
  const account = readText(value, name);
  if (accounts.includes(account)) return account;
  const some = accounts.slice(0, ACCOUNTS_SHOWN_MAX).join(", ");
  const more = accounts.length > ACCOUNTS_SHOWN_MAX ? `, and ${accounts.length} in all` : "";
  throw new LabError(
    `There is no account ${shown(account)} on this server. There are ${some}${more}.`,
  );
}

/** A whole number in a path or query. */
export function readIntegerText(text: string, name: string, from: number, to: number): number {
  return readInteger(/^-?\d+$/.test(text) ? Number(text) : text, name, from, to);
}

export function readInteger(value: unknown, name: string, from: number, to: number): number {
  if (Number.isSafeInteger(value) && (value as number) >= from && (value as number) <= to) {
    return value as number;
  }
  const range = to === Number.MAX_SAFE_INTEGER ? `${from} or more` : `from ${from} to ${to}`;
  throw new LabError(`${name} must be a whole number, ${range}; not ${shown(value)}.`);
}

export function readOneOf<Choice extends string>(
  value: unknown,
  name: string,
  choices: readonly Choice[],
): Choice {
  const found = choices.find((choice) => choice === value);
  if (found !== undefined) return found;
  throw new LabError(`${name} must be one of ${choices.join(", ")}; not ${shown(value)}.`);
}

/** A switch that is present must be on: `false` would mean the same as leaving it out. */
export function requireTrue(value: unknown, name: string): true {
  if (value === true) return true;
  throw new LabError(`${name} must be true, or left out; not ${shown(value)}.`);
}

const SHOWN_CHARS_MAX = 80;
const ACCOUNTS_SHOWN_MAX = 20;

export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length <= SHOWN_CHARS_MAX ? text : `${text.slice(0, SHOWN_CHARS_MAX)}…`;
}
