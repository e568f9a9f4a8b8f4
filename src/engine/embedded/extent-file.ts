import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { type FailStop, StoreError } from "../../store/store.ts";
import { SYNC_FLAG } from "./direct-io.ts";
import type { DiskPace } from "./disk-pace.ts";
import { ReadMarks } from "./read-marks.ts";
import { writeParts } from "./write-parts.ts";
import { type Completion, WriteQueue } from "./write-queue.ts";

/** From here on the next part is under way while one is sent, and the disk's pace is all that counts. */
const LONG_RUN_BYTES = 2 * MIB;

export interface ExtentFileSetup {
  readonly extent: number;
  readonly path: string;
  /** Where the next piece goes. */
  readonly end: number;
  readonly bytesMax: number;
  readonly sealed: boolean;
  /** Opens it past the system's cache; 0 if that does not work there (see `direct-io.ts`). */
  readonly directFlag: number;
  /** Of the disk that all these files lie on. */
  readonly pace: DiskPace;
  readonly failStop: FailStop;
  /** Called when the last holder has let go and no I/O is left. */
  readonly onIdle: (file: ExtentFile) => void;
}

/**
 * One file of pieces. Its descriptors are opened when needed and stay open while it is held: one for
 * what is written and read past the system's cache; one for what is durable as soon as it is written;
 * and one for what is read again, and deserves a place in that cache.
 *
 * Every read, write and sync pins the file from the call until it ends: its caller may be gone by then,
 * and the path may belong to another extent as soon as nobody pins it.
 */
export class ExtentFile {
  readonly extent: number;
  readonly path: string;
  readonly #bytesMax: number;
  readonly #failStop: FailStop;
  readonly #onIdle: (file: ExtentFile) => void;
  #end: number;
  #sealed: boolean;
  /** Holders, and reads, writes and syncs that wait or run. */
  #pins = 0;
  /** Reads, writes and syncs among them. */
  #underWay = 0;
  #onQuiet: (() => void) | null = null;
  #isLetGo = false;
  readonly #directFlag: number;
  readonly #pace: DiskPace;
  readonly #marks = new ReadMarks();
  readonly #writes = new WriteQueue((parts, position, durably) =>
    this.#writeAll(parts, position, durably),
  );
  /** By the flags that they were opened with. */
  readonly #handles = new Map<number, Promise<FileHandle>>();
  /** After the first failed sync. */
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
    this.#pace = setup.pace;
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

  /** Sets room for a piece aside and tells where it begins; null if it must go elsewhere. */
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

  /** The pages must not change until it settles. What is not written durably is so with the next `sync`. */
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
   * Whether a stretch that somebody is about to read does better past the cache: it does if, as far
   * as is known, some of it is read for the first time; and always, if it is long and the disk fast.
   */
  isBestDirect(position: number, bytes: number): boolean {
    if (this.#directFlag === 0) return false;
    const isNew = this.#marks.mark(position, bytes);
    return isNew || (bytes >= LONG_RUN_BYTES && this.#pace.isFast);
  }

  /** Fills whole pages, past the cache or through it; false if the file ends before. */
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
   * Resolves once everything written before the call is durable. One sync serves all that was
   * written before it began; whoever comes while it runs joins the next one. After one has failed
   * all others fail too: a second try would succeed without the bytes being on disk.
   */
  sync(): Promise<void> {
    this.#nextSync ??= this.#syncNext();
    return this.#nextSync;
  }

  /** Closes its descriptors; whoever needs one opens it again. */
  async close(): Promise<void> {
    const handles = [...this.#handles.values()];
    this.#handles.clear();
    // What could not be opened need not be closed.
    const opened = await Promise.allSettled(handles);
    await Promise.all(opened.map((one) => one.status === "fulfilled" && one.value.close()));
  }

  /**
   * Lets go of the path for good, since another extent may get it. Resolves once the I/O under way has
   * ended and all is closed; what has not begun fails.
   */
  async letGo(): Promise<void> {
    this.#isLetGo = true;
    if (this.#underWay > 0) {
      await new Promise<void>((resolve) => {
        this.#onQuiet = resolve;
      });
    }
    await this.close();
  }

  /** Some I/O is asked for. */
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
    const { fd } = await this.#openToWrite(durably ? SYNC_FLAG : 0);
    if (this.#failure !== null) throw this.#failure;
    try {
      await writeParts(fd, parts, position);
    } catch (error) {
      const failure = writeError(error, this.path);
      // For all we know it is the sync that has failed.
      throw durably && failure.kind !== "full" ? this.#stop(failure) : failure;
    }
    if (durably && SYNC_FLAG === 0) await this.sync();
  }

  async #syncNow(): Promise<void> {
    if (this.#failure !== null) throw this.#failure;
    if (this.#isLetGo) throw this.#letGoError();
    try {
      await (await this.#open(this.#directFlag)).datasync();
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

  /** What could not be opened, for want of descriptors say, is forgotten, and tried again next time. */
  #open(flags: number): Promise<FileHandle> {
    if (this.#isLetGo) return Promise.reject(this.#letGoError());
    const opened = this.#handles.get(flags);
    if (opened !== undefined) return opened;
    const handle = open(this.path, constants.O_RDWR | flags).catch((error) => {
      // The file may lie elsewhere than its folder.
      if (codeOf(error) !== "EINVAL") throw error;
      return open(this.path, constants.O_RDWR | (flags & SYNC_FLAG));
    });
    this.#handles.set(flags, handle);
    handle.catch(() => {
      // Since a `close` there may be another one.
      if (this.#handles.get(flags) === handle) this.#handles.delete(flags);
    });
    return handle;
  }

  #letGoError(): Error {
    return new Error(`${this.path} was let go of: this is a bug, unless the store is being closed`);
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
