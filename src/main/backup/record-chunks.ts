import { crc32 } from "node:zlib";
import { KIB, MIB } from "../../base/limits.ts";
import type { CopiedRecord } from "../../content/state-copy.ts";
import type { BackupPlace } from "./backup-place.ts";
import { encodeRecord } from "./record-frames.ts";

const CHUNK_BYTES_MIN = 256 * KIB;
const CHUNK_BYTES_MAX = 4 * MIB;
/** One key in so many may end a chunk. */
const KEYS_PER_END = 256;

/**
 * Writes records to files. Which key ends a file depends on the key, so that files before and behind
 * a changed record have the same bytes, and the same names, in the next backup.
 */
export class RecordChunks {
  readonly #place: BackupPlace;
  readonly #passes: string[][] = [[]];
  #parts: Buffer[] = [];
  #bytes = 0;
  records = 0;
  recordBytes = 0;
  newBytes = 0;
  /** Files that were not there before, or were damaged. */
  readonly written: string[] = [];

  constructor(place: BackupPlace) {
    this.#place = place;
  }

  async add(record: CopiedRecord): Promise<void> {
    const bytes = encodeRecord(record);
    this.#parts.push(bytes);
    this.#bytes += bytes.length;
    this.records++;
    this.recordBytes += bytes.length;
    if (this.#bytes < CHUNK_BYTES_MIN) return;
    if (this.#bytes >= CHUNK_BYTES_MAX || crc32(record.key) % KEYS_PER_END === 0) await this.#end();
  }

  async nextPass(): Promise<void> {
    await this.#end();
    this.#passes.push([]);
  }

  /** The names of all files, by pass. */
  async finish(): Promise<readonly (readonly string[])[]> {
    await this.#end();
    return this.#passes;
  }

  async #end(): Promise<void> {
    if (this.#bytes === 0) return;
    const bytes = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    const { name, isNew } = await this.#place.writeOnce(bytes);
    this.#passes.at(-1)?.push(name);
    if (!isNew) return;
    this.newBytes += bytes.length;
    this.written.push(name);
  }
}
