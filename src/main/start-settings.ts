import { Buffer } from "node:buffer";
import { readCommandLine } from "./command-line.ts";
import { FLAGS, type Flag, flagLike } from "./flags.ts";
import { PROGRAMS } from "./programs.ts";
import { readFile } from "./read-file.ts";
import { readSettings, type Settings } from "./settings.ts";
import { UsageError } from "./start-error.ts";
import type { StartOptions, StartService } from "./start-options.ts";

const SERVICE_CHOICES: readonly StartService[] = ["blob", "queue", "table", "file", "dfs", "smb"];

/** The flags that are no options: they print something, or `start` has an option of its own. */
const NO_OPTIONS: readonly string[] = ["help", "version", "silent", "services", "noConsole"];
/** The names on the help page of values that are numbers. */
const NUMBERS: readonly string[] = ["MiB", "number", "port", "seconds"];

function isOption({ name, idle, commands = ["start"] }: Flag): boolean {
  return idle === undefined && commands.includes("start") && !NO_OPTIONS.includes(name);
}

/** The options that the command line takes as flags. */
export const FLAG_OPTIONS: readonly Flag[] = FLAGS.filter(isOption);

/** Stands for the path of the configuration file, in messages too, if the options contain it. */
const START = "start()";
/** Ends like a file with JSON. */
const SEED_NAME = "start() seed.json";

/**
 * Checks the options of a programmatic start. They become arguments of the command line, so that
 * each rule and its message exist once. Throws a `UsageError`.
 */
export function readStartOptions({ seed, ...options }: StartOptions): Settings {
  if (seed === undefined) return readAllBut(options);
  if (typeof seed === "string") return { ...readAllBut(options), seedFile: seed };
  if (typeof seed !== "object" || seed === null) {
    throw new UsageError(`${START}: seed must be a file or an object.`);
  }
  // Indented, so that a line and a column help to find what is wrong.
  const text = JSON.stringify(seed, null, 2);
  return { ...readAllBut(options), seed: { name: SEED_NAME, text, folder: process.cwd() } };
}

function readAllBut(options: Omit<StartOptions, "seed">): Settings {
  const { services = SERVICE_CHOICES, accounts, config, onLine: _, ...flags } = options;
  requireServices(services);
  const args = Object.entries(flags).flatMap(([name, value]) => argumentOf(name, value, services));
  const inConfig = typeof config === "object" ? [config.records, config.databases] : [];
  const hasPlace = [flags.location, flags.records, flags.bytes, ...inConfig].some(
    (place) => place !== undefined,
  );
  if (!hasPlace && !flags.inMemoryPersistence) {
    args.push("--inMemoryPersistence");
  }
  const anyPorts = services.map((service) => `--${service}Port=0`);
  if (flags.consolePort === undefined && flags.consoleHost === undefined) args.push("--noConsole");
  if (flags.lab === true) anyPorts.push("--labPort=0");
  // Of a repeated flag the last one counts.
  const asked = readCommandLine([...anyPorts, ...args], {}, { ...PROGRAMS.lazuli, services });
  if (asked.kind !== "start") throw new UsageError(`${START} starts a server only.`);
  if (typeof config === "string") {
    if (accounts === undefined) return readSettings({ ...asked.options, configFile: config });
    throw new UsageError(
      `${START} has accounts twice, in accounts and in ${config}: keep one of them.`,
    );
  }
  if (accounts === undefined && config === undefined) return readSettings(asked.options);
  const text = JSON.stringify({ ...config, ...(accounts === undefined ? {} : { accounts }) });
  try {
    return readSettings({ ...asked.options, configFile: START }, (file) =>
      file === START ? Buffer.from(text) : readFile(file),
    );
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    // Line and column are of a text that the caller never sees.
    throw new UsageError(error.message.replace(/^start\(\):\d+:\d+/, START));
  }
}

function requireServices(services: readonly string[]): void {
  const isKnown = (name: string) => (SERVICE_CHOICES as readonly string[]).includes(name);
  if (Array.isArray(services) && services.length > 0 && services.every(isKnown)) return;
  const names = SERVICE_CHOICES.map((name) => `"${name}"`).join(", ");
  throw new UsageError(`${START}: services must be a list of one or more of ${names}.`);
}

function argumentOf(name: string, value: unknown, services: readonly string[]): string[] {
  if (value === undefined) return [];
  const flag = FLAG_OPTIONS.find((one) => one.name === name);
  if (flag === undefined) {
    throw new UsageError(`${START}: there is no option "${name}".${meant(name)}`);
  }
  if (flag.service !== undefined && !services.includes(flag.service)) {
    throw new UsageError(`${START}: ${name} needs "${flag.service}" in services.`);
  }
  const type = typeOf(flag);
  if (typeof value !== type) throw new UsageError(`${START}: ${name} must be a ${type}.`);
  if (type === "boolean") return value === true ? [`--${name}`] : [];
  return [`--${name}=${value}`];
}

function typeOf({ value }: Flag): "boolean" | "number" | "string" {
  if (value === null) return "boolean";
  return NUMBERS.includes(value) ? "number" : "string";
}

function meant(name: string): string {
  const like = flagLike(name, FLAG_OPTIONS);
  return like === undefined ? " See docs/guides/testing.md." : ` Did you mean ${like.name}?`;
}
