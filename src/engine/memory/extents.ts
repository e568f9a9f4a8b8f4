import type { BufferOwner } from "../../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../../base/bytes.ts";
import { Crc64 } from "../../machine/crc64.ts";
import {
  type Address,
  type ExtentInfo,
  type Extents,
  NO_TAPS,
  type Pin,
  type Taps,
  type Written,
} from "../../store/extents.ts";
import type { SavedState } from "../../store/saved-state.ts";
import { StoreError } from "../../store/store.ts";

const EXTENT_BYTES_MAX = 64 * 1024 * 1024;
const PIECE_PART = 4;
/** Overwrites released buffers, so that tests notice a use after release. */
const RELEASED = 0xdb;

/** Ephemeral extents, in memory. Each piece is one buffer. */
export class MemoryExtents implements Extents {
  readonly reusesSpace = true;
  readonly #extentBytesMax: number;
  readonly #extents = new Map<number, MemoryExtent>();
  #lastExtent = 0;

  constructor(extentBytesMax = EXTENT_BYTES_MAX) {
    this.#extentBytesMax = extentBytesMax;
  }

  async write(body: Body, { crc64, tap }: Taps = NO_TAPS): Promise<Written> {
    const pieceBytesMax = this.#extentBytesMax / PIECE_PART;
    const crc = crc64 ? new Crc64() : null;
    const reserve = (bytes: number) => this.#reserve(bytes);
    const upload = new MemoryUpload(body.length, pieceBytesMax, crc, reserve);
    try {
      await body.drain((part) => {
        upload.add(part);
        return tap?.([part]);
      });
      upload.finish();
    } catch (error) {
      upload.release();
      throw error;
    }
    return upload;
  }

  pin(extents: Iterable<number>): Pin {
    const pinned = [...new Set(extents)].map((extent) => this.#extentOf(extent));
    for (const extent of pinned) extent.pins++;
    return {
      release: () => {
        for (const extent of pinned.splice(0)) this.#release(extent);
      },
    };
  }

  read(at: Address, from: number, length: number): BufferOwner {
    let left = length;
    return {
      borrow: async () => {
        if (left === 0) return null;
        left = 0;
        const part = Buffer.from(this.#pieceAt(at).subarray(from, from + length));
        return { parts: [part], mayOverwrite: true, release: () => part.fill(RELEASED) };
      },
    };
  }

  get lastExtent(): number {
    return this.#lastExtent;
  }

  list(): readonly ExtentInfo[] {
    return [...this.#extents.values()].filter(({ doomed }) => !doomed).map(infoOf);
  }

  async find(extent: number): Promise<ExtentInfo | undefined> {
    const found = this.#extents.get(extent);
    return found === undefined || found.doomed ? undefined : infoOf(found);
  }

  seal(extent: number): void {
    this.#extentOf(extent).open = false;
  }

  async remove(extent: number): Promise<void> {
    const removed = this.#extentOf(extent);
    removed.open = false;
    removed.doomed = true;
    if (removed.pins === 0) this.#extents.delete(extent);
  }

  async trim(): Promise<void> {}

  /** Pieces never change, so that it is enough to keep the extents that are there now. */
  save(): SavedState {
    const saved = [...this.#extents.values()].filter(({ doomed }) => !doomed);
    for (const extent of saved) extent.pins++;
    return {
      restore: () => {
        for (const extent of saved) extent.doomed = false;
      },
      forget: () => {
        for (const extent of saved.splice(0)) this.#release(extent);
      },
    };
  }

  async close(): Promise<void> {
    this.#extents.clear();
  }

  #reserve(bytes: number): [Bytes, Address, Pin] {
    const extent = this.#extentFor(bytes);
    const offset = extent.end;
    const piece = Buffer.alloc(bytes);
    extent.pieces.set(offset, piece);
    extent.end += bytes;
    const at = { extent: extent.number, offset, length: bytes, bytesOnDisk: bytes, checksum: 0 };
    return [piece, at, this.pin([extent.number])];
  }

  #extentFor(bytes: number): MemoryExtent {
    const last = this.#extents.get(this.#lastExtent);
    if (last?.open) {
      if (last.end + bytes <= this.#extentBytesMax) return last;
      last.open = false;
    }
    const extent = {
      number: ++this.#lastExtent,
      pieces: new Map<number, Bytes>(),
      end: 0,
      open: true,
      pins: 0,
      doomed: false,
    };
    this.#extents.set(extent.number, extent);
    return extent;
  }

  #release(extent: MemoryExtent): void {
    extent.pins--;
    if (extent.doomed && extent.pins === 0) this.#extents.delete(extent.number);
  }

  #pieceAt({ extent, offset }: Address): Bytes {
    const piece = this.#extentOf(extent).pieces.get(offset);
    if (piece === undefined) throw new StoreError("damaged", `no piece at ${offset}`);
    return piece;
  }

  #extentOf(extent: number): MemoryExtent {
    const found = this.#extents.get(extent);
    if (found === undefined) throw new StoreError("damaged", `extent ${extent} is missing`);
    return found;
  }
}

interface MemoryExtent {
  readonly number: number;
  readonly pieces: Map<number, Bytes>;
  end: number;
  open: boolean;
  pins: number;
  doomed: boolean;
}

function infoOf({ number, end, open, pins }: MemoryExtent): ExtentInfo {
  return { extent: number, bytesOnDisk: end, open, pinned: pins > 0 };
}

/** A body that is being written, or has been. */
class MemoryUpload implements Written {
  readonly addresses: Address[] = [];
  readonly #pieceBytesMax: number;
  readonly #crc: Crc64 | null;
  readonly #reserve: (bytes: number) => [Bytes, Address, Pin];
  readonly #pins: Pin[] = [];
  #bytesAhead: number;
  /** The unfilled rest of the last piece. */
  #room: Bytes = Buffer.alloc(0);

  constructor(
    length: number,
    pieceBytesMax: number,
    crc: Crc64 | null,
    reserve: (bytes: number) => [Bytes, Address, Pin],
  ) {
    this.#bytesAhead = length;
    this.#pieceBytesMax = pieceBytesMax;
    this.#crc = crc;
    this.#reserve = reserve;
  }

  get crc64(): Bytes | null {
    return this.#crc?.digest() ?? null;
  }

  add(part: Bytes): void {
    this.#crc?.update(part);
    for (let at = 0; at < part.length; ) {
      if (this.#room.length === 0) this.#beginPiece();
      const bytes = part.copy(this.#room, 0, at);
      this.#room = this.#room.subarray(bytes);
      at += bytes;
    }
  }

  finish(): void {
    if (this.#room.length > 0 || this.#bytesAhead > 0) throw new Error("a body ended too early");
  }

  release(): void {
    for (const pin of this.#pins.splice(0)) pin.release();
  }

  #beginPiece(): void {
    if (this.#bytesAhead === 0) throw new Error("a body is longer than announced");
    const length = Math.min(this.#bytesAhead, this.#pieceBytesMax);
    const [piece, address, pin] = this.#reserve(length);
    this.#bytesAhead -= length;
    this.#room = piece;
    this.addresses.push(address);
    this.#pins.push(pin);
  }
}
