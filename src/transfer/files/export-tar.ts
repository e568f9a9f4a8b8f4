import { hash } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { Bytes } from "../../base/bytes.ts";
import { directIoFlagAt } from "../../machine/direct-io.ts";
import { gathered } from "../gathered.ts";
import type { Body } from "../item.ts";
import { TransferError } from "../transfer-error.ts";
import type { ExportFiles } from "./export-sink.ts";
import { LineWriter } from "./line-writer.ts";
import { firstLine, MANIFEST_NAME, type StoredBody } from "./manifest.ts";
import { type Packing, packer } from "./packing.ts";
import { paddingOf, TAR_BLOCK, tarHeader } from "./tar.ts";
import { type TarFile, tarFile } from "./tar-file.ts";

const FILE_MODE = 0o600;
const NEW_FILE = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL;
const ZEROS = Buffer.alloc(TAR_BLOCK);
/** Bodies up to this length are fetched side by side; longer ones are written as they arrive. */
const GATHERED_BYTES_MAX = 1024 * 1024;

/** An export in a tar file, under another name until it is whole. The manifest comes last. */
export class ExportTar implements ExportFiles {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #lines: LineWriter;
  readonly #nowMs: number;
  readonly #tar: TarFile;
  /** One body after the other. */
  #last: Promise<unknown> = Promise.resolve();

  private constructor(
    path: string,
    file: FileHandle,
    packing: Packing | null,
    lines: LineWriter,
    nowMs: number,
  ) {
    this.#path = path;
    this.#file = file;
    this.#tar = tarFile(file, packing);
    this.#lines = lines;
    this.#nowMs = nowMs;
  }

  /** Throws a `TransferError` if there is something of this name. */
  static async create(
    path: string,
    packing: Packing | null,
    account: string,
    nowMs: number,
  ): Promise<ExportTar> {
    if ((await stat(path).catch(() => null)) !== null) {
      throw new TransferError(`${path} exists already. Choose a new name.`);
    }
    // Refuses what this Node cannot pack before anything is made.
    if (packing !== null) packer(packing).destroy();
    await mkdir(dirname(path), { recursive: true });
    await removeDrafts(path);
    const flag = await directIoFlagAt(`${path}.partial`);
    const file = await open(`${path}.partial`, NEW_FILE | flag, FILE_MODE);
    const lines = new LineWriter(await open(`${path}.partial-manifest`, NEW_FILE, FILE_MODE));
    const made = new ExportTar(path, file, packing, lines, nowMs);
    await made.addLine(firstLine(account, nowMs));
    return made;
  }

  async store(path: string, body: Body): Promise<StoredBody> {
    const short = body.bytes <= GATHERED_BYTES_MAX ? await gathered(body) : null;
    const stored = this.#last.then(() =>
      short === null ? this.#append(path, body) : this.#appendShort(path, short),
    );
    this.#last = stored.catch(() => {});
    return stored;
  }

  async addLine(line: string): Promise<void> {
    await this.#lines.add(line);
  }

  async finish(): Promise<void> {
    await this.#last;
    await this.#lines.flush();
    const { file } = this.#lines;
    const { size } = await file.stat();
    await this.#append(MANIFEST_NAME, fileBody(file, 0, size));
    await this.#tar.write(Buffer.alloc(2 * TAR_BLOCK));
    await this.#tar.finish();
    await this.#file.sync();
    await this.#close();
    await rename(`${this.#path}.partial`, this.#path);
    await removeDrafts(this.#path);
  }

  async abandon(): Promise<void> {
    await this.#last;
    await this.#close();
    await removeDrafts(this.#path);
  }

  async #close(): Promise<void> {
    await this.#tar.close();
    await this.#file.close().catch(() => {});
    await this.#lines.file.close().catch(() => {});
  }

  async #append(name: string, body: Body): Promise<StoredBody> {
    await this.#tar.mark();
    let sha256: string;
    try {
      await this.#tar.write(tarHeader(name, body.bytes, this.#nowMs));
      sha256 = await this.#tar.writeBody(body.read());
      await this.#tar.write(ZEROS.subarray(0, paddingOf(body.bytes)));
    } catch (error) {
      // The next entry begins where this one did.
      await this.#tar.rewind();
      throw error;
    }
    return { file: name, bytes: body.bytes, sha256 };
  }

  async #appendShort(name: string, bytes: Bytes): Promise<StoredBody> {
    await this.#tar.write(tarHeader(name, bytes.length, this.#nowMs));
    await this.#tar.write(bytes);
    await this.#tar.write(ZEROS.subarray(0, paddingOf(bytes.length)));
    return { file: name, bytes: bytes.length, sha256: hash("sha256", bytes) };
  }
}

/** Also those of a run that was killed. */
async function removeDrafts(path: string): Promise<void> {
  for (const end of [".partial", ".partial-manifest"]) await rm(`${path}${end}`, { force: true });
}

const READ_BYTES = 256 * 1024;

/** The bytes of an open file from a position on. */
export function fileBody(file: FileHandle, at: number, bytes: number): Body {
  return {
    bytes,
    async *read(from = 0, count = bytes - from): AsyncGenerator<Bytes> {
      for (let done = 0; done < count; ) {
        const part = Buffer.allocUnsafe(Math.min(READ_BYTES, count - done));
        const { bytesRead } = await file.read(part, 0, part.length, at + from + done);
        if (bytesRead === 0) throw new TransferError("A file became shorter while it was read.");
        done += bytesRead;
        yield part.subarray(0, bytesRead);
      }
    },
  };
}
