import { parseArgs } from "node:util";
import { LISTENER_KINDS, type ListenerKind } from "../front/rest/http/listener-options.ts";
import { LOG_FORMATS, type LogFormat } from "./access-line.ts";
import { type AccountAsked, type GivenFlags, readAccountCommand } from "./account-flags.ts";
import type { BackupAsked } from "./backup/backup-command.ts";
import type { CheckBackupsAsked } from "./backup/check-backups.ts";
import type { RestoreAsked } from "./backup/restore-command.ts";
import { firstS3Flag, readS3Options, type S3Given } from "./bytes-options.ts";
import { asksForShared, type DataAsked, type SharedAsked } from "./command-place.ts";
import { helpTopic, readCommandWords } from "./command-words.ts";
import { originAt } from "./connection-string.ts";
import { requireNoContradictions } from "./contradictions.ts";
import { requireDistinctPorts } from "./distinct-ports.ts";
import {
  type CommandName,
  DEFAULT_HOST,
  DEFAULT_LOCATION,
  FLAGS,
  type Flag,
  flagLike,
  REST_SERVICES,
  SERVICE_NAMES,
  SERVICES,
  type ServiceName,
  SHARED_COMMANDS,
} from "./flags.ts";
import type { HoldersAsked } from "./holders-command.ts";
import { type LabAsked, readLabCommand } from "./lab-flags.ts";
import { PROGRAMS, type Program } from "./programs.ts";
import type { SeedAsked } from "./seed/seed-command.ts";
import {
  type ConsoleAt,
  type MetricsAt,
  PORT_MAX,
  readConsole,
  readLab,
  readMetrics,
} from "./side-addresses.ts";
import { UsageError } from "./start-error.ts";
import { readTransfer, type TransferAsked } from "./transfer-flags.ts";
import { readUsagePath, type UsageAsked } from "./usage-command.ts";
import type { VerifyAsked } from "./verify-command.ts";

/** The user's command, checked as far as possible without reading files. */
export type Asked =
  /** `topic` is the beginning of commands; null for the whole page. */
  | { readonly kind: "help"; readonly topic: string | null }
  | { readonly kind: "version" }
  | { readonly kind: "verify"; readonly asked: VerifyAsked }
  | { readonly kind: "backup"; readonly asked: BackupAsked }
  | { readonly kind: "check-backups"; readonly asked: CheckBackupsAsked }
  | { readonly kind: "restore"; readonly asked: RestoreAsked }
  | { readonly kind: "seed"; readonly asked: SeedAsked }
  | { readonly kind: "usage"; readonly asked: UsageAsked }
  | { readonly kind: "holders"; readonly asked: HoldersAsked }
  | { readonly kind: "health"; readonly origins: readonly string[] }
  | { readonly kind: "reload"; readonly asked: DataAsked }
  | { readonly kind: "transfer"; readonly asked: TransferAsked }
  | { readonly kind: "account"; readonly asked: AccountAsked }
  | { readonly kind: "lab"; readonly asked: LabAsked }
  | { readonly kind: "check"; readonly file: string; readonly svg: string | null }
  | { readonly kind: "start"; readonly options: Options; readonly notes: readonly string[] };

export interface Options {
  /** The services to start. */
  readonly services: readonly ServiceName[];
  /** Null if all data stays in memory. */
  readonly location: string | null;
  /** Whether the command line names it. */
  readonly isLocationGiven: boolean;
  /** The folder that Azurite would use with these flags; null if that does not matter. */
  readonly azuriteLocation: string | null;
  readonly memoryBytesMax: number | null;
  /** The URL of records that several front ends share; null for none. */
  readonly records: string | null;
  /** The place of the bytes that belong to these records. */
  readonly bytes: string | null;
  readonly s3: S3Given;
  /** A file with what the data shall have at the start; null for none. */
  readonly seedFile: string | null;
  /** Whether to start even if the write-ahead log has lost acknowledged writes. */
  readonly acceptDataLoss: boolean;
  /** MiB per second that are read to look for damage; null for none. */
  readonly scrub: number | null;
  readonly listen: Readonly<Record<ServiceName, ListenAt>>;
  /** The implementation of the HTTP listener. */
  readonly listener: ListenerKind;
  readonly maxConnections: number | null;
  readonly maxConnectionsPerAddress: number | null;
  /** How long to serve on after the signal to stop. */
  readonly stopDelayMs: number;
  readonly pathStyleOnly: boolean;
  readonly certificate: CertificateFiles | null;
  readonly oauthBasic: boolean;
  readonly trustNetwork: boolean;
  /** Null: by where it listens. */
  readonly smbEncryption: SmbEncryption | null;
  /** Null: by where it listens. */
  readonly smbMinDialect: SmbDialect | null;
  readonly silent: boolean;
  readonly logFile: string | null;
  readonly logFormat: LogFormat;
  readonly debugFile: string | null;
  /** Where metrics are served; null for nowhere. */
  readonly metrics: MetricsAt | null;
  /** Where the web console is served; null for nowhere. */
  readonly console: ConsoleAt | null;
  /** Where the lab listens; null without one. */
  readonly lab: MetricsAt | null;
  readonly configFile: string | null;
  /** The value of AZURITE_ACCOUNTS. */
  readonly accountList: string | null;
}

export interface ListenAt {
  readonly host: string;
  readonly port: number;
  readonly keepAliveMs: number | null;
}

export interface CertificateFiles {
  readonly cert: string;
  readonly key: string | null;
  readonly password: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const CONNECTIONS = "a number of connections";
const MIB = 1024 * 1024;
const SMB_ENCRYPTION = ["required", "preferred", "off"] as const;

const SMB_DIALECTS = ["2.0.2", "2.1", "3.0", "3.0.2", "3.1.1"] as const;

type SmbEncryption = (typeof SMB_ENCRYPTION)[number];
type SmbDialect = (typeof SMB_DIALECTS)[number];

/** Parses the arguments after the program's name. Throws a `UsageError`. */
export function readCommandLine(
  args: readonly string[],
  env: Environment,
  program: Program = PROGRAMS.lazuli,
): Asked {
  const { words, given } = readFlags(args, program);
  if (given.has("help")) return { kind: "help", topic: helpTopic(words) };
  if (given.has("version")) return { kind: "version" };
  const { command, argument } = readCommandWords(words, program);
  requireFlagsOf(command, given, program);
  requireUsableEnvironment(env);
  if (command === "start") return readStart(given, env, program);
  const s3Flag = firstS3Flag(given);
  const takesShared = SHARED_COMMANDS.some((one) => one === command);
  const isShared = takesShared && asksForShared(given, env.LAZULI_RECORDS);
  given.setDefaults(env);
  const location = given.text("location") ?? DEFAULT_LOCATION;
  const shared = isShared ? readShared(given, readS3Options(given, env, s3Flag)) : null;
  switch (command) {
    case "verify": {
      const bytes = given.text("bytes");
      if (shared !== null || bytes === null) return { kind: "verify", asked: { location, shared } };
      const s3 = readS3Options(given, env, s3Flag);
      return { kind: "verify", asked: { location, shared, bucket: { bytes, s3 } } };
    }
    case "backup": {
      const keep = given.number("keep", "a number of backups", 1);
      const to = { place: argument as string, json: given.has("json") };
      if (!given.has("check")) return { kind: "backup", asked: { location, shared, keep, ...to } };
      if (keep === null) return { kind: "check-backups", asked: to };
      throw new UsageError("--check and --keep contradict each other: it removes nothing.");
    }
    case "restore": {
      const backup = given.text("backup");
      const to = { place: argument as string, json: given.has("json") };
      return { kind: "restore", asked: { location, shared, backup, ...to } };
    }
    case "seed": {
      const asked = { location, file: argument as string, json: given.has("json") };
      return { kind: "seed", asked };
    }
    case "usage": {
      const path = argument === null ? null : readUsagePath(argument);
      return { kind: "usage", asked: { location, shared, path, json: given.has("json") } };
    }
    case "holders":
      return { kind: "holders", asked: { location, place: argument, json: given.has("json") } };
    case "health":
      return { kind: "health", origins: healthOrigins(given, program) };
    case "reload":
      return { kind: "reload", asked: { location, shared } };
    case "import":
    case "export": {
      const accountList = env.AZURITE_ACCOUNTS || null;
      const asked = readTransfer(command, argument ?? "", given, { location, accountList });
      return { kind: "transfer", asked };
    }
    case "account list":
    case "account add":
    case "account remove":
    case "account rotate-key": {
      const accountList = env.AZURITE_ACCOUNTS || null;
      const asked = readAccountCommand(command, argument, given, { location, accountList });
      return { kind: "account", asked };
    }
    case "check":
      return { kind: "check", file: argument ?? "", svg: given.text("svg") };
    default:
      return { kind: "lab", asked: readLabCommand(command, argument, given) };
  }
}

function readShared(given: Given, s3: S3Given): SharedAsked {
  return {
    records: given.text("records"),
    bytes: given.text("bytes"),
    s3,
    configFile: given.text("config"),
    database: given.text("database"),
  };
}

function readStart(given: Given, env: Environment, program: Program): Asked {
  const options = readOptions(given, env, program);
  const notes = FLAGS.filter((flag) => flag.idleMatters && given.has(flag.name)).map(
    (flag) => `--${flag.name} has no effect: ${flag.idle}.`,
  );
  return { kind: "start", options, notes };
}

/** The given flags and their values, empty for a switch. The last of a repeated flag counts. */
class Given implements GivenFlags {
  readonly #values = new Map<string, string>();

  set(name: string, value: string): void {
    this.#values.set(name, value);
  }

  /** Takes flags from the environment, unless the command line gives them. */
  setDefaults(env: Environment): void {
    for (const { name, value, env: variable = "" } of FLAGS) {
      const text = env[variable] ?? "";
      if (text === "" || this.has(name)) continue;
      if (value !== null) this.set(name, text);
      else if (isTrue(variable, text)) this.set(name, "");
    }
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  text(name: string): string | null {
    return this.#values.get(name) ?? null;
  }

  number(name: string, what: string, from: number, to = Number.MAX_SAFE_INTEGER): number | null {
    const text = this.text(name);
    if (text === null) return null;
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    const range = to === Number.MAX_SAFE_INTEGER ? `${from} or more` : `from ${from} to ${to}`;
    throw new UsageError(`--${name} needs ${what}, ${range}, not "${text}".`);
  }
}

function isTrue(variable: string, text: string): boolean {
  if (text === "true" || text === "1") return true;
  if (text === "false" || text === "0") return false;
  throw new UsageError(`${variable} is true or false, not "${text}".`);
}

function readFlags(args: readonly string[], program: Program): { words: string[]; given: Given } {
  const options = Object.fromEntries(FLAGS.map((flag) => [flag.name, parsedAs(flag)]));
  const { tokens } = parseArgs({
    args: [...args],
    options,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const given = new Given();
  const words: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") words.push(token.value);
    if (token.kind === "option") readFlag(given, token.rawName, token, program);
  }
  return { words, given };
}

function requireFlagsOf(command: CommandName, given: Given, program: Program): void {
  const foreign = FLAGS.find(
    ({ name, commands = ["start"] }) => given.has(name) && !commands.includes(command),
  );
  if (foreign === undefined) return;
  throw new UsageError(`--${foreign.name} has no meaning for \`${program.name} ${command}\`.`);
}

/** The services to start: those of the program, or those of them that `--services` names. */
function readServices(given: Given, program: Program): readonly ServiceName[] {
  const list = given.text("services");
  const services = list === null ? program.services : chosenServices(list, program);
  const idle = FLAGS.find(
    ({ name, service }) => service !== undefined && given.has(name) && !services.includes(service),
  );
  if (idle === undefined) return services;
  const titles = services.map((service) => SERVICES[service].title).join(", ");
  const [who, advice] =
    list === null
      ? [`\`${program.name}\` starts`, "Use `lazuli`"]
      : ["--services starts", "Leave it out, or add its service"];
  throw new UsageError(`--${idle.name} has no meaning here: ${who} ${titles} only. ${advice}.`);
}

function chosenServices(list: string, program: Program): readonly ServiceName[] {
  const names = list.split(",").map((name) => name.trim());
  const choices = SERVICE_NAMES.filter((service) => program.services.includes(service));
  const wrong = names.find((name) => !choices.some((one) => one === name));
  if (wrong !== undefined) {
    const what = wrong === "" ? "has an empty place" : `knows no service "${wrong}"`;
    throw new UsageError(
      `--services ${what}. Give a list such as --services ${choices.slice(0, 2).join(",")}; ` +
        `\`${program.name}\` has ${choices.join(", ")}.`,
    );
  }
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) {
    throw new UsageError(`--services names "${twice}" twice: name each service once.`);
  }
  return choices.filter((service) => names.includes(service));
}

function parsedAs(flag: Flag) {
  const type = flag.value === null ? ("boolean" as const) : ("string" as const);
  return flag.short === undefined ? { type } : { type, short: flag.short };
}

function readFlag(
  given: Given,
  written: string,
  token: {
    readonly name: string;
    readonly value: string | undefined;
    readonly inlineValue?: boolean | undefined;
  },
  program: Program,
): void {
  const { name, value, inlineValue } = token;
  const flag = FLAGS.find((one) => one.name === name);
  if (flag === undefined) {
    throw new UsageError(`There is no flag ${written}.${meant(name, program)}`);
  }
  if (flag.value === null) {
    if (value !== undefined) throw new UsageError(`${written} is a switch and takes no value.`);
    given.set(name, "");
    return;
  }
  const isNextFlag = !inlineValue && value !== undefined && /^-./.test(value);
  if (value === undefined || value === "" || isNextFlag) {
    throw new UsageError(`${written} needs a value: ${written} <${flag.value}>.`);
  }
  given.set(name, value);
}

function meant(name: string, program: Program): string {
  const like = flagLike(name, FLAGS);
  return like === undefined ? ` See \`${program.name} --help\`.` : ` Did you mean --${like.name}?`;
}

function requireUsableEnvironment(env: Environment): void {
  if (env.AZURITE_DB) {
    throw new UsageError(
      "AZURITE_DB is set, which Lazuli does not use: it keeps its data in a folder, or shares records " +
        "in PostgreSQL. Unset AZURITE_DB, and use --location or --records.",
    );
  }
}

function readOptions(given: Given, env: Environment, program: Program): Options {
  requireNoContradictions(given);
  const s3Flag = firstS3Flag(given);
  const isLocationGiven = given.has("location");
  given.setDefaults(env);
  const services = readServices(given, program);
  const memoryMib = given.number("extentMemoryLimit", "a number of MiB", 1);
  const isInMemory = given.has("inMemoryPersistence");
  const location = given.text("location");
  return {
    services,
    location: isInMemory ? null : (location ?? DEFAULT_LOCATION),
    isLocationGiven,
    azuriteLocation: isInMemory || !program.isAzurite ? null : (location ?? "."),
    memoryBytesMax: memoryMib === null ? null : memoryMib * MIB,
    records: given.text("records"),
    bytes: given.text("bytes"),
    s3: readS3Options(given, env, s3Flag),
    seedFile: given.text("seed"),
    acceptDataLoss: given.has("acceptDataLoss"),
    scrub: given.number("scrub", "a number of MiB a second", 1),
    listen: readListen(given, services, program),
    listener: readOneOf(given, "listener", LISTENER_KINDS) ?? "own",
    maxConnections: given.number("maxConnections", CONNECTIONS, 1),
    maxConnectionsPerAddress: given.number("maxConnectionsPerAddress", CONNECTIONS, 1),
    stopDelayMs: (given.number("stopDelay", "a number of seconds", 0, 3600) ?? 0) * 1000,
    pathStyleOnly: given.has("disableProductStyleUrl"),
    certificate: readCertificate(given),
    oauthBasic: given.has("oauth"),
    trustNetwork: given.has("trustNetwork"),
    smbEncryption: readOneOf(given, "smbEncryption", SMB_ENCRYPTION),
    smbMinDialect: readOneOf(given, "smbMinDialect", SMB_DIALECTS),
    silent: given.has("silent"),
    logFile: given.text("log"),
    logFormat: readOneOf(given, "logFormat", LOG_FORMATS) ?? "text",
    debugFile: given.text("debug"),
    metrics: readMetrics(given),
    console: readConsole(given, program),
    lab: readLab(given),
    configFile: given.text("config"),
    accountList: env.AZURITE_ACCOUNTS || null,
  };
}

/** Null if the flag is not given. */
function readOneOf<Choice extends string>(
  given: Given,
  flag: string,
  choices: readonly Choice[],
): Choice | null {
  const asked = given.text(flag);
  const choice = choices.find((one) => one === asked) ?? null;
  if (choice !== null || asked === null) return choice;
  throw new UsageError(`--${flag} is ${choices.join(", ")}; not "${asked}".`);
}

function readListen(
  given: Given,
  services: readonly ServiceName[],
  program: Program,
): Record<ServiceName, ListenAt> {
  const host = given.text("host") ?? DEFAULT_HOST;
  const entries = SERVICE_NAMES.map((service) => {
    const seconds = given.number(`${service}KeepAliveTimeout`, "a number of seconds", 0);
    const at: ListenAt = {
      host: given.text(`${service}Host`) ?? host,
      port: given.number(`${service}Port`, "a port", 0, PORT_MAX) ?? SERVICES[service].port,
      keepAliveMs: seconds === null ? null : seconds * 1000,
    };
    return [service, at] as const;
  });
  const metrics = readMetrics(given);
  const console = readConsole(given, program);
  const lab = readLab(given);
  requireDistinctPorts([
    ...entries.filter(([service]) => services.includes(service)),
    ...(metrics === null ? [] : [["metrics", metrics] as const]),
    ...(console === null || console.isAnyPort ? [] : [["console", console] as const]),
    ...(lab === null ? [] : [["lab", lab] as const]),
  ]);
  return Object.fromEntries(entries) as Record<ServiceName, ListenAt>;
}

/** The addresses to ask: of the services that flags name, otherwise of all. */
function healthOrigins(given: Given, { services }: Program): string[] {
  const listen = readListen(given, services, PROGRAMS.lazuli);
  const own = REST_SERVICES.filter((service) => services.includes(service));
  const named = own.filter((service) => given.has(`${service}Host`) || given.has(`${service}Port`));
  return (named.length === 0 ? own : named).map((service) => {
    const { host, port } = listen[service];
    if (port !== 0) return originAt("http", host, port);
    throw new UsageError(`--${service}Port 0 names no server: give the port that it printed.`);
  });
}

function readCertificate(given: Given): CertificateFiles | null {
  const cert = given.text("cert");
  const key = given.text("key");
  const password = given.text("pwd");
  if (cert !== null) return { cert, key, password };
  if (key !== null || password !== null) {
    throw new UsageError("--key and --pwd belong to a certificate: give it with --cert.");
  }
  return null;
}
