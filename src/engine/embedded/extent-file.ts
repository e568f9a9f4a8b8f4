import { type FileHandle, open } from "node:fs/promises";
import type { Bytes } from "../../base/bytes.ts";
import { type FailStop, StoreError } from "../../store/store.ts";

/**
 * Pieces begin on this boundary: no disk sector is shared by two of them, so that a power cut while
 * one is written cannot damage another that was acknowledged before.
 */
export const PIECE_ALIGNMENT_BYTES = 4096;

export interface ExtentFileSetup {
  readonly extent: number;
  readonly path: string;
  /** Where the next piece goes. */
  readonly end: number;
  readonly bytesMax: number;
  readonly sealed: boolean;
  readonly failStop: FailStop;
  /** Called when the last holder has let go. */
  readonly onIdle: (file: ExtentFile) => void;
}

/** One file of pieces. Its descriptor is opened when needed and stays open while it is held. */
export class ExtentFile {
  readonly extent: number;
  readonly path: string;
  readonly #bytesMax: number;
  readonly #failStop: FailStop;
  readonly #onIdle: (file: ExtentFile) => void;
  #end: number;
  #sealed: boolean;
  #holders = 0;
  #handle: Promise<FileHandle> | null = null;
  #sync: Promise<void> = Promise.resolve();
  #nextSync: Promise<void> | null = null;

  constructor(setup: ExtentFileSetup) {
    this.extent = setup.extent;
    this.path = setup.path;
    this.#end = setup.end;
    this.#bytesMax = setup.bytesMax;
    this.#sealed = setup.sealed;
    this.#failStop = setup.failStop;
    this.#onIdle = setup.onIdle;
  }

  get end(): number {
    return this.#end;
  }

  get sealed(): boolean {
    return this.#sealed;
  }

  get held(): boolean {
    return this.#holders > 0;
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

  hold(): void {
    this.#holders++;
  }

  release(): void {
    this.#holders--;
    if (this.#holders === 0) this.#onIdle(this);
  }

  /** Writes all of it. The buffers must not change until it resolves. */
  async write(parts: readonly Bytes[], position: number): Promise<void> {
    try {
      const handle = await this.#open();
      let rest = parts;
      for (let at = position; rest.length > 0; ) {
        const { bytesWritten } = await handle.writev(rest, at);
        at += bytesWritten;
        rest = behind(rest, bytesWritten);
      }
    } catch (error) {
      throw writeError(error, this.path);
    }
  }

  /** Fills all the buffers; false if the file ends before. */
  async read(into: readonly Bytes[], position: number): Promise<boolean> {
    try {
      const handle = await this.#open();
      let rest = into;
      for (let at = position; rest.length > 0; ) {
        const { bytesRead } = await handle.readv(rest, at);
        if (bytesRead === 0) return false;
        at += bytesRead;
        rest = behind(rest, bytesRead);
      }
      return true;
    } catch (error) {
      throw readError(error, this.path);
    }
  }

  /**
   * Resolves once everything written before the call is durable. One sync serves all that was
   * written before it began; whoever comes while it runs joins the next one. After one has failed
   * all others fail too: a second try would succeed without the bytes being on disk.
   */
  sync(): Promise<void> {
    this.#nextSync ??= this.#sync.then(() => {
      this.#nextSync = null;
      this.#sync = this.#syncNow();
      return this.#sync;
    });
    return this.#nextSync;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await (await handle)?.close();
  }

  async #syncNow(): Promise<void> {
    try {
      await (await this.#open()).datasync();
    } catch (error) {
      const failure = new StoreError("broken", `cannot sync ${this.path}`, { cause: error });
      this.#failStop(failure);
      throw failure;
    }
  }

  #open(): Promise<FileHandle> {
    if (this.#handle !== null) return this.#handle;
    const handle = open(this.path, "r+");
    this.#handle = handle;
    // What could not be opened, for want of descriptors say, is tried again next time.
    handle.catch(() => {
      this.#handle = null;
    });
    return handle;
  }
}

/** What is left of some buffers when their first bytes are done with. */
function behind(parts: readonly Bytes[], bytes: number): readonly Bytes[] {
  let done = 0;
  for (const [index, part] of parts.entries()) {
    if (done + part.length > bytes) {
      return [part.subarray(bytes - done), ...parts.slice(index + 1)];
    }
    done += part.length;
  }
  return [];
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
