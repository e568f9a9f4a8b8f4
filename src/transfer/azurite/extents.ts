import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { Bytes } from "../../base/bytes.ts";
import type { Body } from "../item.ts";
import { TransferError } from "../transfer-error.ts";
import { type Document, listIn, numberIn, objectIn, textIn } from "./fields.ts";
import { readLokiFile } from "./loki-file.ts";

/** A run of bytes in a file of Azurite. Null bytes: zeros. */
export interface Piece {
  readonly extent: string | null;
  readonly offset: number;
  readonly bytes: number;
}

const READ_BYTES = 256 * 1024;
const OPEN_FILES_MAX = 256;

/** The files in which Azurite has the bytes of blobs or messages. They are only read. */
export class AzuriteExtents {
  readonly #folder: string;
  readonly #files: ReadonlyMap<string, string>;
  readonly #open = new Map<string, Promise<FileHandle>>();

  private constructor(folder: string, files: ReadonlyMap<string, string>) {
    this.#folder = folder;
    this.#files = files;
  }

  /** `database` lists the files of `folder`. */
  static async read(database: string, folder: string): Promise<AzuriteExtents> {
    const files = new Map<string, string>();
    for await (const { document } of readLokiFile(database)) {
      const [id, path] = [textIn(document, "id"), textIn(document, "path")];
      if (id !== undefined && path !== undefined) files.set(id, path);
    }
    return new AzuriteExtents(folder, files);
  }

  async close(): Promise<void> {
    for (const file of this.#open.values()) await (await file).close();
  }

  /** The bytes of these pieces, one after the other. */
  body(pieces: readonly Piece[]): Body {
    const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0);
    return {
      bytes,
      read: (from = 0, count = bytes - from) => this.#read(pieces, from, from + count),
    };
  }

  async *#read(pieces: readonly Piece[], from: number, until: number): AsyncGenerator<Bytes> {
    let start = 0;
    for (const piece of pieces) {
      const [first, last] = [Math.max(from, start), Math.min(until, start + piece.bytes)];
      if (first < last) yield* this.#readPiece(piece, first - start, last - first);
      start += piece.bytes;
    }
  }

  async *#readPiece(piece: Piece, skipped: number, count: number): AsyncGenerator<Bytes> {
    for (let done = 0; done < count; ) {
      const wanted = Math.min(READ_BYTES, count - done);
      if (piece.extent === null) {
        yield Buffer.alloc(wanted);
      } else {
        yield await this.#readAt(piece.extent, piece.offset + skipped + done, wanted);
      }
      done += wanted;
    }
  }

  async #readAt(extent: string, position: number, count: number): Promise<Bytes> {
    const buffer = Buffer.allocUnsafe(count);
    const [file, isCached] = await this.#fileOf(extent);
    try {
      for (let done = 0; done < count; ) {
        const { bytesRead } = await file.read(buffer, done, count - done, position + done);
        if (bytesRead === 0) throw this.#missing(extent);
        done += bytesRead;
      }
    } finally {
      if (!isCached) await file.close();
    }
    return buffer;
  }

  async #fileOf(extent: string): Promise<[file: FileHandle, isCached: boolean]> {
    const open = this.#open.get(extent);
    if (open !== undefined) return [await open, true];
    const opening = this.#openFile(extent);
    const isCached = this.#open.size < OPEN_FILES_MAX;
    if (isCached) this.#open.set(extent, opening);
    opening.catch(() => this.#open.delete(extent));
    return [await opening, isCached];
  }

  async #openFile(extent: string): Promise<FileHandle> {
    // A database that was made by hand must not name files elsewhere.
    const name = this.#files.get(extent) ?? extent;
    if (!/^[\w-]+$/.test(name)) throw this.#missing(extent);
    try {
      return await open(join(this.#folder, name), constants.O_RDONLY | constants.O_NOFOLLOW);
    } catch {
      throw this.#missing(extent);
    }
  }

  #missing(extent: string): TransferError {
    return new TransferError(
      `${join(this.#folder, extent)} is missing or too short. Copy the whole folder of Azurite.`,
    );
  }
}

/** The piece in the field `persistency`. */
export function pieceIn(document: Document): Piece {
  const found = objectIn(document, "persistency");
  const extent = textIn(found, "id") ?? null;
  // Azurite has no file for bytes that are all zero.
  const isZero = extent === null || extent === "*ZERO*";
  const offset = numberIn(found, "offset");
  return { extent: isZero ? null : extent, offset, bytes: numberIn(found, "count") };
}

/** The pieces of committed blocks, or the one of a blob that was put whole. */
export function piecesOfBlob(document: Document): Piece[] {
  const blocks = listIn(document, "committedBlocksInOrder");
  if (blocks.length > 0) return blocks.map(pieceIn);
  const piece = pieceIn(document);
  return piece.bytes === 0 ? [] : [piece];
}

/** The pieces of a page blob of this length, with zeros between its ranges. */
export function piecesOfPages(document: Document, bytes: number): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const range of listIn(document, "pageRangesInOrder")) {
    const start = numberIn(range, "start");
    if (start > at) pieces.push({ extent: null, offset: 0, bytes: start - at });
    const piece = { ...pieceIn(range), bytes: numberIn(range, "end") - start + 1 };
    pieces.push(piece);
    at = start + piece.bytes;
  }
  if (at < bytes) pieces.push({ extent: null, offset: 0, bytes: bytes - at });
  return pieces;
}
