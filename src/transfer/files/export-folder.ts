import { createHash, type Hash, hash } from "node:crypto";
import { constants, writeFileSync } from "node:fs";
import { mkdir, open, readdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { KIB, MIB } from "../../base/limits.ts";
import { directIoFlag } from "../../machine/direct-io.ts";
import { Sha256Thread } from "../../machine/sha256-thread.ts";
import { gathered } from "../gathered.ts";
import type { Body, Range } from "../item.ts";
import { TransferError } from "../transfer-error.ts";
import type { ExportFiles } from "./export-sink.ts";
import { GatheredWrites } from "./gathered-writes.ts";
import { LineWriter } from "./line-writer.ts";
import { firstLine, MANIFEST_NAME, type StoredBody } from "./manifest.ts";

const PRIVATE_MODE = 0o700;
const FILE_MODE = 0o600;
/** How often a path is changed because there is a file of its name, as without case there may be. */
const TRIES_MAX = 16;
/** Written at once: a call into the thread pool costs several times as much as the write. */
const SMALL_BYTES_MAX = 64 * KIB;
/** Longer bodies are not gathered, and go past the page cache, which would cost more than the disk. */
const GATHERED_BYTES_MAX = MIB;
const NEW_FILE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
const ZEROS = Buffer.alloc(MIB);

/** An export in a folder, under another name until it is whole. */
export class ExportFolder implements ExportFiles {
  readonly #folder: string;
  readonly #partial: string;
  readonly #manifest: LineWriter;
  /** The flag for direct I/O; 0 if it does not work here. */
  readonly #directFlag: number;
  readonly #digests = new Sha256Thread();
  readonly #made = new Set<string>();

  private constructor(folder: string, partial: string, manifest: LineWriter, directFlag: number) {
    this.#folder = folder;
    this.#partial = partial;
    this.#manifest = manifest;
    this.#directFlag = directFlag;
  }

  /** Throws a `TransferError` unless the folder is missing or empty. */
  static async create(folder: string, account: string, nowMs: number): Promise<ExportFolder> {
    const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return [];
      throw new TransferError(`${folder} is not a folder. Choose another target.`);
    });
    if (names.length > 0) throw new TransferError(`${folder} is not empty. Choose a new folder.`);
    const partial = `${folder}.partial`;
    // Left by a run that was killed.
    await rm(partial, { recursive: true, force: true });
    await mkdir(partial, { recursive: true, mode: PRIVATE_MODE });
    const manifest = new LineWriter(await open(join(partial, MANIFEST_NAME), "wx", FILE_MODE));
    const made = new ExportFolder(folder, partial, manifest, await directIoFlag(partial));
    await made.addLine(firstLine(account, nowMs));
    return made;
  }

  async store(path: string, body: Body, ranges: readonly Range[] | null): Promise<StoredBody> {
    const isShort = ranges === null && body.bytes <= GATHERED_BYTES_MAX;
    return isShort ? this.#storeShort(path, body) : this.#storeLong(path, body, ranges);
  }

  async #storeShort(path: string, body: Body): Promise<StoredBody> {
    const bytes = await gathered(body);
    const options = { flag: "wx", mode: FILE_MODE };
    const [file] = await this.#create(path, async (full) => {
      if (bytes.length <= SMALL_BYTES_MAX) writeFileSync(full, bytes, options);
      else await writeFile(full, bytes, options);
    });
    return { file, bytes: bytes.length, sha256: hash("sha256", bytes) };
  }

  async #storeLong(path: string, body: Body, ranges: readonly Range[] | null): Promise<StoredBody> {
    const flags = NEW_FILE | this.#directFlag;
    const [file, handle] = await this.#create(path, (full) => open(full, flags, FILE_MODE));
    const writes = new GatheredWrites(handle);
    let sha256: string;
    try {
      if (ranges === null) sha256 = await writes.writeBody(body.read(), this.#digests.begin());
      else sha256 = await writeRanges(writes, body, ranges);
      await writes.finish(body.bytes);
      await handle.datasync();
    } catch (error) {
      // The body cannot be read, and no line will name the file.
      await rm(join(this.#partial, file), { force: true });
      throw error;
    } finally {
      await writes.close();
      await handle.close();
    }
    return { file, bytes: body.bytes, sha256 };
  }

  async addLine(line: string): Promise<void> {
    await this.#manifest.add(line);
  }

  async finish(): Promise<void> {
    await this.#digests.close();
    await this.#manifest.flush();
    await this.#manifest.file.sync();
    await this.#manifest.file.close();
    await rmdir(this.#folder).catch(() => {});
    await rename(this.#partial, this.#folder);
  }

  async abandon(): Promise<void> {
    await this.#digests.close();
    await this.#manifest.file.close().catch(() => {});
    await rm(this.#partial, { recursive: true, force: true });
  }

  /** Makes a file of a free path, with the folders above it. */
  async #create<T>(
    path: string,
    make: (full: string) => Promise<T>,
  ): Promise<[file: string, made: T]> {
    let file = path;
    for (let tries = 1; ; tries++) {
      const full = join(this.#partial, file);
      try {
        const folder = dirname(full);
        if (!this.#made.has(folder)) await mkdir(folder, { recursive: true, mode: PRIVATE_MODE });
        this.#made.add(folder);
        return [file, await make(full)];
      } catch (error) {
        const { code = "" } = error as NodeJS.ErrnoException;
        const isTaken = ["EEXIST", "EISDIR", "ENOTDIR"].includes(code);
        if (!isTaken || tries === TRIES_MAX) throw error;
        file = code === "ENOTDIR" ? `taken%=${tries}/${path}` : `${path}%=${tries}`;
      }
    }
  }
}

/** Leaves holes where nothing was written. Returns the SHA-256 of all bytes. */
async function writeRanges(
  writes: GatheredWrites,
  body: Body,
  ranges: readonly Range[],
): Promise<string> {
  const hash = createHash("sha256");
  for (const [from, until] of ranges) {
    hashZeros(hash, from - writes.end);
    await writes.skipTo(from);
    for await (const part of body.read(from, until - from)) {
      hash.update(part);
      await writes.write(part);
    }
  }
  hashZeros(hash, body.bytes - writes.end);
  return hash.digest("hex");
}

function hashZeros(hash: Hash, count: number): void {
  for (let left = count; left > 0; left -= ZEROS.length) {
    hash.update(left >= ZEROS.length ? ZEROS : ZEROS.subarray(0, left));
  }
}
