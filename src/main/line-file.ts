import { close, open, write } from "node:fs";
import { promisify } from "node:util";
import { KIB, MIB } from "../base/limits.ts";
import { StartError } from "./start-error.ts";

/** The part of the file system that log files need; tests bring their own. */
export interface LineFileSystem {
  /** Opens a file to append to it, and makes it if it is missing. */
  open(path: string): Promise<number>;
  /** Appends all of the text. */
  append(fd: number, text: string): Promise<void>;
  close(fd: number): Promise<void>;
}

const openFile = promisify(open);
const writeFile = promisify(write);

export const systemLineFiles: LineFileSystem = {
  open: (path) => openFile(path, "a"),
  async append(fd, text) {
    const bytes = Buffer.from(text, "utf8");
    for (let at = 0; at < bytes.length; ) {
      at += (await writeFile(fd, bytes, at, bytes.length - at, null)).bytesWritten;
    }
  },
  close: promisify(close),
};

/** How long a line may wait for others. */
const GATHER_MS = 100;
/** So many characters are written at once. */
const GATHERED_CHARS = 64 * KIB;
/** Characters that may wait for a slow disk. Further lines are lost. */
const WAITING_CHARS_MAX = 64 * MIB;

export interface LineFileOptions {
  readonly path: string;
  /** Receives lines for the operator. */
  report(line: string): void;
  readonly files?: LineFileSystem;
  readonly waitingMax?: number;
}

/**
 * A file to which lines are appended. Lines are gathered for a moment, or until they are many, and
 * written together: a write for each line would cost more than the line itself. If the file cannot be written, its lines are lost and the server
 * goes on. The operator is told when that begins, and when it ends.
 */
export class LineFile {
  readonly #path: string;
  readonly #report: (line: string) => void;
  readonly #files: LineFileSystem;
  readonly #waitingMax: number;
  #fd: number;
  /** The file that replaces the present one before the next write. */
  #nextFd: number | null = null;
  #waiting = "";
  #waitingLines = 0;
  /** Lines lost since the last successful write. */
  #lost = 0;
  /** Set while lines are gathered and written. */
  #writing: Promise<void> | null = null;
  /** Ends the gathering of lines. */
  #hurry = () => {};
  #isClosed = false;

  private constructor(fd: number, files: LineFileSystem, options: LineFileOptions) {
    this.#fd = fd;
    this.#files = files;
    this.#path = options.path;
    this.#report = options.report;
    this.#waitingMax = options.waitingMax ?? WAITING_CHARS_MAX;
  }

  /** Throws a `StartError` if the file, which a flag names, cannot be opened. */
  static async open(flag: string, options: LineFileOptions): Promise<LineFile> {
    const { path, files = systemLineFiles } = options;
    try {
      return new LineFile(await files.open(path), files, options);
    } catch (error) {
      const reason = (error as Error).message;
      throw new StartError(`The ${flag} file cannot be written (${reason}). Choose another one.`);
    }
  }

  write(line: string): void {
    if (this.#isClosed) return;
    if (this.#waiting.length > this.#waitingMax) {
      this.#lose(1, "the disk is too slow");
      return;
    }
    this.#waiting += `${line}\n`;
    this.#waitingLines++;
    this.#writing ??= this.#write();
    if (this.#waiting.length >= GATHERED_CHARS) this.#hurry();
  }

  /** Opens the file again by its name. Every line goes to the old file or to the new one. */
  async reopen(): Promise<void> {
    let fd: number;
    try {
      fd = await this.#files.open(this.#path);
    } catch (error) {
      const reason = (error as Error).message;
      this.#report(`${this.#path} cannot be opened again (${reason}): it goes on as it was`);
      return;
    }
    if (this.#isClosed) {
      await this.#files.close(fd);
      return;
    }
    this.#nextFd = fd;
    this.#writing ??= this.#write();
    this.#hurry();
    await this.#writing;
  }

  /** Writes everything that came before. Later lines are ignored. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#hurry();
    await this.#writing;
    await this.#files.close(this.#fd);
  }

  async #write(): Promise<void> {
    await this.#gather();
    while (this.#waiting !== "" || this.#nextFd !== null) {
      if (this.#nextFd !== null) await this.#replaceFile(this.#nextFd);
      else await this.#writeWaiting();
    }
    // Nothing may come between the last look and this line.
    this.#writing = null;
  }

  /** Resolves when enough lines wait, or have waited long enough. */
  async #gather(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS);
      this.#hurry = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#hurry = () => {};
  }

  async #replaceFile(fd: number): Promise<void> {
    const old = this.#fd;
    this.#fd = fd;
    this.#nextFd = null;
    // Everything was written; what else may be wrong with the old file is no news any more.
    await this.#files.close(old).catch(() => {});
  }

  async #writeWaiting(): Promise<void> {
    // The end of the last write may be missing.
    const text = this.#lost > 0 ? `\n${this.#waiting}` : this.#waiting;
    const lines = this.#waitingLines;
    this.#waiting = "";
    this.#waitingLines = 0;
    try {
      await this.#files.append(this.#fd, text);
    } catch (error) {
      this.#lose(lines, (error as Error).message);
      return;
    }
    if (this.#lost === 0) return;
    this.#report(`${this.#path} is written again: ${this.#lost} lines were lost`);
    this.#lost = 0;
  }

  #lose(lines: number, reason: string): void {
    if (this.#lost === 0) {
      this.#report(`${this.#path} cannot be written (${reason}): lines are lost until it can`);
    }
    this.#lost += lines;
  }
}
