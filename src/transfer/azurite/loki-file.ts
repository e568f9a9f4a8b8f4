import { type FileHandle, open } from "node:fs/promises";
import type { Bytes } from "../../base/bytes.ts";
import { TransferError } from "../transfer-error.ts";

/** A document of a database of Azurite. */
export interface LokiDocument {
  readonly collection: string;
  // The fields differ by collection and by version of Azurite, so each is checked where it is read.
  readonly document: Readonly<Record<string, unknown>>;
}

const READ_BYTES = 1024 * 1024;
const [QUOTE, BACKSLASH] = [0x22, 0x5c] as const;
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [0x7b, 0x7d, 0x5b, 0x5d] as const;
/** The depth in `{"collections":[{"name":…,"data":[` of a collection, and of its documents. */
const [COLLECTION_DEPTH, DATA_DEPTH] = [3, 4] as const;

/**
 * Reads the documents of a database one by one: LokiJS writes it as one JSON text, which may be as
 * long as the memory of a process. A missing file has none.
 */
export async function* readLokiFile(path: string): AsyncGenerator<LokiDocument> {
  let file: FileHandle;
  try {
    file = await open(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw new TransferError(`${path} cannot be read (${(error as Error).message}).`);
  }
  try {
    const scanner = new Scanner(path);
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, READ_BYTES, null);
      if (bytesRead === 0) break;
      yield* scanner.take(buffer.subarray(0, bytesRead));
    }
    scanner.end();
  } finally {
    await file.close();
  }
}

/** Finds the ends of documents by counting brackets outside of strings. */
class Scanner {
  readonly #path: string;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  /** The bytes of a string or document that began in an earlier part. */
  #pending: Bytes[] = [];
  /** The last two strings directly in a collection: a name and its value. */
  #strings: [string, string] = ["", ""];
  #collection = "";
  #isInData = false;

  constructor(path: string) {
    this.#path = path;
  }

  *take(part: Bytes): Generator<LokiDocument> {
    let start = this.#isCollecting ? 0 : -1;
    for (let at = 0; at < part.length; at++) {
      const byte = part[at] as number;
      if (this.#isInString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === BACKSLASH) this.#isEscaped = true;
        else if (byte === QUOTE) {
          this.#isInString = false;
          if (this.#depth === COLLECTION_DEPTH) {
            this.#noteString(this.#collected(part.subarray(start, at + 1)));
            start = -1;
          }
        }
      } else if (byte === QUOTE) {
        this.#isInString = true;
        if (this.#depth === COLLECTION_DEPTH) start = at;
      } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
        if (this.#depth === COLLECTION_DEPTH) this.#isInData = this.#strings[1] === "data";
        if (this.#isInData && this.#depth === DATA_DEPTH) start = at;
        this.#depth++;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
        this.#depth--;
        if (this.#isInData && this.#depth === DATA_DEPTH) {
          const document = this.#parse(this.#collected(part.subarray(start, at + 1)));
          yield { collection: this.#collection, document };
          start = -1;
        } else if (this.#depth === COLLECTION_DEPTH) {
          this.#isInData = false;
        } else if (this.#depth < COLLECTION_DEPTH) {
          this.#collection = "";
        }
      }
    }
    if (start >= 0) this.#pending.push(Buffer.from(part.subarray(start)));
  }

  end(): void {
    if (this.#depth !== 0 || this.#isInString) {
      throw new TransferError(
        `${this.#path} is cut short. Stop Azurite, which then writes it again, and try again.`,
      );
    }
  }

  get #isCollecting(): boolean {
    return (
      (this.#isInString && this.#depth === COLLECTION_DEPTH) ||
      (this.#isInData && this.#depth > DATA_DEPTH)
    );
  }

  #collected(last: Bytes): string {
    const text = Buffer.concat([...this.#pending, last]).toString("utf8");
    this.#pending = [];
    return text;
  }

  #noteString(json: string): void {
    this.#strings = [this.#strings[1], JSON.parse(json)];
    if (this.#strings[0] === "name" && this.#collection === "") this.#collection = this.#strings[1];
  }

  #parse(json: string): Readonly<Record<string, unknown>> {
    try {
      return JSON.parse(json);
    } catch {
      throw new TransferError(`${this.#path} is not a database of Azurite, or is damaged.`);
    }
  }
}
