import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import type { Clock } from "../base/clock.ts";
import type { OnOutcome } from "../front/outcome.ts";
import type { Asked, HttpLog } from "../front/rest/http/log.ts";
import { isFullError, StoreError } from "../store/store.ts";
import { accessLine } from "./access-line.ts";
import { StartError } from "./start-error.ts";

/** The least time between two lines about a full disk, on which every write fails. */
const FULL_AGAIN_MS = 60_000;

/** The output for users. */
export interface Terminal {
  out(line: string): void;
  err(line: string): void;
}

export interface LogFiles {
  /** The file of the access log; `-` is standard output. */
  readonly logFile: string | null;
  readonly debugFile: string | null;
}

export interface Log extends HttpLog {
  /** Writes the access log; undefined if there is none. */
  readonly onOutcome?: OnOutcome;
  /** An error outside of any request. */
  warn(what: string, error: unknown): void;
  /** A line for the operator. */
  tell(line: string): void;
  close(): Promise<void>;
}

/** Opens the logs; throws a `StartError` if one of them cannot be written. */
export async function openLog(files: LogFiles, terminal: Terminal, clock: Clock): Promise<Log> {
  const now = () => new Date(clock.now()).toISOString();
  const opened: LineFile[] = [];
  const open = async (flag: string, path: string) => {
    const file = await LineFile.open(flag, path, terminal);
    opened.push(file);
    return (line: string) => file.write(line);
  };
  let fullToldMs = Number.NEGATIVE_INFINITY;
  const mayRepeat = () => {
    if (clock.now() - fullToldMs < FULL_AGAIN_MS) return false;
    fullToldMs = clock.now();
    return true;
  };
  const { logFile, debugFile } = files;
  const access = logFile === "-" ? terminal.out : logFile && (await open("--log", logFile));
  const debug = debugFile && (await open("--debug", debugFile));
  return {
    failure(requestId, error, asked) {
      if (isFullError(error) && !mayRepeat()) return;
      const what = requestId === "" ? "a connection" : `request ${requestId}${askedFor(asked)}`;
      terminal.err(`${now()} ${what} failed: ${describe(error)}`);
    },
    tell: (line) => terminal.err(`${now()} ${line}.`),
    warn: (what, error) => terminal.err(`${now()} ${what}: ${describe(error)}`),
    ...(access ? { onOutcome: (one) => access(accessLine(one)) } : {}),
    ...(debug ? { debug: (text) => debug(`${now()} ${text}`) } : {}),
    close: async () => {
      for (const file of opened) await file.close();
    },
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

/** A file to which lines are appended. If it fails later, the server goes on without it. */
class LineFile {
  readonly #stream: WriteStream;

  private constructor(stream: WriteStream) {
    this.#stream = stream;
  }

  static async open(flag: string, path: string, terminal: Terminal): Promise<LineFile> {
    const stream = createWriteStream(path, { flags: "a" });
    try {
      await once(stream, "open");
    } catch (error) {
      const reason = (error as Error).message;
      throw new StartError(`The ${flag} file cannot be written (${reason}). Choose another one.`);
    }
    stream.on("error", (error) => terminal.err(`${path} is no longer written: ${error.message}`));
    return new LineFile(stream);
  }

  write(line: string): void {
    if (this.#stream.writable) this.#stream.write(`${line}\n`);
  }

  async close(): Promise<void> {
    await new Promise((resolve) => this.#stream.end(resolve));
  }
}
