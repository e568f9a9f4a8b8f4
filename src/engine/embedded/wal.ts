import type { Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { alignedBytes, freeAlignedBytes, PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import type { Cell } from "./memtable.ts";
import type { WalEnd, WalNote } from "./wal-check.ts";
import { capacityAfterGrowth, type WalFile } from "./wal-file.ts";
import { bytesOfGroup, encodeGroup, type WalSecret } from "./wal-groups.ts";
import { encodeWalHeader, WAL_HEADER_BYTES } from "./wal-header.ts";

/** Once a file holds this much, the WAL switches to the other one, and a checkpoint starts. */
export const WAL_BYTES_ENOUGH = 32 * MIB;
/** How many times that a file may hold while the checkpoint of the other one still runs. */
export const WAL_GROWTH_MAX = 2;
const SLAB_BYTES = MIB + WAL_HEADER_BYTES;

/**
 * The write-ahead log: groups that LMDB does not have yet. It alternates between two files: one is
 * written from its beginning while the groups in the other are checkpointed.
 */
export class Wal {
  readonly #files: readonly [WalFile, WalFile];
  readonly #secret: WalSecret;
  readonly #bytesEnough: number;
  /** The generation in the header of each file. */
  readonly #generations: [number, number];
  #current: 0 | 1;
  #position: number;
  readonly #slab = alignedBytes(SLAB_BYTES);

  constructor(
    files: readonly [WalFile, WalFile],
    secret: WalSecret,
    bytesEnough: number,
    generations: readonly [number, number],
    end: WalEnd | null = null,
  ) {
    this.#files = files;
    this.#secret = secret;
    this.#bytesEnough = bytesEnough;
    this.#generations = [...generations];
    // Without an end both files are checkpointed, and the older one is overwritten.
    this.#current = end?.file ?? (generations[0] < generations[1] ? 0 : 1);
    this.#position = end?.position ?? WAL_HEADER_BYTES;
  }

  /** Bytes allocated to both files. */
  get capacity(): number {
    return this.#files[0].capacity + this.#files[1].capacity;
  }

  /** Bytes in the current file. */
  get bytes(): number {
    return this.#position;
  }

  /** The note for the database about this WAL, of which `group` is the last durable group. */
  noteAt(group: number): WalNote {
    const sizes: WalNote["sizes"] = [this.#files[0].capacity, this.#files[1].capacity];
    return { generations: [...this.#generations], sizes, group };
  }

  get hasEnough(): boolean {
    return this.#position >= this.#bytesEnough;
  }

  /** Whether a group with this many bytes of records fits into the current file as it is. */
  fits(bytesOfRecords: number): boolean {
    return this.#endOf(bytesOfRecords) <= this.#file.capacity;
  }

  /** Whether the current file may grow until such a group fits. */
  mayGrowFor(bytesOfRecords: number): boolean {
    const bytes = this.#position + bytesOfGroup(bytesOfRecords);
    return this.isEmpty || bytes <= WAL_GROWTH_MAX * this.#bytesEnough;
  }

  /** The capacity of both files once the current one has grown until such a group fits. */
  capacityFor(bytesOfRecords: number): number {
    const { capacity } = this.#file;
    return this.capacity - capacity + capacityAfterGrowth(capacity, this.#endOf(bytesOfRecords));
  }

  async growFor(bytesOfRecords: number): Promise<void> {
    await this.#file.growTo(this.#endOf(bytesOfRecords));
  }

  /** Appends a group, which must fit. Resolves once it is durable. */
  append(number: number, lastStamp: bigint, cells: readonly Cell[], bytesOfRecords: number) {
    // Written together with the first group, so that the header costs no write of its own.
    const headerBytes = this.isEmpty ? WAL_HEADER_BYTES : 0;
    const size = headerBytes + bytesOfGroup(bytesOfRecords);
    const room = size <= SLAB_BYTES ? this.#slab : Buffer.allocUnsafeSlow(size);
    if (headerBytes > 0) {
      const generation = Math.max(...this.#generations) + 1;
      this.#generations[this.#current] = generation;
      encodeWalHeader(this.#secret, { generation, firstGroup: number }, room);
    }
    const behind = room.subarray(headerBytes);
    const group = encodeGroup(this.#secret, number, lastStamp, cells, behind);
    const written = room.subarray(0, headerBytes + group.length);
    const position = this.#position - headerBytes;
    this.#position += group.length;
    return room === this.#slab
      ? this.#file.write(written, position)
      : this.#writeLarge(this.#file, written, position);
  }

  /** Continues at the beginning of the other file, whose groups must all be in LMDB. */
  switchFiles(): void {
    this.#current = this.#current === 0 ? 1 : 0;
    this.#position = WAL_HEADER_BYTES;
  }

  async close(): Promise<void> {
    for (const file of this.#files) await file.close();
    freeAlignedBytes(this.#slab);
  }

  async #writeLarge(file: WalFile, group: Bytes, position: number): Promise<void> {
    for (let at = 0; at < group.length; at += SLAB_BYTES) {
      const size = group.copy(this.#slab, 0, at, at + SLAB_BYTES);
      await file.write(this.#slab.subarray(0, size), position + at);
    }
  }

  /** Leaves a page to spare, for the group without records that precedes a switch of files. */
  #endOf(bytesOfRecords: number): number {
    return this.#position + bytesOfGroup(bytesOfRecords) + PAGE_BYTES;
  }

  get isEmpty(): boolean {
    return this.#position === WAL_HEADER_BYTES;
  }

  get #file(): WalFile {
    return this.#files[this.#current];
  }
}
