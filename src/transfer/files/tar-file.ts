import { createHash } from "node:crypto";
import { once } from "node:events";
import type { FileHandle } from "node:fs/promises";
import type { Transform } from "node:stream";
import type { Bytes } from "../../base/bytes.ts";
import { Sha256Thread } from "../../machine/sha256-thread.ts";
import { GatheredWrites } from "./gathered-writes.ts";
import { type Packing, packer } from "./packing.ts";

/** A tar file that is being written. What was written since the last mark can be taken back. */
export interface TarFile {
  write(bytes: Bytes): Promise<void>;
  /** Writes a long body. Returns its SHA-256 in hexadecimal. */
  writeBody(body: AsyncIterable<Bytes>): Promise<string>;
  /** Everything before it stays. */
  mark(): Promise<void>;
  /** Goes back to the mark. */
  rewind(): Promise<void>;
  /** Ends the file here. */
  finish(): Promise<void>;
  /** Frees its memory, whether it has ended or not. */
  close(): Promise<void>;
}

/** The file is open for writing and reading, as `GatheredWrites` needs it. */
export function tarFile(file: FileHandle, packing: Packing | null): TarFile {
  const writes = new GatheredWrites(file);
  return packing === null ? new PlainTarFile(writes) : new PackedTarFile(writes, packing);
}

class PlainTarFile implements TarFile {
  readonly #writes: GatheredWrites;
  readonly #digests = new Sha256Thread();
  #mark = 0;

  constructor(writes: GatheredWrites) {
    this.#writes = writes;
  }

  write(bytes: Bytes): Promise<void> {
    return this.#writes.write(bytes);
  }

  writeBody(body: AsyncIterable<Bytes>): Promise<string> {
    return this.#writes.writeBody(body, this.#digests.begin());
  }

  async mark(): Promise<void> {
    this.#mark = this.#writes.end;
  }

  rewind(): Promise<void> {
    return this.#writes.rewindTo(this.#mark);
  }

  finish(): Promise<void> {
    return this.#writes.finish();
  }

  async close(): Promise<void> {
    await this.#digests.close();
    await this.#writes.close();
  }
}

/** Packed in pieces that end at the marks: those who unpack it take them as one. */
class PackedTarFile implements TarFile {
  readonly #packing: Packing;
  #packer: Transform | null = null;
  /** Copies what comes out of the packer. */
  #copying: Promise<void> = Promise.resolve();
  readonly #writes: GatheredWrites;
  #mark = 0;

  constructor(writes: GatheredWrites, packing: Packing) {
    this.#writes = writes;
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

  async writeBody(body: AsyncIterable<Bytes>): Promise<string> {
    const digest = createHash("sha256");
    for await (const part of body) {
      digest.update(part);
      await this.write(part);
    }
    return digest.digest("hex");
  }

  async mark(): Promise<void> {
    this.#packer?.end();
    this.#packer = null;
    await this.#copying;
    this.#mark = this.#writes.end;
  }

  async rewind(): Promise<void> {
    await this.#drop();
    await this.#writes.rewindTo(this.#mark);
  }

  async finish(): Promise<void> {
    await this.mark();
    await this.#writes.finish();
  }

  async close(): Promise<void> {
    await this.#drop();
    await this.#writes.close();
  }

  /** Ends the packer of the current piece. */
  async #drop(): Promise<void> {
    this.#packer?.destroy();
    this.#packer = null;
    await this.#copying.catch(() => {});
    this.#copying = Promise.resolve();
  }

  async #copy(from: Transform): Promise<void> {
    for await (const part of from) await this.#writes.write(part);
  }
}
