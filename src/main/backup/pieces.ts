import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { Bytes } from "../../base/bytes.ts";
import { key, SPACE } from "../../base/keys.ts";
import { MIB } from "../../base/limits.ts";
import { addressesIn } from "../../content/content-records.ts";
import type { CopiedRecord } from "../../content/state-copy.ts";
import { extentFileName } from "../../engine/embedded/extents.ts";
import {
  checksumOf,
  chunkBytesOf,
  isOnlyChunk,
  STRIDE_BYTES,
  seedlessChecksumOf,
} from "../../engine/extent-chunks.ts";
import { alignedBytes, freeAlignedBytes } from "../../machine/aligned-bytes.ts";
import type { Address } from "../../store/extents.ts";
import { StoreError } from "../../store/store.ts";
import { StartError } from "../start-error.ts";

/** Bytes that are read at a time: a whole number of strides. */
const READ_BYTES = 4 * MIB;
const CONTENT_SPACE = key(SPACE.content)[0];

/** The pieces of extents that a record names. */
export function piecesOf({ key: at, value }: CopiedRecord): readonly Address[] {
  return at[0] === CONTENT_SPACE && value !== null ? addressesIn(value) : [];
}

/** Places in extents, by origin. */
export class PieceSet {
  readonly #offsets = new Map<string, Set<number>>();
  size = 0;

  /** False if it was there already. */
  add(origin: string, extent: number, offset: number): boolean {
    const name = `${origin} ${extent}`;
    const offsets = this.#offsets.get(name) ?? new Set();
    this.#offsets.set(name, offsets);
    if (offsets.has(offset)) return false;
    offsets.add(offset);
    this.size++;
    return true;
  }

  has(origin: string, extent: number, offset: number): boolean {
    return this.#offsets.get(`${origin} ${extent}`)?.has(offset) === true;
  }

  /** False if it was not there. */
  delete(origin: string, extent: number, offset: number): boolean {
    const isThere = this.#offsets.get(`${origin} ${extent}`)?.delete(offset) === true;
    if (isThere) this.size--;
    return isThere;
  }
}

const FIELDS = 5;
const ROOM_AT_FIRST = 1_024;

/** Addresses in little memory: there may be millions. */
export class AddressList {
  #fields = new Float64Array(FIELDS * ROOM_AT_FIRST);
  length = 0;
  bytesOnDisk = 0;

  push({ extent, offset, length, bytesOnDisk, checksum }: Address): void {
    const at = this.length * FIELDS;
    if (at === this.#fields.length) {
      const more = new Float64Array(2 * at);
      more.set(this.#fields);
      this.#fields = more;
    }
    this.#fields.set([extent, offset, length, bytesOnDisk, checksum], at);
    this.length++;
    this.bytesOnDisk += bytesOnDisk;
  }

  *[Symbol.iterator](): Iterator<Address> {
    for (let index = 0; index < this.length; index++) {
      const at = index * FIELDS;
      const [extent = 0, offset = 0, length = 0, bytesOnDisk = 0, checksum = 0] =
        this.#fields.subarray(at, at + FIELDS);
      yield { extent, offset, length, bytesOnDisk, checksum };
    }
  }
}

/** Where a backup takes the bytes of pieces from. */
export interface PieceSource {
  /** How many bytes `read` passes on. */
  bytesOf(at: Address): number;
  /** Passes on the bytes of a piece, part by part. Throws "damaged" before a part that is. */
  read(at: Address, take: (bytes: Bytes) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** Reads pieces from extent files, as they are on the disk, and checks them. */
export class PieceReader implements PieceSource {
  readonly #folder: string;
  readonly #buffer = alignedBytes(READ_BYTES);
  #extent: number | null = null;
  #file: FileHandle | null = null;

  /** `folder` is a data folder. */
  constructor(folder: string) {
    this.#folder = join(folder, "extents");
  }

  bytesOf({ bytesOnDisk }: Address): number {
    return bytesOnDisk;
  }

  async read(at: Address, take: (pages: Bytes) => Promise<void>): Promise<void> {
    const file = await this.#open(at);
    for (let done = 0; done < at.bytesOnDisk; done += READ_BYTES) {
      const pages = this.#buffer.subarray(0, Math.min(READ_BYTES, at.bytesOnDisk - done));
      let read = 0;
      while (read < pages.length) {
        const position = at.offset + done + read;
        const { bytesRead } = await file.read(pages, read, pages.length - read, position);
        if (bytesRead === 0) throw this.#damaged(at);
        read += bytesRead;
      }
      if (!areSound(at, pages, done / STRIDE_BYTES)) throw this.#damaged(at);
      await take(pages);
    }
  }

  async close(): Promise<void> {
    await this.#file?.close();
    this.#file = null;
    freeAlignedBytes(this.#buffer);
  }

  async #open(at: Address): Promise<FileHandle> {
    if (this.#file !== null && this.#extent === at.extent) return this.#file;
    await this.#file?.close();
    this.#file = await open(join(this.#folder, extentFileName(at.extent))).catch((error) => {
      throw this.#unreadable(at, error);
    });
    this.#extent = at.extent;
    return this.#file as FileHandle;
  }

  /** A missing file is damage; another error says nothing about the data. */
  #unreadable(at: Address, { code }: NodeJS.ErrnoException): Error {
    if (code === "ENOENT") return this.#damaged(at);
    const path = join(this.#folder, extentFileName(at.extent));
    return new StartError(
      `${path} cannot be read (${code}): run the backup as the user of the server, then again.`,
    );
  }

  #damaged({ extent, offset }: Address): StoreError {
    const path = join(this.#folder, extentFileName(extent));
    return new StoreError(
      "damaged",
      `The bytes at ${offset} of ${path} are not those written. Run \`lazuli verify\`, which ` +
        "names the object, and remove that; then back up again.",
    );
  }
}

/** Whether the chunks in these pages, which begin with this stride, match their checksums. */
function areSound(at: Address, pages: Bytes, firstStride: number): boolean {
  const chunkBytes = chunkBytesOf(at.length);
  if (isOnlyChunk(chunkBytes)) {
    return seedlessChecksumOf(pages.subarray(0, at.length)) === at.checksum;
  }
  let left = at.length - firstStride * chunkBytes;
  for (let start = 0; start < pages.length && left > 0; start += STRIDE_BYTES) {
    const chunk = pages.subarray(start, start + Math.min(chunkBytes, left));
    if (checksumOf(chunk, at.extent) !== pages.readUInt32LE(start + chunk.length)) return false;
    left -= chunk.length;
  }
  return true;
}
