import { existsSync } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rm, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { BufferOwner } from "../../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
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
import type { LeftExtents } from "../../store/left-extents.ts";
import { StoreError } from "../../store/store.ts";
import { ChunkReading, ChunkWriting } from "./chunks.ts";

/** A longer body becomes several files, so that each can be swept. */
const EXTENT_BYTES_MAX = 64 * MIB;
/** Extents of one front end. Both numbers together stay below 2^53. */
const EXTENTS_PER_FRONT_END = 2 ** 32;

export interface FolderExtentsSetup {
  readonly folder: string;
  /** The number of this front end: no other one has it, at any time. */
  readonly frontEnd: number;
  /**
   * Whether this front end sweeps the extents of another one, which it may do only after its end,
   * because nobody else knows what it is writing. Default: it sweeps its own only.
   */
  readonly sweeps?: (frontEnd: number) => boolean;
  /**
   * Resolves once no front end reads what it found in a state of the store before this call.
   * Default: at once, for a process without others.
   */
  readonly unread?: () => Promise<void>;
  readonly extentBytesMax?: number;
}

/**
 * Extents as files of a folder that several front ends share, for trials. Each body is a file of
 * its own, which does not change.
 */
export class FolderExtents implements Extents, LeftExtents {
  readonly reusesSpace = false;
  readonly #folder: string;
  readonly #frontEnd: number;
  readonly #extentBytesMax: number;
  readonly #sweeps: (frontEnd: number) => boolean;
  readonly #unread: (() => Promise<void>) | null;
  /** Extents that this front end made and did not remove, with their size on disk. */
  readonly #own = new Map<number, number>();
  readonly #pins = new Map<number, number>();
  readonly #removed = new Set<number>();
  #count = 0;
  /** Removed extents of which it could not be found out when they are unread. */
  readonly #toAskAgain = new Set<number>();
  #isClosed = false;

  private constructor(setup: FolderExtentsSetup) {
    const { folder, frontEnd, sweeps, unread } = setup;
    this.#folder = join(folder, "extents");
    this.#frontEnd = frontEnd;
    this.#extentBytesMax = setup.extentBytesMax ?? EXTENT_BYTES_MAX;
    this.#sweeps = (maker) => maker === frontEnd || sweeps?.(maker) === true;
    this.#unread = unread ?? null;
  }

  static async open(setup: FolderExtentsSetup): Promise<FolderExtents> {
    const extents = new FolderExtents(setup);
    await mkdir(extents.#ownFolder, { recursive: true });
    return extents;
  }

  async write(body: Body, { crc64, tap }: Taps = NO_TAPS): Promise<Written> {
    if (this.#isClosed) throw closedError();
    const digest = crc64 ? new Crc64() : null;
    const upload = new FolderUpload(body.length, this.#extentBytesMax, () => this.#begin());
    try {
      await body.drain(async (part) => {
        digest?.update(part);
        await bothOf(upload.add(part), tapped(tap, part));
      });
      await upload.finish();
    } catch (error) {
      await upload.abandon();
      for (const extent of upload.extents) await this.#discard(extent);
      throw error;
    }
    await this.#syncFolder();
    for (const { extent, bytesOnDisk } of upload.addresses) this.#own.set(extent, bytesOnDisk);
    const { release } = this.pin(upload.extents);
    for (const extent of upload.extents) this.#unpin(extent);
    return { addresses: upload.addresses, crc64: digest?.digest() ?? null, release };
  }

  pin(extents: Iterable<number>): Pin {
    const pinned = [...new Set(extents)];
    for (const extent of pinned) {
      const isThere =
        !this.#removed.has(extent) && (this.#pins.has(extent) || existsSync(this.#pathOf(extent)));
      if (!isThere) throw new StoreError("damaged", `${this.#pathOf(extent)} is missing`);
    }
    for (const extent of pinned) this.#pin(extent);
    return {
      release: () => {
        for (const extent of pinned.splice(0)) this.#unpin(extent);
      },
    };
  }

  read(at: Address, from: number, length: number): BufferOwner {
    return new ChunkReading(this.#pathOf(at.extent), at.length, from, length);
  }

  get lastExtent(): number {
    return this.#frontEnd * EXTENTS_PER_FRONT_END + this.#count;
  }

  list(): readonly ExtentInfo[] {
    return [...this.#own].map(([extent, bytesOnDisk]) => ({
      extent,
      bytesOnDisk,
      open: false,
      pinned: this.#pins.has(extent),
    }));
  }

  async find(extent: number): Promise<ExtentInfo | undefined> {
    const maker = makerOf(extent);
    const pinned = this.#pins.has(extent);
    const own = this.#own.get(extent);
    if (own !== undefined) return { extent, bytesOnDisk: own, open: false, pinned };
    if (maker === this.#frontEnd || !this.#sweeps(maker) || this.#removed.has(extent)) {
      return undefined;
    }
    const found = await stat(this.#pathOf(extent)).catch(() => null);
    return found === null ? undefined : { extent, bytesOnDisk: found.size, open: false, pinned };
  }

  /** Files get no second body. */
  seal(): void {}

  async remove(extent: number): Promise<void> {
    if (this.#isClosed) throw closedError();
    this.#own.delete(extent);
    if (this.#unread === null) await this.discard(extent);
    else void this.#discardWhenUnread(extent, this.#unread());
  }

  async discard(extent: number): Promise<void> {
    if (this.#isClosed) throw closedError();
    this.#removed.add(extent);
    if (!this.#pins.has(extent)) await this.#discard(extent);
  }

  /** What a front end was writing is a file like any other. */
  async abortUploads(): Promise<void> {}

  async *extentsOf(frontEnd: number): AsyncIterable<readonly number[]> {
    const folder = join(this.#folder, folderOf(frontEnd));
    const names = await readdir(folder).catch(() => []);
    if (names.length === 0) await rmdir(folder).catch(() => {});
    const found = names.flatMap((name) => /^([0-9a-f]{8})\.extent$/.exec(name)?.[1] ?? []);
    yield found.map((count) => frontEnd * EXTENTS_PER_FRONT_END + Number.parseInt(count, 16));
  }

  /** Readings elsewhere may take long: neither the caller nor `close` waits for their end. */
  async #discardWhenUnread(extent: number, unread: Promise<void>): Promise<void> {
    try {
      await unread;
      if (!this.#isClosed) await this.discard(extent);
    } catch {
      // The records cannot be reached. After `close`, the leader removes it.
      this.#toAskAgain.add(extent);
    }
  }

  /** Asks again for what could not be discarded because the records could not be reached. */
  async trim(): Promise<void> {
    if (this.#unread === null) return;
    for (const extent of this.#toAskAgain) void this.#discardWhenUnread(extent, this.#unread());
    this.#toAskAgain.clear();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }

  /** A new extent, pinned, and the file of its bytes. */
  async #begin(): Promise<Begun> {
    this.#count++;
    const extent = this.lastExtent;
    this.#pin(extent);
    const file = await open(this.#pathOf(extent), "wx", PRIVATE_MODE);
    return { extent, file };
  }

  #pin(extent: number): void {
    this.#pins.set(extent, (this.#pins.get(extent) ?? 0) + 1);
  }

  #unpin(extent: number): void {
    const pins = (this.#pins.get(extent) ?? 1) - 1;
    if (pins > 0) {
      this.#pins.set(extent, pins);
      return;
    }
    this.#pins.delete(extent);
    // An error costs space, but no data.
    if (this.#removed.has(extent)) void this.#discard(extent).catch(() => {});
  }

  async #discard(extent: number): Promise<void> {
    this.#pins.delete(extent);
    await rm(this.#pathOf(extent), { force: true });
  }

  /** Makes the names of new files durable. */
  async #syncFolder(): Promise<void> {
    const folder = await open(this.#ownFolder, "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  get #ownFolder(): string {
    return join(this.#folder, folderOf(this.#frontEnd));
  }

  #pathOf(extent: number): string {
    const maker = makerOf(extent);
    const count = (extent % EXTENTS_PER_FRONT_END).toString(16).padStart(8, "0");
    return join(this.#folder, folderOf(maker), `${count}.extent`);
  }
}

/** A promise, even if the tap throws at once. */
async function tapped(tap: Taps["tap"], part: Bytes): Promise<void> {
  await tap?.([part]);
}

/** Waits for both, also if one fails. */
async function bothOf(one: Promise<void>, other: Promise<void>): Promise<void> {
  const failed = (await Promise.allSettled([one, other])).find(
    ({ status }) => status === "rejected",
  );
  if (failed?.status === "rejected") throw failed.reason;
}

const PRIVATE_MODE = 0o600;

function folderOf(frontEnd: number): string {
  return frontEnd.toString(16).padStart(5, "0");
}

function makerOf(extent: number): number {
  return Math.floor(extent / EXTENTS_PER_FRONT_END);
}

function closedError(): StoreError {
  return new StoreError("broken", "the extents are closed");
}

interface Begun {
  readonly extent: number;
  readonly file: FileHandle;
}

/** A body that is being written to one file after another. */
class FolderUpload {
  readonly addresses: Address[] = [];
  readonly extents: number[] = [];
  readonly #begin: () => Promise<Begun>;
  readonly #pieceBytesMax: number;
  #bytesAhead: number;
  #piece: ChunkWriting | null = null;

  constructor(length: number, pieceBytesMax: number, begin: () => Promise<Begun>) {
    this.#bytesAhead = length;
    this.#pieceBytesMax = pieceBytesMax;
    this.#begin = begin;
  }

  async add(part: Bytes): Promise<void> {
    for (let at = 0; at < part.length; ) {
      this.#piece ??= await this.#beginPiece();
      at += await this.#piece.add(part.subarray(at));
      if (this.#piece.isComplete) await this.#endPiece();
    }
  }

  async finish(): Promise<void> {
    if (this.#piece !== null || this.#bytesAhead > 0) throw new Error("a body ended too early");
  }

  async abandon(): Promise<void> {
    await this.#piece?.close();
  }

  async #beginPiece(): Promise<ChunkWriting> {
    if (this.#bytesAhead === 0) throw new Error("a body is longer than announced");
    const { extent, file } = await this.#begin();
    this.extents.push(extent);
    return new ChunkWriting(file, Math.min(this.#bytesAhead, this.#pieceBytesMax));
  }

  async #endPiece(): Promise<void> {
    const { length, bytesOnDisk } = this.#piece as ChunkWriting;
    await this.#piece?.finish();
    this.#piece = null;
    this.#bytesAhead -= length;
    const extent = this.extents.at(-1) as number;
    this.addresses.push({ extent, offset: 0, length, bytesOnDisk, checksum: 0 });
  }
}
