import type { Clock } from "../base/clock.ts";
import type { OnOutcome } from "../front/outcome.ts";
import type { Asked, HttpLog } from "../front/rest/http/log.ts";
import { StoreError, type StoreErrorKind } from "../store/store.ts";
import { accessLineIn, type LogFormat } from "./access-line.ts";
import { LineFile } from "./line-file.ts";
import { isLogged } from "./logged-outcomes.ts";

/** Failures that last, so that very many requests meet them. */
const LASTING_KINDS: ReadonlySet<StoreErrorKind> = new Set(["full", "unreachable"]);
/** The least time between two lines about the same lasting failure. */
const LASTING_AGAIN_MS = 60_000;

/** The output for users. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
}

export interface LogFiles {
  /** The file of the access log; `-` is standard output. */
  readonly logFile: string | null;
  readonly logFormat: LogFormat;
  readonly debugFile: string | null;
}

export interface Log extends HttpLog {
  /** Writes the access log; undefined if there is none. */
  readonly onOutcome?: OnOutcome;
  /** An error outside of any request. */
  warn(what: string, error: unknown): void;
  /** A line for the operator. */
  tell(line: string): void;
  /** Opens the files again by their names, after somebody has renamed them. */
  reopen(): Promise<void>;
  /** Writes what is left. */
  close(): Promise<void>;
}

/** Opens the logs; throws a `StartError` if one of them cannot be written. */
export async function openLog(files: LogFiles, terminal: Terminal, clock: Clock): Promise<Log> {
  const now = () => new Date(clock.now()).toISOString();
  const tell = (line: string) => terminal.err(`${now()} ${line}.`);
  const opened: LineFile[] = [];
  const open = async (flag: string, path: string) => {
    const file = await LineFile.open(flag, { path, report: tell });
    opened.push(file);
    return (line: string) => file.write(line);
  };
  const toldMs = new Map<StoreErrorKind, number>();
  const mayRepeat = ({ kind }: StoreError) => {
    if (!LASTING_KINDS.has(kind)) return true;
    const lastMs = toldMs.get(kind) ?? Number.NEGATIVE_INFINITY;
    if (clock.now() - lastMs < LASTING_AGAIN_MS) return false;
    toldMs.set(kind, clock.now());
    return true;
  };
  const { logFile, debugFile } = files;
  const access = logFile === "-" ? terminal.out : logFile && (await open("--log", logFile));
  const debug = debugFile && (await open("--debug", debugFile));
  return {
    failure(requestId, error, asked) {
      if (error instanceof StoreError && !mayRepeat(error)) return;
      const what = requestId === "" ? "a connection" : `request ${requestId}${askedFor(asked)}`;
      terminal.err(`${now()} ${what} failed: ${describe(error)}`);
    },
    tell,
    warn: (what, error) => terminal.err(`${now()} ${what}: ${describe(error)}`),
    ...(access ? { onOutcome: accessLog(access, files.logFormat) } : {}),
    ...(debug ? { debug: (text) => debug(`${now()} ${text}`) } : {}),
    reopen: async () => {
      for (const file of opened) await file.reopen();
    },
    close: async () => {
      for (const file of opened) await file.close();
    },
  };
}

function accessLog(write: (line: string) => void, format: LogFormat): OnOutcome {
  const lineOf = accessLineIn(format);
  return (outcome) => {
    if (isLogged(outcome)) write(lineOf(outcome));
  };
}

/** Formats the request without its query, which may contain a signature. */
function askedFor(asked: Asked | undefined): string {
  return asked === undefined ? "" : ` (${asked.method} ${asked.path})`;
}

/** Describes an error: a message for a failure of the engine, also the stack for a bug. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const text = error instanceof StoreError ? error.message : (error.stack ?? error.message);
  return error.cause === undefined ? text : `${text} (${describe(error.cause)})`;
}
