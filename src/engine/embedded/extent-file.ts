import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { type FailStop, StoreError } from "../../store/store.ts";
import type { Completion, ReadableExtent, WritableExtent } from "../extent-io.ts";
import type { DiskPace } from "./disk-pace.ts";
import type { EngineFigures } from "./engine-figures.ts";
import { ReadMarks } from "./read-marks.ts";
import { writeParts } from "./write-parts.ts";
import { WriteQueue } from "./write-queue.ts";

/** A run this long is read ahead while it is sent, so only the speed of the disk matters. */
const LONG_RUN_BYTES = 2 * MIB;

export interface ExtentFileSetup {
  readonly extent: number;
  readonly path: string;
  /** Where the next piece goes. */
  readonly end: number;
  readonly bytesMax: number;
  readonly sealed: boolean;
  /** The open flag for direct I/O; 0 if it does not work here (see `direct-io.ts`). */
  readonly directFlag: number;
  /** The open flag for writes that are durable when they return; 0 if a sync must follow them. */
  readonly syncFlag: number;
  /** The pace of the disk, shared by all of its files. */
  readonly pace: DiskPace;
  /** Counts bytes and syncs, of all files. */
  readonly figures: EngineFigures;
  readonly failStop: FailStop;
  /** Called when the last pin is released and no I/O is left. */
  readonly onIdle: (file: ExtentFile) => void;
}

/**
 * One extent: a file of pieces. It opens descriptors when needed and leaves them open while it is
 * pinned: one for direct I/O, one for direct writes that are durable when they return, and one for
 * reads through the page cache.
 *
 * Every read, write and sync pins the file until it ends, because the path may go to another extent
 * as soon as the file is unpinned, and the caller's own pin may be gone by then.
 */
export class ExtentFile implements ReadableExtent, WritableExtent {
  readonly extent: number;
  readonly path: string;
  readonly #bytesMax: number;
  readonly #failStop: FailStop;
  readonly #onIdle: (file: ExtentFile) => void;
  #end: number;
  #sealed: boolean;
  /** Pins of callers, and of queued or running reads, writes and syncs. */
  #pins = 0;
  /** Queued or running reads, writes and syncs. */
  #underWay = 0;
  #onQuiet: (() => void) | null = null;
  #isClosedForGood = false;
  readonly #directFlag: number;
  readonly #syncFlag: number;
  readonly #pace: DiskPace;
  readonly #figures: EngineFigures;
  readonly #marks = new ReadMarks();
  readonly #writes = new WriteQueue((parts, position, durably) =>
    this.#writeAll(parts, position, durably),
  );
  /** Open handles, by their flags. */
  readonly #handles = new Map<number, Promise<FileHandle>>();
  /** Set by the first failed sync. */
  #failure: StoreError | null = null;
  #sync: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | null = null;

  constructor(setup: ExtentFileSetup) {
    this.extent = setup.extent;
    this.path = setup.path;
    this.#end = setup.end;
    this.#bytesMax = setup.bytesMax;
    this.#sealed = setup.sealed;
    this.#directFlag = setup.directFlag;
    this.#syncFlag = setup.syncFlag;
    this.#pace = setup.pace;
    this.#figures = setup.figures;
    this.#failStop = setup.failStop;
    this.#onIdle = setup.onIdle;
  }

  get end(): number {
    return this.#end;
  }

  get sealed(): boolean {
    return this.#sealed;
  }

  get pinned(): boolean {
    return this.#pins > 0;
  }

  seal(): void {
    this.#sealed = true;
  }

  /** Reserves room for a piece and returns its offset; null if the file is full or sealed. */
  reserve(bytes: number): number | null {
    const offset = this.#end;
    if (this.#sealed || (offset > 0 && offset + bytes > this.#bytesMax)) return null;
    this.#end = offset + bytes;
    return offset;
  }

  pin(): void {
    this.#pins++;
  }

  release(): void {
    this.#pins--;
    if (this.#pins === 0) this.#onIdle(this);
  }

  /** Pages must not change until the completion is called. Unless `durably`, they need a `sync`. */
  write(pages: Bytes, position: number, durably: boolean, completion: Completion): void {
    this.#beginIo();
    this.#writes.write(pages, position, durably, {
      written: () => {
        this.#endIo();
        completion.written();
      },
      failed: (error) => {
        this.#endIo();
        completion.failed(error);
      },
    });
  }

  /**
   * Whether a run that is about to be read should bypass the page cache: if some of it is read for
   * the first time, as far as is known, or if it is long and the disk is fast.
   */
  isBestDirect(position: number, bytes: number): boolean {
    if (this.#directFlag === 0) return false;
    const isNew = this.#marks.mark(position, bytes);
    return isNew || (bytes >= LONG_RUN_BYTES && this.#pace.isFast);
  }

  /** Fills whole pages, by direct I/O or through the page cache; false if the file is too short. */
  async read(pages: Bytes, position: number, isDirect: boolean): Promise<boolean> {
    this.#beginIo();
    try {
      const handle = await this.#open(isDirect ? this.#directFlag : 0);
      const beganMs = performance.now();
      for (let done = 0; done < pages.length; ) {
        const rest = pages.subarray(done);
        const { bytesRead } = await handle.read(rest, 0, rest.length, position + done);
        if (bytesRead === 0) return false;
        done += bytesRead;
      }
      if (isDirect) this.#pace.saw(pages.length, performance.now() - beganMs);
      return true;
    } catch (error) {
      throw readError(error, this.path);
    } finally {
      this.#endIo();
    }
  }

  /**
   * Resolves once everything written before the call is durable. One sync serves all writes before
   * it; calls that come while it runs share the next one. After one has failed all later ones fail,
   * too: a retry would succeed although the bytes are not on the disk.
   */
  sync(): Promise<void> {
    this.#nextSync ??= this.#syncNext();
    return this.#nextSync;
  }

  /** Closes the descriptors; the next use opens them again. */
  async close(): Promise<void> {
    const handles = [...this.#handles.values()];
    this.#handles.clear();
    // Skips those that failed to open.
    const opened = await Promise.allSettled(handles);
    await Promise.all(opened.map((one) => one.status === "fulfilled" && one.value.close()));
  }

  /**
   * Gives up the path for good, because another extent may get it. Resolves once running I/O has
   * ended and everything is closed. I/O that has not begun fails.
   */
  async closeForGood(): Promise<void> {
    this.#isClosedForGood = true;
    if (this.#underWay > 0) {
      await new Promise<void>((resolve) => {
        this.#onQuiet = resolve;
      });
    }
    await this.close();
  }

  #beginIo(): void {
    this.pin();
    this.#underWay++;
  }

  #endIo(): void {
    this.#underWay--;
    if (this.#underWay === 0) this.#onQuiet?.();
    this.release();
  }

  async #syncNext(): Promise<void> {
    this.#beginIo();
    try {
      await this.#sync;
      this.#nextSync = null;
      this.#sync = this.#syncNow();
      await this.#sync;
    } finally {
      this.#endIo();
    }
  }

  async #writeAll(parts: readonly Bytes[], position: number, durably: boolean): Promise<void> {
    const { fd } = await this.#openToWrite(durably ? this.#syncFlag : 0);
    if (this.#failure !== null) throw this.#failure;
    const begunMs = performance.now();
    try {
      await writeParts(fd, parts, position);
    } catch (error) {
      const failure = writeError(error, this.path);
      // The write includes the sync, so it may be the sync that failed.
      throw durably && failure.kind !== "full" ? this.#stop(failure) : failure;
    }
    for (const part of parts) this.#figures.extentBytesWritten += part.length;
    if (durably && this.#syncFlag === 0) await this.sync();
    else if (durably) this.#figures.noteExtentSync(begunMs);
  }

  async #syncNow(): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    if (this.#isClosedForGood) throw this.#closedError();
    try {
      const handle = await this.#open(this.#directFlag);
      const begunMs = performance.now();
      await handle.datasync();
      this.#figures.noteExtentSync(begunMs);
    } catch (error) {
      throw this.#stop(new StoreError("broken", `cannot sync ${this.path}`, { cause: error }));
    }
  }

  #stop(failure: StoreError): StoreError {
    if (this.#failure === null) this.#failStop(failure);
    this.#failure ??= failure;
    return this.#failure;
  }

  async #openToWrite(syncFlag: number): Promise<FileHandle> {
    try {
      return await this.#open(this.#directFlag | syncFlag);
    } catch (error) {
      throw writeError(error, this.path);
    }
  }

  /** Forgets a failed open (for example, too many open files), so that the next call retries. */
  #open(flags: number): Promise<FileHandle> {
    if (this.#isClosedForGood) return Promise.reject(this.#closedError());
    const opened = this.#handles.get(flags);
    if (opened !== undefined) return opened;
    const handle = open(this.path, constants.O_RDWR | flags).catch((error) => {
      // The file may be on another file system than its folder, one without direct I/O.
      if (codeOf(error) !== "EINVAL") throw error;
      return open(this.path, constants.O_RDWR | (flags & this.#syncFlag));
    });
    this.#handles.set(flags, handle);
    handle.catch(() => {
      // After a `close` there may be a newer handle.
      if (this.#handles.get(flags) === handle) this.#handles.delete(flags);
    });
    return handle;
  }

  #closedError(): Error {
    return new Error(
      `${this.path} is closed for good: this is a bug, unless the store is being closed`,
    );
  }
}

function readError(error: unknown, path: string): StoreError {
  const code = codeOf(error);
  const kind = code === "ENOENT" || code === "EIO" ? "damaged" : "broken";
  return new StoreError(kind, `cannot read ${path} (${code})`, { cause: error });
}

export function writeError(error: unknown, path: string): StoreError {
  const code = codeOf(error);
  if (code === "ENOSPC" || code === "EDQUOT") {
    const message = `no space is left for ${path}: free some, then try again`;
    return new StoreError("full", message, { cause: error });
  }
  return new StoreError("broken", `cannot write ${path} (${code})`, { cause: error });
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error);
}
