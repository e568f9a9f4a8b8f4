import type { BufferOwner } from "../../base/borrowed-buffer.ts";
import type { Body, Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import type { Machine } from "../../machine/machine.ts";
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
import { lengthWithin } from "../extent-chunks.ts";
import { PieceOwner } from "../extent-reading.ts";
import { ExtentUpload, type Room, type RoomFinder, writeBody } from "../extent-upload.ts";
import { ReadSlabs } from "../read-slabs.ts";
import { UploadMemory } from "../upload-memory.ts";
import { extentNumber, makerOf } from "./extent-names.ts";
import type { ExtentObjects } from "./extent-objects.ts";
import { KnownExtents } from "./known-extents.ts";
import { ObjectGroups } from "./object-groups.ts";
import { ObjectUpload } from "./object-upload.ts";
import { PartMemory } from "./part-memory.ts";
import { SMALL_BYTES_MAX, writeSmall } from "./small-upload.ts";

/** A longer body becomes several objects, so that each can be swept. */
const EXTENT_BYTES_MAX = 256 * MIB;
const GROUP_BYTES_MAX = 4 * MIB;

export interface S3ExtentsSetup {
  readonly objects: ExtentObjects;
  readonly machine: Machine;
  /** The number of this process: no other one has it, at any time. */
  readonly frontEnd: number;
  /**
   * Whether this process sweeps the extents of a front end. It may sweep those of another one only
   * after its end, because nobody else knows what it is writing. Default: all of them.
   */
  readonly sweeps?: (frontEnd: number) => boolean;
  /**
   * Resolves once no front end reads what it found in a state of the store before this call.
   * Default: at once, for a process without others, which knows its own readings.
   */
  readonly unread?: () => Promise<void>;
  readonly extentBytesMax?: number;
  /** Memory for the parts of uploads. */
  readonly parts?: PartMemory;
  readonly known?: KnownExtents;
}

/**
 * Extents as objects of an S3 store. An object is written once, by one front end, and does not
 * change until it is deleted. Bodies up to 64 KiB share objects; a longer one gets one of its own.
 */
export class S3Extents implements Extents, LeftExtents {
  readonly reusesSpace = false;
  readonly #objects: ExtentObjects;
  readonly #frontEnd: number;
  readonly #sweeps: (frontEnd: number) => boolean;
  readonly #unread: (() => Promise<void>) | null;
  readonly #uploads: UploadMemory;
  readonly #readSlabs: ReadSlabs;
  readonly #parts: PartMemory;
  readonly #pieces: RoomFinder;
  readonly #groups: ObjectGroups;
  readonly #known: KnownExtents;
  /** Uploads to objects of their own that are not complete. */
  readonly #unfinished = new Map<number, ObjectUpload>();
  /** Extents whose upload failed. Nobody names them, but their objects may be there. */
  readonly #failed = new Set<number>();
  /** What `close` waits for. */
  readonly #requests = new Set<Promise<void>>();
  readonly #deletions = new Set<Promise<void>>();
  #count = 0;
  /** Removed extents of which it could not be found out when they are unread. */
  readonly #toAskAgain = new Set<number>();
  #isClosed = false;

  constructor(setup: S3ExtentsSetup) {
    const { objects, machine, extentBytesMax = EXTENT_BYTES_MAX } = setup;
    this.#objects = objects;
    this.#frontEnd = setup.frontEnd;
    this.#sweeps = setup.sweeps ?? (() => true);
    this.#unread = setup.unread ?? null;
    this.#uploads = new UploadMemory(machine);
    this.#readSlabs = new ReadSlabs(machine);
    this.#parts = setup.parts ?? new PartMemory(machine);
    this.#known = setup.known ?? new KnownExtents();
    this.#pieces = {
      pieceBytesMax: lengthWithin(extentBytesMax),
      reserve: (bytes) => this.#beginObject(bytes),
    };
    this.#groups = new ObjectGroups({
      bytesMax: Math.min(extentBytesMax, GROUP_BYTES_MAX),
      begin: () => this.#begin(),
      pin: (extent) => this.#known.pin(extent),
      create: (extent, body) => this.#createGroup(extent, body),
    });
  }

  async write(body: Body, taps: Taps = NO_TAPS): Promise<Written> {
    if (this.#isClosed) throw closedError();
    if (body.length > SMALL_BYTES_MAX) {
      return writeBody(new ExtentUpload(this.#pieces, this.#uploads, body.length, taps), body);
    }
    const release = (extent: number) => this.#release(extent);
    return writeSmall(body, taps, this.#uploads, this.#groups, release);
  }

  pin(extents: Iterable<number>): Pin {
    const pinned = [...new Set(extents)];
    for (const extent of pinned) this.#requireExisting(extent);
    for (const extent of pinned) this.#known.pin(extent);
    return {
      release: () => {
        for (const extent of pinned.splice(0)) this.#release(extent);
      },
    };
  }

  read(at: Address, from: number, length: number): BufferOwner {
    const { extent } = at;
    const object = {
      path: this.#objects.pathOf(extent),
      isBestDirect: () => false,
      read: (pages: Bytes, position: number) => this.#objects.read(extent, position, pages),
    };
    return new PieceOwner(this.#readSlabs, object, at, from, length);
  }

  get lastExtent(): number {
    return extentNumber(this.#frontEnd, this.#count);
  }

  list(): readonly ExtentInfo[] {
    return this.#known.list();
  }

  async find(extent: number): Promise<ExtentInfo | undefined> {
    if (!this.#sweeps(makerOf(extent)) || this.#isMissing(extent)) return undefined;
    const known = this.#known.info(extent);
    if (known !== undefined) return known;
    const bytes = await this.#objects.size(extent);
    if (bytes !== null) this.#known.seal(extent, bytes);
    return this.#known.info(extent);
  }

  seal(extent: number): void {
    this.#requireExisting(extent);
    this.#groups.seal(extent);
  }

  async remove(extent: number): Promise<void> {
    if (this.#isClosed) throw closedError();
    this.#requireExisting(extent);
    this.#groups.seal(extent);
    this.#known.setState(extent, "removed");
    if (this.#unread === null) await this.#deleteUnlessPinned(extent);
    else void this.#deleteWhenUnread(extent, this.#unread());
  }

  /** Readings elsewhere may take long: neither the caller nor `close` waits for their end. */
  async #deleteWhenUnread(extent: number, unread: Promise<void>): Promise<void> {
    try {
      await unread;
      if (!this.#isClosed) await this.#deleteUnlessPinned(extent);
    } catch {
      // The records cannot be reached. After `close`, the extent is collected with the front end.
      this.#toAskAgain.add(extent);
    }
  }

  async discard(extent: number): Promise<void> {
    if (this.#isClosed) throw closedError();
    await this.#deleteUnlessPinned(extent);
  }

  abortUploads(frontEnd: number): Promise<void> {
    return this.#objects.abortAll(frontEnd);
  }

  extentsOf(frontEnd: number): AsyncIterable<readonly number[]> {
    return this.#objects.extentsOf(frontEnd);
  }

  /** Deletes again what could not be deleted before. */
  async trim(): Promise<void> {
    if (this.#unread !== null) {
      for (const extent of this.#toAskAgain) void this.#deleteWhenUnread(extent, this.#unread());
      this.#toAskAgain.clear();
    }
    await Promise.allSettled(this.#deletions);
    for (const extent of this.#known.toDelete()) await this.#delete(extent);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#unfinished.values()].map((upload) => upload.settled()));
    while (this.#requests.size + this.#deletions.size > 0) {
      await Promise.allSettled([...this.#requests, ...this.#deletions]);
    }
    this.#objects.close();
  }

  #begin(): number {
    const extent = extentNumber(this.#frontEnd, ++this.#count);
    this.#known.begin(extent);
    return extent;
  }

  #beginObject(bytes: number): Room {
    const extent = this.#begin();
    this.#known.seal(extent, bytes);
    this.#known.pin(extent);
    const file = new ObjectUpload(extent, bytes, this.#objects, this.#parts, (isComplete) => {
      if (isComplete) this.#unfinished.delete(extent);
      else this.#noteFailed(extent);
      this.#release(extent);
    });
    this.#unfinished.set(extent, file);
    return { file, offset: 0 };
  }

  #createGroup(extent: number, body: Bytes): Promise<void> {
    this.#known.seal(extent, body.length);
    return this.#tracked(
      this.#objects.create(extent, body).catch((error) => {
        this.#noteFailed(extent);
        throw error;
      }),
    );
  }

  #noteFailed(extent: number): void {
    this.#failed.add(extent);
    this.#known.setState(extent, "due");
  }

  #release(extent: number): void {
    this.#known.release(extent);
    const isDue = this.#known.stateOf(extent) === "due" && !this.#known.isPinned(extent);
    if (isDue) this.#inBackground(this.#delete(extent));
  }

  /** Deletes an extent that nobody reads elsewhere, at once or when its last pin is released. */
  async #deleteUnlessPinned(extent: number): Promise<void> {
    this.#known.setState(extent, "due");
    if (!this.#known.isPinned(extent)) await this.#delete(extent);
  }

  /** Deletes an object, or what an upload has left of it. If that fails, `trim` tries again. */
  #delete(extent: number): Promise<void> {
    this.#known.setState(extent, "deleted");
    const deletion = this.#deleteObject(extent).catch((error) => {
      this.#known.setState(extent, "due");
      throw error;
    });
    return this.#tracked(deletion, this.#deletions);
  }

  async #deleteObject(extent: number): Promise<void> {
    const uploadId = (await this.#unfinished.get(extent)?.end()) ?? null;
    if (uploadId !== null) await this.#objects.abort(extent, uploadId);
    if (this.#failed.has(extent)) await this.#objects.deleteOwn(extent);
    else await this.#objects.delete(extent);
    this.#unfinished.delete(extent);
    this.#failed.delete(extent);
  }

  /** Leaves errors to `trim`, which tries again. */
  #inBackground(work: Promise<void>): void {
    this.#tracked(work).catch(() => {});
  }

  /** Makes others wait: `close`, unless it is another set. */
  #tracked(work: Promise<void>, among = this.#requests): Promise<void> {
    const done = work.finally(() => among.delete(done));
    among.add(done);
    return done;
  }

  #requireExisting(extent: number): void {
    if (!this.#isMissing(extent)) return;
    throw new StoreError("damaged", `${this.#objects.pathOf(extent)} is missing`);
  }

  /** Whether an extent is known not to exist. Whether any other one does, a request finds out. */
  #isMissing(extent: number): boolean {
    const isToCome = makerOf(extent) === this.#frontEnd && extent > this.lastExtent;
    return isToCome || this.#known.stateOf(extent) === "deleted";
  }
}

function closedError(): StoreError {
  return new StoreError("broken", "the extents are closed");
}
