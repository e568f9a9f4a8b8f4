import { once } from "node:events";
import type { FileHandle } from "node:fs/promises";
import type { Transform } from "node:stream";
import type { Bytes } from "../../base/bytes.ts";
import { type Packing, packer } from "./packing.ts";

/** A tar file that is being written. What was written since the last mark can be taken back. */
export interface TarFile {
  write(bytes: Bytes): Promise<void>;
  /** Everything before it stays. */
  mark(): Promise<void>;
  /** Goes back to the mark. */
  rewind(): Promise<void>;
  /** Ends the file here. */
  finish(): Promise<void>;
}

export function tarFile(file: FileHandle, packing: Packing | null): TarFile {
  return packing === null ? new PlainTarFile(file) : new PackedTarFile(file, packing);
}

/** Short writes are gathered: each write costs about as much as an entry of a few KiB. */
const GATHERED_BYTES = 512 * 1024;

class PlainTarFile implements TarFile {
  readonly #file: FileHandle;
  /** The end of the file, with what is gathered. */
  #at = 0;
  #mark = 0;
  /** The last bytes, which are not written yet. */
  readonly #gathered = Buffer.allocUnsafe(GATHERED_BYTES);
  #gatheredBytes = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async write(bytes: Bytes): Promise<void> {
    if (this.#gatheredBytes + bytes.length > GATHERED_BYTES) await this.#flush();
    if (bytes.length > GATHERED_BYTES) {
      await writeAt(this.#file, bytes, this.#at);
    } else {
      bytes.copy(this.#gathered, this.#gatheredBytes);
      this.#gatheredBytes += bytes.length;
    }
    this.#at += bytes.length;
  }

  async mark(): Promise<void> {
    this.#mark = this.#at;
  }

  async rewind(): Promise<void> {
    const written = this.#at - this.#gatheredBytes;
    this.#at = this.#mark;
    this.#gatheredBytes = Math.max(0, this.#mark - written);
  }

  async finish(): Promise<void> {
    await this.#flush();
    // Behind it may be the rest of a body that failed.
    await this.#file.truncate(this.#at);
  }

  async #flush(): Promise<void> {
    const bytes = this.#gathered.subarray(0, this.#gatheredBytes);
    await writeAt(this.#file, bytes, this.#at - bytes.length);
    this.#gatheredBytes = 0;
  }
}

/** The system may take fewer bytes than it is given, and names the error at the next write. */
async function writeAt(file: FileHandle, bytes: Bytes, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    done += (await file.write(bytes, done, bytes.length - done, at + done)).bytesWritten;
  }
}

/** Packed in pieces that end at the marks: those who unpack it take them as one. */
class PackedTarFile implements TarFile {
  readonly #file: FileHandle;
  readonly #packing: Packing;
  #packer: Transform | null = null;
  /** Copies what comes out of the packer. */
  #copying: Promise<void> = Promise.resolve();
  #at = 0;
  #mark = 0;

  constructor(file: FileHandle, packing: Packing) {
    this.#file = file;
    this.#packing = packing;
  }

  async write(bytes: Bytes): Promise<void> {
    if (this.#packer === null) {
      this.#packer = packer(this.#packing);
      this.#copying = this.#copy(this.#packer);
      this.#copying.catch(() => {});
    }
    // A disk that is full ends the copying, and nothing would drain any more.
    if (!this.#packer.write(bytes))
      await Promise.race([once(this.#packer, "drain"), this.#copying]);
  }

  async mark(): Promise<void> {
    this.#packer?.end();
    this.#packer = null;
    await this.#copying;
    this.#mark = this.#at;
  }

  async rewind(): Promise<void> {
    this.#packer?.destroy();
    this.#packer = null;
    await this.#copying.catch(() => {});
    this.#copying = Promise.resolve();
    this.#at = this.#mark;
  }

  async finish(): Promise<void> {
    await this.mark();
    await this.#file.truncate(this.#at);
  }

  async #copy(from: Transform): Promise<void> {
    for await (const part of from) {
      await writeAt(this.#file, part, this.#at);
      this.#at += part.length;
    }
  }
}
