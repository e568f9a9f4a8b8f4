import type { FileHandle } from "node:fs/promises";

const GATHERED_CHARS_MAX = 256 * 1024;

/** Writes lines to a file, many at a time. */
export class LineWriter {
  readonly file: FileHandle;
  #gathered: string[] = [];
  #chars = 0;
  /** One write after the other. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(file: FileHandle) {
    this.file = file;
  }

  async add(line: string): Promise<void> {
    this.#gathered.push(line);
    this.#chars += line.length;
    if (this.#chars >= GATHERED_CHARS_MAX) await this.flush();
  }

  async flush(): Promise<void> {
    const text = this.#gathered.join("");
    this.#gathered = [];
    this.#chars = 0;
    const written = this.#last.then(() => this.file.appendFile(text));
    this.#last = written.catch(() => {});
    await written;
  }
}
