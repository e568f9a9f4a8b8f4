import { alignedBytes, PAGE_BYTES } from "../../base/aligned-bytes.ts";
import type { Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { Slabs } from "../../base/slabs.ts";
import type { LogFile } from "./log-file.ts";
import {
  bytesOfGroup,
  decodeGroup,
  encodeGroup,
  type LoggedGroup,
  type LogSecret,
} from "./log-groups.ts";
import type { Cell } from "./overlay.ts";

/** A file that holds so much is left to lmdb, and the other one is written to. */
export const LOG_BYTES_ENOUGH = 32 * MIB;
/** At most so many times that while lmdb is still busy with the other one. */
export const LOG_GROWTH_MAX = 2;
const SLAB_BYTES = MIB;

const slabs = new Slabs(SLAB_BYTES, Number.POSITIVE_INFINITY, alignedBytes);

/**
 * What has been written since lmdb got the last of it, group by group. One of two files is written
 * to, from its beginning, while what is in the other is put into lmdb.
 */
export class Log {
  readonly #files: readonly [LogFile, LogFile];
  readonly #secret: LogSecret;
  readonly #bytesEnough: number;
  #current: 0 | 1 = 0;
  #position = 0;
  readonly #slab = slabs.take();

  constructor(files: readonly [LogFile, LogFile], secret: LogSecret, bytesEnough: number) {
    this.#files = files;
    this.#secret = secret;
    this.#bytesEnough = bytesEnough;
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
    return this.#position === 0 || bytes <= LOG_GROWTH_MAX * this.#bytesEnough;
  }

  async growFor(bytesOfRecords: number): Promise<void> {
    await this.#file.extend(this.#endOf(bytesOfRecords));
  }

  /** Resolves once the group, which must fit, is durable. */
  append(number: number, lastStamp: bigint, cells: readonly Cell[], bytesOfRecords: number) {
    const size = bytesOfGroup(bytesOfRecords);
    const room = size <= SLAB_BYTES ? this.#slab : Buffer.allocUnsafeSlow(size);
    const group = encodeGroup(this.#secret, number, lastStamp, cells, room);
    const position = this.#position;
    this.#position += group.length;
    return room === this.#slab
      ? this.#file.write(group, position)
      : this.#writeLarge(this.#file, group, position);
  }

  /** Goes on at the beginning of the other file, of which everything is in lmdb. */
  turn(): void {
    this.#current = this.#current === 0 ? 1 : 0;
    this.#position = 0;
  }

  async close(): Promise<void> {
    for (const file of this.#files) await file.close();
    slabs.giveBack(this.#slab);
  }

  async #writeLarge(file: LogFile, group: Bytes, position: number): Promise<void> {
    for (let at = 0; at < group.length; at += SLAB_BYTES) {
      const size = group.copy(this.#slab, 0, at, at + SLAB_BYTES);
      await file.write(this.#slab.subarray(0, size), position + at);
    }
  }

  /** With a page to spare, for the group without records that comes before a turn. */
  #endOf(bytesOfRecords: number): number {
    return this.#position + bytesOfGroup(bytesOfRecords) + PAGE_BYTES;
  }

  get #file(): LogFile {
    return this.#files[this.#current];
  }
}

/** Groups that are in the files and not in lmdb, which has all up to `through`, in their order. */
export function groupsBehind(
  secret: LogSecret,
  through: number,
  found: readonly Bytes[],
): LoggedGroup[] {
  const rows = found.map((bytes) => rowOfGroups(secret, bytes, through));
  const groups = rows.flat().filter(({ number }) => number > through);
  groups.sort((a, b) => a.number - b.number);
  groups.forEach(({ number }, at) => {
    if (number !== through + 1 + at) throw damaged(`group ${through + 1 + at} is missing`);
  });
  return groups;
}

/**
 * The groups from the beginning of a file on, up to the one that was being written when the process
 * ended, or to what is left from an earlier use of the file.
 */
function rowOfGroups(secret: LogSecret, bytes: Bytes, through: number): LoggedGroup[] {
  const groups: LoggedGroup[] = [];
  let last = 0;
  let at = 0;
  for (;;) {
    const group = decodeGroup(secret, bytes, at);
    if (group === null || (last > 0 && group.number !== last + 1)) break;
    groups.push(group);
    last = group.number;
    at += group.bytesOnDisk;
  }
  refuseGap(secret, bytes, at, Math.max(last, through));
  return groups;
}

/** Groups are written one after the other: a later one behind a broken one means that it was whole. */
function refuseGap(secret: LogSecret, bytes: Bytes, from: number, last: number): void {
  for (let at = from; at < bytes.length; at += PAGE_BYTES) {
    const group = decodeGroup(secret, bytes, at);
    if (group !== null && group.number > last) throw damaged(`a group before ${group.number}`);
  }
}

function damaged(what: string): Error {
  return new Error(
    `the log of the store is damaged (${what}): restore the data folder from a backup`,
  );
}
