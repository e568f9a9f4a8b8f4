import type { Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { alignedBytes, PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import { Slabs } from "../../machine/slabs.ts";
import type { Cell } from "./memtable.ts";
import type { WalNote } from "./wal-check.ts";
import type { WalFile } from "./wal-file.ts";
import { bytesOfGroup, encodeGroup, type WalSecret } from "./wal-groups.ts";
import { encodeWalHeader, WAL_HEADER_BYTES } from "./wal-header.ts";

/** A file that holds so much is left to LMDB, and the other one is written to. */
export const WAL_BYTES_ENOUGH = 32 * MIB;
/** At most so many times that while LMDB is still busy with the other one. */
export const LOG_GROWTH_MAX = 2;
const SLAB_BYTES = MIB + WAL_HEADER_BYTES;

/** Where the WAL goes on. */
export interface LogEnd {
  readonly file: 0 | 1;
  readonly position: number;
}

const slabs = new Slabs(SLAB_BYTES, Number.POSITIVE_INFINITY, alignedBytes);

/**
 * What has been written since LMDB got the last of it, group by group. One of two files is written
 * to, from its beginning, while what is in the other is put into LMDB.
 */
export class Wal {
  readonly #files: readonly [WalFile, WalFile];
  readonly #secret: WalSecret;
  readonly #bytesEnough: number;
  /** In the headers of the files. */
  readonly #generations: [number, number];
  #current: 0 | 1;
  #position: number;
  readonly #slab = slabs.take();

  constructor(
    files: readonly [WalFile, WalFile],
    secret: WalSecret,
    bytesEnough: number,
    generations: readonly [number, number],
    end: LogEnd | null = null,
  ) {
    this.#files = files;
    this.#secret = secret;
    this.#bytesEnough = bytesEnough;
    this.#generations = [...generations];
    // If everything in both is in LMDB, the one that was begun first is begun anew.
    this.#current = end?.file ?? (generations[0] < generations[1] ? 0 : 1);
    this.#position = end?.position ?? WAL_HEADER_BYTES;
  }

  /** Of both files. */
  get capacity(): number {
    return this.#files[0].capacity + this.#files[1].capacity;
  }

  /** What the database is to know of the WAL. `group` was appended last, and is durable. */
  noteAt(group: number): WalNote {
    const sizes: WalNote["sizes"] = [this.#files[0].capacity, this.#files[1].capacity];
    return { generations: [...this.#generations], sizes, group };
  }

  get hasEnough(): boolean {
    return this.#position >= this.#bytesEnough;
  }

  /** Whether a group with so many bytes of records fits without anything else to be done. */
  fits(bytesOfRecords: number): boolean {
    return this.#endOf(bytesOfRecords) <= this.#file.capacity;
  }

  /** Whether this file may grow until such a group fits. */
  mayGrowFor(bytesOfRecords: number): boolean {
    const bytes = this.#position + bytesOfGroup(bytesOfRecords);
    return this.isEmpty || bytes <= LOG_GROWTH_MAX * this.#bytesEnough;
  }

  /** Of both files once this one has grown until such a group fits. */
  capacityFor(bytesOfRecords: number): number {
    const { capacity } = this.#file;
    return this.capacity - capacity + Math.max(capacity, this.#endOf(bytesOfRecords));
  }

  async growFor(bytesOfRecords: number): Promise<void> {
    await this.#file.append(this.#endOf(bytesOfRecords));
  }

  /** Resolves once the group, which must fit, is durable. */
  append(number: number, lastStamp: bigint, cells: readonly Cell[], bytesOfRecords: number) {
    // The header goes with the first group, so that it costs no write of its own.
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

  /** Goes on at the beginning of the other file, of which everything is in LMDB. */
  switchFiles(): void {
    this.#current = this.#current === 0 ? 1 : 0;
    this.#position = WAL_HEADER_BYTES;
  }

  async close(): Promise<void> {
    for (const file of this.#files) await file.close();
    slabs.release(this.#slab);
  }

  async #writeLarge(file: WalFile, group: Bytes, position: number): Promise<void> {
    for (let at = 0; at < group.length; at += SLAB_BYTES) {
      const size = group.copy(this.#slab, 0, at, at + SLAB_BYTES);
      await file.write(this.#slab.subarray(0, size), position + at);
    }
  }

  /** With a page to spare, for the group without records that comes before a turn. */
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
