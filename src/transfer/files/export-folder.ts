import { createHash, type Hash } from "node:crypto";
import { type FileHandle, mkdir, open, readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Body, Range } from "../item.ts";
import { TransferError } from "../transfer-error.ts";
import type { ExportFiles } from "./export-sink.ts";
import { LineWriter } from "./line-writer.ts";
import { firstLine, MANIFEST_NAME, type StoredBody } from "./manifest.ts";

const PRIVATE_MODE = 0o700;
const FILE_MODE = 0o600;
/** How often a path is changed because there is a file of its name, as without case there may be. */
const TRIES_MAX = 16;
const ZEROS = Buffer.alloc(1024 * 1024);

/** An export in a folder, under another name until it is whole. */
export class ExportFolder implements ExportFiles {
  readonly #folder: string;
  readonly #partial: string;
  readonly #manifest: LineWriter;
  readonly #made = new Set<string>();

  private constructor(folder: string, partial: string, manifest: LineWriter) {
    this.#folder = folder;
    this.#partial = partial;
    this.#manifest = manifest;
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
    const made = new ExportFolder(folder, partial, manifest);
    await made.addLine(firstLine(account, nowMs));
    return made;
  }

  async store(path: string, body: Body, ranges: readonly Range[] | null): Promise<StoredBody> {
    const [file, handle] = await this.#create(path);
    const hash = createHash("sha256");
    try {
      if (ranges === null) await writeAll(handle, body, hash);
      else await writeRanges(handle, body, ranges, hash);
    } finally {
      await handle.close();
    }
    return { file, bytes: body.bytes, sha256: hash.digest("hex") };
  }

  async addLine(line: string): Promise<void> {
    await this.#manifest.add(line);
  }

  async finish(): Promise<void> {
    await this.#manifest.flush();
    await this.#manifest.file.sync();
    await this.#manifest.file.close();
    await rmdir(this.#folder).catch(() => {});
    await rename(this.#partial, this.#folder);
  }

  async abandon(): Promise<void> {
    await this.#manifest.file.close().catch(() => {});
    await rm(this.#partial, { recursive: true, force: true });
  }

  async #create(path: string): Promise<[file: string, handle: FileHandle]> {
    let file = path;
    for (let tries = 1; ; tries++) {
      const full = join(this.#partial, file);
      try {
        const folder = dirname(full);
        if (!this.#made.has(folder)) await mkdir(folder, { recursive: true, mode: PRIVATE_MODE });
        this.#made.add(folder);
        return [file, await open(full, "wx", FILE_MODE)];
      } catch (error) {
        const { code = "" } = error as NodeJS.ErrnoException;
        const isTaken = ["EEXIST", "EISDIR", "ENOTDIR"].includes(code);
        if (!isTaken || tries === TRIES_MAX) {
          throw new Error(`${full} cannot be written: ${(error as Error).message}`);
        }
        file = code === "ENOTDIR" ? `taken%=${tries}/${path}` : `${path}%=${tries}`;
      }
    }
  }
}

async function writeAll(handle: FileHandle, body: Body, hash: Hash): Promise<void> {
  for await (const part of body.read()) {
    hash.update(part);
    await handle.writeFile(part);
  }
}

/** Leaves holes where nothing was written. */
async function writeRanges(
  handle: FileHandle,
  body: Body,
  ranges: readonly Range[],
  hash: Hash,
): Promise<void> {
  let at = 0;
  for (const [from, until] of ranges) {
    hashZeros(hash, from - at);
    at = from;
    for await (const part of body.read(from, until - from)) {
      hash.update(part);
      await handle.write(part, 0, part.length, at);
      at += part.length;
    }
  }
  hashZeros(hash, body.bytes - at);
  await handle.truncate(body.bytes);
}

function hashZeros(hash: Hash, count: number): void {
  for (let left = count; left > 0; left -= ZEROS.length) {
    hash.update(left >= ZEROS.length ? ZEROS : ZEROS.subarray(0, left));
  }
}
