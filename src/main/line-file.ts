import { close, open, write } from "node:fs";
import { promisify } from "node:util";
import type { Bytes } from "../base/bytes.ts";
import { KIB, MIB } from "../base/limits.ts";
import { StartError } from "./start-error.ts";

/** The part of the file system that log files need; tests bring their own. */
export interface LineFileSystem {
  /** Opens a file to append to it, and makes it if it is missing. */
  open(path: string): Promise<number>;
  /** Appends all of the bytes. */
  append(fd: number, bytes: Bytes): Promise<void>;
  close(fd: number): Promise<void>;
}

const openFile = promisify(open);
const writeFile = promisify(write);

export const systemLineFiles: LineFileSystem = {
  open: (path) => openFile(path, "a"),
  async append(fd, bytes) {
    for (let at = 0; at < bytes.length; ) {
      at += (await writeFile(fd, bytes, at, bytes.length - at, null)).bytesWritten;
    }
  },
  close: promisify(close),
};

/** How long a line may wait for others. */
export const GATHER_MS = 100;
/** The bytes of one write. Smaller writes cost more, because each wakes a thread. */
const CHUNK_BYTES = 256 * KIB;
/** The characters that are encoded at once, which costs less than encoding each line. */
const TEXT_LENGTH = 4 * KIB;
/** Bytes that may wait for a slow disk. Further lines are lost. */
const WAITING_BYTES_MAX = 64 * MIB;
/** The most bytes that a character of a JavaScript string takes in UTF-8. */
const CHARACTER_BYTES_MAX = 3;
const LINE_END = "\n";

export interface LineFileOptions {
  readonly path: string;
  /** Receives lines for the operator. */
  report(line: string): void;
  readonly files?: LineFileSystem;
  readonly waitingMax?: number;
}

/**
 * A file to which lines are appended. Lines are gathered for a moment, or until they are many, and
 * written together: a write for each line would cost more than the line itself. If the file cannot
 * be written, its lines are lost and the server goes on. It reports when that begins, and when it
 * ends.
 */
export class LineFile {
  readonly #path: string;
  readonly #report: (line: string) => void;
  readonly #files: LineFileSystem;
  readonly #waitingMax: number;
  #fd: number;
  /** The file that replaces the present one before the next write. */
  #nextFd: number | null = null;
  /** Full chunks, the oldest first. */
  #waiting: Chunk[] = [];
  #waitingBytes = 0;
  /** The chunk to which text is added. */
  #filling = newChunk(CHUNK_BYTES);
  /** The newest lines, which are not encoded yet. */
  #text = "";
  #textLines = 0;
  /** A written chunk, for the next lines. */
  #spare: Chunk | null = null;
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
    this.#waitingMax = options.waitingMax ?? WAITING_BYTES_MAX;
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
    if (this.#waitingBytes + this.#filling.used + this.#text.length > this.#waitingMax) {
      this.#lose(1, "the disk is too slow");
      return;
    }
    this.#text += line + LINE_END;
    this.#textLines++;
    if (this.#text.length >= TEXT_LENGTH) this.#encode();
    this.#writing ??= this.#write();
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
    while (this.#writing !== null) {
      this.#hurry();
      await this.#writing;
    }
    await this.#files.close(this.#fd);
  }

  /**
   * Writes full chunks, or the lines that are there after a moment. Lines that come meanwhile wait
   * for others in turn: otherwise a busy server would write a few lines at a time.
   */
  async #write(): Promise<void> {
    await this.#gather();
    this.#encode();
    if (this.#waiting.length === 0 && this.#filling.lines > 0) this.#beginChunk(CHUNK_BYTES);
    while (this.#nextFd !== null || this.#waiting.length > 0) {
      if (this.#nextFd !== null) await this.#replaceFile(this.#nextFd);
      else await this.#writeChunk(this.#waiting.shift() as Chunk);
    }
    // Nothing may come between the last look and this line.
    this.#writing = this.#filling.lines + this.#textLines > 0 ? this.#write() : null;
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

  /** Moves the text to a chunk. */
  #encode(): void {
    const room = this.#text.length * CHARACTER_BYTES_MAX;
    if (this.#filling.used + room > this.#filling.bytes.length) this.#beginChunk(room);
    const chunk = this.#filling;
    chunk.used += chunk.bytes.write(this.#text, chunk.used, "utf8");
    chunk.lines += this.#textLines;
    this.#text = "";
    this.#textLines = 0;
  }

  /** Begins a chunk with at least `room` bytes. */
  #beginChunk(room: number): void {
    if (this.#filling.lines > 0) this.#waiting.push(this.#filling);
    this.#waitingBytes += this.#filling.used;
    this.#filling = (room <= CHUNK_BYTES ? this.#spare : null) ?? newChunk(room);
    this.#spare = null;
    this.#hurry();
  }

  async #replaceFile(fd: number): Promise<void> {
    const old = this.#fd;
    this.#fd = fd;
    this.#nextFd = null;
    // Ignores a failure: all lines of the old file were written before.
    await this.#files.close(old).catch(() => {});
  }

  async #writeChunk(chunk: Chunk): Promise<void> {
    try {
      // The end of the last write may be missing.
      if (this.#lost > 0) await this.#files.append(this.#fd, Buffer.from(LINE_END));
      await this.#files.append(this.#fd, chunk.bytes.subarray(0, chunk.used));
    } catch (error) {
      this.#lose(chunk.lines, (error as Error).message);
      return;
    } finally {
      this.#waitingBytes -= chunk.used;
      chunk.used = 0;
      chunk.lines = 0;
      if (chunk.bytes.length === CHUNK_BYTES) this.#spare = chunk;
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

/** Lines that are written together. */
interface Chunk {
  readonly bytes: Bytes;
  used: number;
  lines: number;
}

function newChunk(room: number): Chunk {
  return { bytes: Buffer.allocUnsafeSlow(Math.max(room, CHUNK_BYTES)), used: 0, lines: 0 };
}
