import { createReadStream } from "node:fs";
import { type FileHandle, mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TransferError } from "../transfer-error.ts";
import { GatheredWrites } from "./gathered-writes.ts";
import { type Packing, packingOf, unpacked } from "./packing.ts";

/** A tar file that can be read at any place. */
export interface OpenTar {
  readonly file: FileHandle;
  close(): Promise<void>;
}

/** Opens a tar file. A compressed one is unpacked to a temporary file first. */
export async function openTar(path: string): Promise<OpenTar> {
  const file = await open(path, "r");
  const start = Buffer.alloc(4);
  await file.read(start, 0, start.length, 0);
  const packing = packingOf(start);
  if (packing === null) return { file, close: () => file.close() };
  await file.close();
  return unpack(path, packing);
}

async function unpack(path: string, packing: Packing): Promise<OpenTar> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-tar-"));
  const file = await open(join(folder, "tar"), "wx+", 0o600);
  const close = async () => {
    await file.close();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    // An open file needs no name: so nothing is left if the process dies. Windows needs it.
    await rm(folder, { recursive: true, force: true }).catch(() => {});
    await writeUnpacked(path, packing, file);
    return { file, close };
  } catch (error) {
    await close();
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof TransferError) throw error;
    throw new TransferError(
      code === "ENOSPC"
        ? `${path} does not fit into ${tmpdir()} when it is unpacked. Set TMPDIR to a larger place.`
        : `${path} cannot be unpacked (${message}). It is damaged or cut short.`,
    );
  }
}

async function writeUnpacked(path: string, packing: Packing, file: FileHandle): Promise<void> {
  const writes = new GatheredWrites(file);
  try {
    for await (const part of unpacked(packing, createReadStream(path))) await writes.write(part);
    await writes.finish();
  } finally {
    await writes.close();
  }
}
