import { createHash } from "node:crypto";
import { open, readdir, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import type { Body, Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import { MIB } from "../../base/limits.ts";
import { StartError } from "../start-error.ts";

const READ_BYTES = MIB;

/** A file in a folder that is loaded. */
export interface FolderFile {
  readonly is: "file";
  readonly path: string;
  /** The names from the folder down. */
  readonly names: readonly string[];
  readonly length: number;
}

/** A folder in a folder that is loaded. */
export interface InnerFolder {
  readonly is: "folder";
  readonly path: string;
  readonly names: readonly string[];
}

/** A file or folder that a service refuses. */
export class LoadRefused extends Error {
  readonly path: string;
  readonly fault: Fault;

  constructor(path: string, fault: Fault) {
    super(`${path} is refused`);
    this.path = path;
    this.fault = fault;
  }
}

/**
 * All folders and files in a folder, in order: what lies in a folder follows it. Links are refused:
 * they may lead out.
 */
export async function* itemsIn(
  folder: string,
  names: readonly string[] = [],
): AsyncGenerator<FolderFile | InnerFolder> {
  const entries = await readdir(join(folder, ...names), { withFileTypes: true });
  for (const entry of entries.sort((one, other) => (one.name < other.name ? -1 : 1))) {
    const path = join(folder, ...names, entry.name);
    const at = { path, names: [...names, entry.name] };
    if (entry.isDirectory()) {
      yield { is: "folder", ...at };
      yield* itemsIn(folder, at.names);
    } else if (entry.isFile()) {
      yield { is: "file", ...at, length: (await stat(path)).size };
    } else throw new StartError(`${path} is no file: links and the like are not loaded.`);
  }
}

/** Loads a file or folder. Throws a `LoadRefused` that names it if a service refuses it. */
export async function loadItem<T>({ path }: { path: string }, load: Promise<T>): Promise<T> {
  try {
    return await load;
  } catch (error) {
    throw error instanceof Fault ? new LoadRefused(path, error) : error;
  }
}

export async function md5Of({ path }: FolderFile): Promise<Bytes> {
  const hash = createHash("md5");
  await readParts(path, (part) => {
    hash.update(part);
  });
  return hash.digest();
}

/** The bytes of a file, as a body to be stored. */
export function bodyOf({ path, length }: FolderFile): Body {
  return {
    length,
    async drain(take) {
      let taken = 0;
      await readParts(path, (part) => {
        taken += part.length;
        return take(part);
      });
      if (taken !== length) throw new StartError(`${path} changes while it is loaded: try again.`);
    },
  };
}

async function readParts(path: string, take: (part: Bytes) => void | Promise<void>): Promise<void> {
  const file = await open(path);
  try {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, READ_BYTES);
      if (bytesRead === 0) return;
      await take(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

const TYPES: Readonly<Record<string, string>> = {
  ".css": "text/css",
  ".csv": "text/csv",
  ".gif": "image/gif",
  ".html": "text/html",
  ".jpeg": "image/jpeg",
  ".jpg": "image/jpeg",
  ".js": "text/javascript",
  ".json": "application/json",
  ".md": "text/markdown",
  ".pdf": "application/pdf",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".txt": "text/plain",
  ".webp": "image/webp",
  ".xml": "application/xml",
  ".zip": "application/zip",
};

export function contentTypeOf({ path }: FolderFile): string {
  return TYPES[extname(path).toLowerCase()] ?? "application/octet-stream";
}
