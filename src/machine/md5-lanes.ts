import type { Bytes } from "../base/bytes.ts";
import type { SharedMemory } from "./aligned-bytes.ts";
import {
  type FourPlaces,
  MD5_BLOCK_BYTES,
  MD5_STATE_BYTES,
  type Md5Blocks,
  md5Blocks,
} from "./md5-blocks.ts";

/** A slot is the working memory of one body's MD5: its state, and one block. */
export const MD5_SLOT_BYTES = MD5_STATE_BYTES + MD5_BLOCK_BYTES;
export const MD5_INITIAL_STATE = Buffer.from("0123456789abcdeffedcba9876543210", "hex");
/** The offset of the bit count in the last block. */
const COUNT_AT = MD5_BLOCK_BYTES - 8;
const LANES = 4;

export function beginMd5In(slot: Bytes): void {
  slot.set(MD5_INITIAL_STATE);
}

/** The MD5 of a body that has ended, which is the state in its slot. */
export function md5In(slot: Bytes): Bytes {
  return Buffer.from(slot.subarray(0, MD5_STATE_BYTES));
}

/** The next bytes of the body that has this slot. */
export interface Md5Parts {
  readonly slot: Uint8Array;
  readonly parts: readonly Uint8Array[];
  /** Whether the body ends with these parts. */
  readonly last: boolean;
}

/** MD5 of any number of concurrent bodies, four at a time (see `Md5Blocks`). */
export class Md5Lanes {
  readonly #blocks: Md5Blocks;
  readonly #lanes = new Map<number, Lane>();
  /** Lanes with whole blocks to hash, as a fair queue. */
  #ready: Lane[] = [];

  constructor(memory: SharedMemory) {
    this.#blocks = md5Blocks(memory);
  }

  /** Calls `onRead` once the parts have been read; after the last ones, the MD5 is in the slot. */
  add(asked: Md5Parts, onRead: () => void): void {
    const place = asked.slot.byteOffset;
    const lane = this.#lanes.get(place) ?? new Lane(asked.slot, this.#blocks);
    if (asked.last) this.#lanes.delete(place);
    else this.#lanes.set(place, lane);
    const wasReady = lane.blocks > 0;
    lane.add(asked, onRead);
    if (!wasReady && lane.blocks > 0) this.#ready.push(lane);
  }

  /** Hashes the same number of blocks of up to four bodies. False if there is nothing to do. */
  step(): boolean {
    const lanes = this.#ready.splice(0, LANES);
    const [first] = lanes;
    if (first === undefined) return false;
    const blocks = Math.min(...lanes.map((lane) => lane.blocks));
    // A lane without a body repeats the work of the first one.
    const places = (placeOf: (lane: Lane) => number) =>
      Array.from({ length: LANES }, (_, at) =>
        placeOf(lanes[at] ?? first),
      ) as unknown as FourPlaces;
    if (lanes.length === 1) this.#blocks.one(first.slotAt, first.at, blocks);
    else
      this.#blocks.four(
        places((lane) => lane.slotAt),
        places((lane) => lane.at),
        blocks,
      );
    for (const lane of lanes) {
      lane.skip(blocks);
      if (lane.blocks > 0) this.#ready.push(lane);
    }
    return true;
  }
}

interface Asked extends Md5Parts {
  readonly onRead: () => void;
}

/** The blocks of one body. A block may span several parts. */
class Lane {
  readonly slotAt: number;
  readonly #blocks: Md5Blocks;
  /** Gathers the bytes of a block that spans parts. */
  readonly #block: Uint8Array;
  #gathered = 0;
  #length = 0;
  readonly #asked: Asked[] = [];
  #nextPart = 0;
  /** The unread rest of the current part. */
  #part: Uint8Array = new Uint8Array();

  constructor(slot: Uint8Array, blocks: Md5Blocks) {
    this.slotAt = slot.byteOffset;
    this.#block = slot.subarray(MD5_STATE_BYTES);
    this.#blocks = blocks;
  }

  /** The place of the next whole blocks in memory. */
  get at(): number {
    return this.#part.byteOffset;
  }

  /** The number of whole blocks that can be hashed in place. */
  get blocks(): number {
    return Math.floor(this.#part.length / MD5_BLOCK_BYTES);
  }

  add(asked: Md5Parts, onRead: () => void): void {
    this.#asked.push({ ...asked, onRead });
    this.#advance();
  }

  /** Moves on after blocks that have been hashed. */
  skip(blocks: number): void {
    this.#part = this.#part.subarray(blocks * MD5_BLOCK_BYTES);
    this.#advance();
  }

  /** Gathers bytes until whole blocks follow in one part, or until all parts are read. */
  #advance(): void {
    while (this.#hasPart()) {
      if (this.#gathered === 0 && this.blocks > 0) return;
      this.#gather();
    }
  }

  #hasPart(): boolean {
    while (this.#part.length === 0) {
      const asked = this.#asked[0];
      if (asked === undefined) return false;
      const next = asked.parts[this.#nextPart++];
      if (next === undefined) this.#end(asked);
      else this.#part = next;
      this.#length += this.#part.length;
    }
    return true;
  }

  #end({ last, onRead }: Asked): void {
    this.#asked.shift();
    this.#nextPart = 0;
    if (last) this.#pad();
    onRead();
  }

  #gather(): void {
    const bytes = this.#part.subarray(0, MD5_BLOCK_BYTES - this.#gathered);
    this.#block.set(bytes, this.#gathered);
    this.#gathered += bytes.length;
    this.#part = this.#part.subarray(bytes.length);
    if (this.#gathered === MD5_BLOCK_BYTES) this.#hashGathered();
  }

  /** Hashes MD5's padding: a one bit, zeroes, and the bit count at the end of a block. */
  #pad(): void {
    this.#block[this.#gathered] = 0x80;
    this.#block.fill(0, this.#gathered + 1);
    if (this.#gathered >= COUNT_AT) {
      this.#hashGathered();
      this.#block.fill(0);
    }
    const { buffer, byteOffset } = this.#block;
    new DataView(buffer, byteOffset).setBigUint64(COUNT_AT, BigInt(this.#length) * 8n, true);
    this.#hashGathered();
  }

  #hashGathered(): void {
    this.#blocks.one(this.slotAt, this.#block.byteOffset, 1);
    this.#gathered = 0;
  }
}
