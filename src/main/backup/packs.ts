import { createHash } from "node:crypto";
import { type FileHandle, open, rename } from "node:fs/promises";
import type { Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { type BackupPlace, damaged, unreadable } from "./backup-place.ts";

/**
 * A pack is a file with pieces of extents one after another, as they are on the disk, then a line of
 * JSON that says where each belongs, then the length of that line.
 */
const PACK_BYTES_MAX = 256 * MIB;
const READ_BYTES = 4 * MIB;
const TAIL_BYTES = 8;
const PRIVATE_FILE_MODE = 0o600;

/** A piece in a pack: where it belongs, and the space that it takes there and in the pack. */
export type PackedPiece = readonly [
  origin: string,
  extent: number,
  offset: number,
  bytesOnDisk: number,
];

/** Writes pieces to packs, one pack after another. */
export class PackWriter {
  readonly #place: BackupPlace;
  #file: FileHandle | null = null;
  #hash = createHash("sha256");
  #bytes = 0;
  #pieces: PackedPiece[] = [];
  readonly written: string[] = [];
  newBytes = 0;

  constructor(place: BackupPlace) {
    this.#place = place;
  }

  /** Begins a piece, whose bytes follow. */
  async begin(piece: PackedPiece): Promise<void> {
    if (this.#bytes > 0 && this.#bytes + piece[3] > PACK_BYTES_MAX) await this.finish();
    this.#file ??= await open(this.#place.packPath(null), "w", PRIVATE_FILE_MODE);
    this.#pieces.push(piece);
  }

  async write(bytes: Bytes): Promise<void> {
    // A plain copy: hashes and files do not take memory that threads share.
    const own = Buffer.from(bytes);
    this.#hash.update(own);
    await writeAll(this.#file as FileHandle, own, this.#bytes);
    this.#bytes += own.length;
  }

  /** Ends the last pack. */
  async finish(): Promise<void> {
    const file = this.#file;
    if (file === null) return;
    const index = Buffer.from(JSON.stringify(this.#pieces));
    const tail = Buffer.alloc(TAIL_BYTES);
    tail.writeBigUInt64LE(BigInt(index.length));
    await this.write(Buffer.concat([index, tail]));
    await file.sync();
    await this.close();
    const name = this.#hash.digest("hex");
    await rename(this.#place.packPath(null), this.#place.packPath(name));
    this.written.push(name);
    this.newBytes += this.#bytes;
    this.#hash = createHash("sha256");
    this.#bytes = 0;
    this.#pieces = [];
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }
}

async function writeAll(file: FileHandle, bytes: Bytes, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    at += (await file.write(bytes, at, bytes.length - at, position + at)).bytesWritten;
  }
}

/** Reads which pieces a pack has. Throws if the pack is damaged there. */
export async function readPackIndex(place: BackupPlace, name: string): Promise<PackedPiece[]> {
  const path = place.packPath(name);
  const file = await openPack(path);
  try {
    const { size } = await file.stat();
    const tail = Buffer.alloc(TAIL_BYTES);
    await file.read(tail, 0, TAIL_BYTES, size - TAIL_BYTES);
    const length = Number(tail.readBigUInt64LE());
    if (length > size - TAIL_BYTES) throw damaged(path);
    const index = Buffer.alloc(length);
    await file.read(index, 0, length, size - TAIL_BYTES - length);
    return JSON.parse(index.toString());
  } catch (error) {
    throw error instanceof SyntaxError || error instanceof RangeError ? damaged(path) : error;
  } finally {
    await file.close();
  }
}

function openPack(path: string): Promise<FileHandle> {
  return open(path).catch((error) => {
    throw unreadable(path, error);
  });
}

/**
 * Reads a whole pack and passes on its bytes with their position. Throws if it is damaged, also
 * after it has passed on everything: only then is that known.
 */
export async function readPack(
  place: BackupPlace,
  name: string,
  take: (bytes: Bytes, position: number) => Promise<void>,
): Promise<void> {
  const path = place.packPath(name);
  const file = await openPack(path);
  try {
    const hash = createHash("sha256");
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    for (let position = 0; ; ) {
      const { bytesRead } = await file.read(buffer, 0, READ_BYTES, position);
      if (bytesRead === 0) break;
      const bytes = buffer.subarray(0, bytesRead);
      hash.update(bytes);
      await take(bytes, position);
      position += bytesRead;
    }
    if (hash.digest("hex") !== name) throw damaged(path);
  } finally {
    await file.close();
  }
}
