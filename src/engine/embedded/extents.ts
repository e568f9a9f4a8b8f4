import { open, readdir, rename, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { BufferOwner } from "../../base/borrowed-buffer.ts";
import { type Body, type Bytes, wholeBody } from "../../base/bytes.ts";
import { beginsOnPage } from "../../machine/aligned-bytes.ts";
import { directIoFlag, SYNC_FLAG } from "../../machine/direct-io.ts";
import type { Machine } from "../../machine/machine.ts";
import {
  type Address,
  type EndOfUse,
  type ExtentInfo,
  type Extents,
  NO_TAPS,
  type Pin,
  type Taps,
  type Written,
} from "../../store/extents.ts";
import { type FailStop, StoreError } from "../../store/store.ts";
import { bytesOnDisk, lengthWithin, ONE_CHUNK_BYTES_MAX } from "../extent-chunks.ts";
import { PieceOwner } from "../extent-reading.ts";
import { ExtentUpload, type Room, writeBody } from "../extent-upload.ts";
import { ReadSlabs } from "../read-slabs.ts";
import { UploadMemory } from "../upload-memory.ts";
import { DiskPace } from "./disk-pace.ts";
import type { DiskSpace } from "./disk-space.ts";
import { EngineFigures, type FiguresOption } from "./engine-figures.ts";
import { ExtentFile, writeError } from "./extent-file.ts";
import { PRIVATE_FILE_MODE } from "./private-folder.ts";
import { removeFile } from "./remove-file.ts";
import { syncFolder } from "./sync-folder.ts";

export const EXTENT_BYTES_MAX = 256 * 1024 * 1024;
/** A piece takes at most a quarter of an extent, so that little room is lost at its end. */
const PIECE_PART = 4;
/** The smallest file, as a part of a full one, that is worth reusing for another extent. */
const SPARE_PART = 0.75;
/** More than one: short-lived data may leave several dead extents before the next is full. */
const SPARES_MAX = 2;
/** Unpinned files that stay open, with up to three descriptors each. */
const IDLE_FILES_MAX = 24;

const FILE_NAME = /^[0-9a-f]{16}\.extent$/;

export interface EmbeddedExtentsSetup extends FiguresOption {
  /** The folder of the extents, and of nothing else. */
  readonly folder: string;
  readonly machine: Machine;
  readonly endOfUse: EndOfUse | null;
  readonly failStop: FailStop;
  readonly extentBytesMax?: number;
  readonly pace?: DiskPace;
  readonly space?: DiskSpace;
  /** The open flag for writes that are durable when they return (see `direct-io.ts`). */
  readonly syncFlag?: number;
}

/**
 * Extents as files. All uploads write to one file at a time, each at its own offset, and share its
 * syncs. The file of a dead extent is reused for the next one: writing to allocated space takes
 * half the time, because a sync then covers data but no metadata. New space is not preallocated:
 * setting the size of a file first gained nothing, and filling it with zeros gained a third on
 * small bodies but writes all bytes twice.
 */
export class EmbeddedExtents implements Extents {
  readonly reusesSpace = true;
  readonly pieceBytesMax: number;
  readonly space: DiskSpace | undefined;
  readonly #folder: string;
  readonly #uploads: UploadMemory;
  readonly #readSlabs: ReadSlabs;
  /** The open flag for direct I/O; 0 if it does not work here. */
  readonly directFlag: number;
  readonly #syncFlag: number;
  readonly #pace: DiskPace;
  readonly #figures: EngineFigures;
  readonly #failStop: FailStop;
  readonly #extentBytesMax: number;
  readonly #files = new Map<number, ExtentFile>();
  /** Removed extents whose files are deleted as soon as they are unpinned. */
  readonly #doomed = new Set<ExtentFile>();
  /** Unpinned files that are still open, the longest idle first. */
  readonly #idle = new Set<ExtentFile>();
  readonly #cleanUps = new Set<Promise<void>>();
  #isClosed = false;
  /** Files of removed extents, to be reused for new ones. */
  readonly #sparePaths: string[] = [];
  #lastExtent: number;
  #current: ExtentFile | null = null;
  #adding: Promise<void> | null = null;

  private constructor(setup: EmbeddedExtentsSetup, directFlag: number) {
    this.#folder = setup.folder;
    this.#uploads = new UploadMemory(setup.machine);
    this.#readSlabs = new ReadSlabs(setup.machine);
    this.directFlag = directFlag;
    this.#syncFlag = setup.syncFlag ?? SYNC_FLAG;
    this.#pace = setup.pace ?? new DiskPace();
    this.#figures = setup.figures ?? new EngineFigures();
    this.#failStop = setup.failStop;
    this.space = setup.space;
    this.#extentBytesMax = setup.extentBytesMax ?? EXTENT_BYTES_MAX;
    this.pieceBytesMax = lengthWithin(this.#extentBytesMax / PIECE_PART);
    this.#lastExtent = setup.endOfUse?.extent ?? 0;
  }

  static async open(setup: EmbeddedExtentsSetup): Promise<EmbeddedExtents> {
    const extents = new EmbeddedExtents(setup, await directIoFlag(setup.folder));
    const sizes = await fileSizes(extents.#folder);
    for (const [extent, size] of sizes) extents.#add(extent, size, true);
    const last = sizes.at(-1)?.[0];
    if (last !== undefined && last >= extents.#lastExtent) {
      await extents.#continueAt(last, setup.endOfUse?.extent === last ? setup.endOfUse.offset : 0);
    }
    return extents;
  }

  write(body: Body, taps: Taps = NO_TAPS): Promise<Written> {
    const upload = new ExtentUpload(this, this.#uploads, body.length, taps);
    const whole = this.#wholeOf(body);
    if (whole === null) return writeBody(upload, body);
    if (beginsOnPage(whole)) return upload.writePages(whole);
    return writeBody(upload, wholeBody(whole.subarray(0, body.length)));
  }

  pin(extents: Iterable<number>): Pin {
    const files = [...new Set(extents)].map((extent) => this.#fileOf(extent));
    for (const file of files) this.#pin(file);
    return {
      release() {
        for (const file of files.splice(0)) file.release();
      },
    };
  }

  read(at: Address, from: number, length: number): BufferOwner {
    return new PieceOwner(this.#readSlabs, this.#fileOf(at.extent), at, from, length);
  }

  get lastExtent(): number {
    return this.#lastExtent;
  }

  list(): readonly ExtentInfo[] {
    return [...this.#files.values()].filter((file) => !this.#doomed.has(file)).map(infoOf);
  }

  async find(extent: number): Promise<ExtentInfo | undefined> {
    const file = this.#files.get(extent);
    return file === undefined || this.#doomed.has(file) ? undefined : infoOf(file);
  }

  seal(extent: number): void {
    this.#fileOf(extent).seal();
  }

  async remove(extent: number): Promise<void> {
    this.#checkOpen();
    const file = this.#fileOf(extent);
    file.seal();
    const isShort = this.space?.isShort === true;
    const isWorthReusing = !isShort && file.end >= this.#extentBytesMax * SPARE_PART;
    if (isWorthReusing && !file.pinned && this.#sparePaths.length < SPARES_MAX) {
      await this.#tracked(this.#addSpare(file));
      return;
    }
    this.#doomed.add(file);
    if (!file.pinned) await this.#tracked(this.#removeFile(file));
  }

  async trim(): Promise<void> {
    const next = () => this.#sparePaths.pop();
    for (let path = next(); path !== undefined; path = next()) {
      this.#checkOpen();
      await this.#tracked(removeFile(path));
    }
  }

  /** Once it resolves, the folder is no longer touched, and another process may use it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#adding?.catch(() => {});
    await Promise.all([...this.#files.values()].map((file) => file.closeForGood()));
    await Promise.all(this.#cleanUps);
  }

  reserve(bytesOnDisk: number): Room | Promise<Room> {
    if (this.#isClosed) return Promise.reject(closedError());
    const file = this.#current;
    const offset = file?.reserve(bytesOnDisk) ?? null;
    if (file !== null && offset !== null) {
      this.#pin(file);
      return { file, offset };
    }
    this.#adding ??= this.#addFile().finally(() => {
      this.#adding = null;
    });
    return this.#adding.then(() => this.reserve(bytesOnDisk));
  }

  /** Continues in the last file of an earlier run, behind the last byte in use. */
  async #continueAt(extent: number, offset: number): Promise<void> {
    if (offset >= this.#extentBytesMax) return;
    const file = this.#add(extent, offset, false);
    await truncate(file.path, offset);
    this.#current = file;
  }

  async #addFile(): Promise<void> {
    this.#current?.seal();
    const extent = this.#lastExtent + 1;
    const path = this.#pathOf(extent);
    const sparePath = this.#sparePaths.pop();
    try {
      if (sparePath === undefined) {
        await (await open(path, "w", PRIVATE_FILE_MODE)).close();
      } else await rename(sparePath, path);
    } catch (error) {
      if (sparePath !== undefined) this.#sparePaths.push(sparePath);
      throw writeError(error, path);
    }
    await this.#syncFolder();
    this.#current = this.#add(extent, 0, false);
    // With two files or more, the sweeper may have to compact one into the other.
    if (this.#files.size === 2) await this.space?.wantForMoves(this.#extentBytesMax / 2);
  }

  async #syncFolder(): Promise<void> {
    try {
      await syncFolder(this.#folder);
    } catch (error) {
      const failure = new StoreError("broken", `cannot sync ${this.#folder}`, { cause: error });
      this.#failStop(failure);
      throw failure;
    }
  }

  #add(extent: number, end: number, sealed: boolean): ExtentFile {
    const file = new ExtentFile({
      extent,
      path: this.#pathOf(extent),
      end,
      bytesMax: this.#extentBytesMax,
      sealed,
      directFlag: this.directFlag,
      syncFlag: this.#syncFlag,
      pace: this.#pace,
      figures: this.#figures,
      failStop: this.#failStop,
      onIdle: (idle) => this.#retire(idle),
    });
    this.#files.set(extent, file);
    this.#lastExtent = Math.max(this.#lastExtent, extent);
    return file;
  }

  #pin(file: ExtentFile): void {
    this.#idle.delete(file);
    file.pin();
  }

  #retire(file: ExtentFile): void {
    if (this.#doomed.has(file)) {
      this.#inBackground(this.#removeFile(file));
      return;
    }
    this.#idle.add(file);
    for (const longest of this.#idle) {
      if (this.#idle.size <= IDLE_FILES_MAX) return;
      this.#idle.delete(longest);
      // A read that outlives its caller's pin comes here again when it ends.
      if (!longest.pinned) this.#inBackground(longest.close());
    }
  }

  /** Offers the path to other extents, once its descriptors are closed. */
  async #addSpare(file: ExtentFile): Promise<void> {
    await this.#forget(file);
    this.#sparePaths.push(file.path);
  }

  async #removeFile(file: ExtentFile): Promise<void> {
    await this.#forget(file);
    await removeFile(file.path);
  }

  #forget(file: ExtentFile): Promise<void> {
    this.#idle.delete(file);
    this.#doomed.delete(file);
    this.#files.delete(file.extent);
    if (this.#current === file) this.#current = null;
    return file.closeForGood();
  }

  /** Ignores errors: they cost space until the next start finds the file again, but no data. */
  #inBackground(cleanUp: Promise<void>): void {
    void this.#tracked(cleanUp).catch(() => {});
  }

  /** Makes `close` wait for a clean-up. */
  #tracked(cleanUp: Promise<void>): Promise<void> {
    const done = cleanUp.catch(() => {}).finally(() => this.#cleanUps.delete(done));
    this.#cleanUps.add(done);
    return cleanUp;
  }

  /** A body of one chunk, with room for its checksum up to the end of the last page. */
  #wholeOf(body: Body): Bytes | null {
    if (body.length > Math.min(ONE_CHUNK_BYTES_MAX, this.pieceBytesMax)) return null;
    return body.takeWhole?.(bytesOnDisk(body.length) - body.length) ?? null;
  }

  #checkOpen(): void {
    if (this.#isClosed) throw closedError();
  }

  #pathOf(extent: number): string {
    return join(this.#folder, extentFileName(extent));
  }

  #fileOf(extent: number): ExtentFile {
    const file = this.#files.get(extent);
    if (file !== undefined) return file;
    throw new StoreError("damaged", `${this.#pathOf(extent)} is missing: restore it from a backup`);
  }
}

export function extentFileName(extent: number): string {
  return `${extent.toString(16).padStart(16, "0")}.extent`;
}

function infoOf({ extent, end, sealed, pinned }: ExtentFile): ExtentInfo {
  return { extent, bytesOnDisk: end, open: !sealed, pinned };
}

function closedError(): StoreError {
  return new StoreError("broken", "the extents are closed");
}

/** Extents and the size of their files, oldest first. */
async function fileSizes(folder: string): Promise<[extent: number, size: number][]> {
  const names = (await readdir(folder)).filter((name) => FILE_NAME.test(name)).sort();
  return Promise.all(
    names.map(async (name) => [
      Number.parseInt(name.slice(0, 16), 16),
      (await stat(join(folder, name))).size,
    ]),
  );
}
