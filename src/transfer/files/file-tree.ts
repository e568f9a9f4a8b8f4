import { closeSync, constants, lstatSync, openSync, readSync, type Stats } from "node:fs";
import { open, readdir, realpath } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import type { Bytes } from "../../base/bytes.ts";
import type { Body } from "../item.ts";
import { TransferError } from "../transfer-error.ts";
import { fileBody } from "./export-tar.ts";
import { readTar, type TarEntry } from "./tar.ts";
import { type OpenTar, openTar } from "./unpacked-file.ts";

export interface TreeEntry {
  /** With slashes, without one at its beginning or end. */
  readonly path: string;
  /** Links and devices are "other": nothing follows them. */
  readonly kind: "file" | "directory" | "other";
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly createdMs?: number;
  readonly isReadOnly?: boolean;
  /** Why it cannot be read; it is "other" then. */
  readonly fault?: string;
}

/** Files in a folder or a tar. */
export interface FileTree {
  /** Folders before what lies in them, if they are listed. */
  entries(): AsyncIterable<TreeEntry>;
  /** The bytes of a file; null if there is none of this path. */
  body(path: string): Promise<Body | null>;
  close(): Promise<void>;
}

const OWNER_WRITE = 0o200;

export class FolderTree implements FileTree {
  readonly #root: string;
  /** The last folder that was found to be inside; its files mostly come one after another. */
  #checked = "";

  constructor(root: string) {
    this.#root = root;
  }

  entries(): AsyncIterable<TreeEntry> {
    return this.#walk("");
  }

  async body(path: string): Promise<Body | null> {
    requireInside(path);
    const full = join(this.#root, ...path.split("/"));
    const found = lstatSync(full, { throwIfNoEntry: false });
    if (found === undefined || !found.isFile()) return null;
    if (!(await this.#isInside(dirname(full)))) throw outside(path);
    return openedBody(full, found.size);
  }

  async close(): Promise<void> {}

  /** Whether no link leads out of the tree on the way to a folder. */
  async #isInside(folder: string): Promise<boolean> {
    if (folder === this.#checked) return true;
    const [root, real] = [await realpath(this.#root), await realpath(folder)];
    if (real !== root && !real.startsWith(root + sep)) return false;
    this.#checked = folder;
    return true;
  }

  async *#walk(path: string): AsyncGenerator<TreeEntry> {
    let names: string[];
    try {
      names = (await readdir(join(this.#root, path))).sort();
    } catch (error) {
      if (path === "") throw unreadable(this.#root, error);
      yield faulty(path, error);
      return;
    }
    for (const name of names) {
      const own = path === "" ? name : `${path}/${name}`;
      let found: Stats;
      try {
        // A call into the thread pool costs several times as much as the look itself.
        found = lstatSync(join(this.#root, own));
      } catch (error) {
        yield faulty(own, error);
        continue;
      }
      const kind = found.isFile() ? "file" : found.isDirectory() ? "directory" : "other";
      yield {
        path: own,
        kind,
        bytes: kind === "file" ? found.size : 0,
        modifiedMs: found.mtimeMs,
        createdMs: found.birthtimeMs,
        isReadOnly: (found.mode & OWNER_WRITE) === 0,
      };
      if (kind === "directory") yield* this.#walk(own);
    }
  }
}

/** Reads up to this length are done at once: see `#walk`. */
const SMALL_BYTES_MAX = 64 * 1024;
const READ_ONLY = constants.O_RDONLY | constants.O_NOFOLLOW;

function readSmall(path: string, from: number, count: number): Bytes {
  const bytes = Buffer.allocUnsafe(count);
  let file = -1;
  try {
    file = openSync(path, READ_ONLY);
    let done = 0;
    while (done < count) {
      const got = readSync(file, bytes, done, count - done, from + done);
      if (got === 0) throw new Error("it became shorter");
      done += got;
    }
    return bytes;
  } catch (error) {
    throw unreadable(path, error);
  } finally {
    if (file >= 0) closeSync(file);
  }
}

/** A name that is no UTF-8 reads as another one, which does not exist. */
function faulty(path: string, error: unknown): TreeEntry {
  const { code = "" } = error as NodeJS.ErrnoException;
  const isOdd = code === "ENOENT" && path.includes("\ufffd");
  const fault = isOdd ? "has a name that is not UTF-8" : `cannot be read (${code})`;
  return { path, kind: "other", bytes: 0, modifiedMs: 0, fault };
}

function unreadable(path: string, error: unknown): TransferError {
  return new TransferError(`${path} cannot be read (${(error as Error).message}).`);
}

/** Opens the file when it is read. It is not followed if it has become a link. */
function openedBody(path: string, bytes: number): Body {
  return {
    bytes,
    async *read(from = 0, count = bytes - from): AsyncGenerator<Bytes> {
      if (count <= SMALL_BYTES_MAX) {
        yield readSmall(path, from, count);
        return;
      }
      const file = await open(path, READ_ONLY).catch((error) => {
        throw unreadable(path, error);
      });
      try {
        yield* fileBody(file, 0, bytes).read(from, count);
      } finally {
        await file.close();
      }
    },
  };
}

export class TarTree implements FileTree {
  readonly #tar: OpenTar;
  /** By path; a later entry of the same path replaces an earlier one, as when it is unpacked. */
  readonly #entries: ReadonlyMap<string, TarEntry>;
  /** Entries that cannot be read; names may repeat. */
  readonly #faulty: readonly TarEntry[];

  private constructor(
    tar: OpenTar,
    entries: ReadonlyMap<string, TarEntry>,
    faulty: readonly TarEntry[],
  ) {
    this.#tar = tar;
    this.#entries = entries;
    this.#faulty = faulty;
  }

  static async open(path: string): Promise<TarTree> {
    const tar = await openTar(path);
    try {
      const entries = new Map<string, TarEntry>();
      const faulty: TarEntry[] = [];
      for await (const entry of readTar(tar.file, path)) {
        const name = entry.name.replace(/^(?:\.\/)+|\/+$/g, "");
        if (name === "" || name === ".") continue;
        requireInside(name);
        if (entry.fault === undefined) entries.set(name, entry);
        else faulty.push({ ...entry, name });
      }
      return new TarTree(tar, entries, faulty);
    } catch (error) {
      await tar.close();
      throw error;
    }
  }

  async *entries(): AsyncGenerator<TreeEntry> {
    for (const [path, { kind, bytes, modifiedMs }] of this.#entries) {
      yield { path, kind, bytes, modifiedMs };
    }
    for (const { name, fault = "", modifiedMs } of this.#faulty) {
      yield { path: name, kind: "other", bytes: 0, modifiedMs, fault };
    }
  }

  async body(path: string): Promise<Body | null> {
    const entry = this.#entries.get(path);
    if (entry?.kind !== "file") return null;
    return fileBody(this.#tar.file, entry.at, entry.bytes);
  }

  async close(): Promise<void> {
    await this.#tar.close();
  }
}

/** Drives and backslashes lead somewhere on Windows; elsewhere they are parts of names. */
const IS_WINDOWS = process.platform === "win32";

/** Refuses paths that lead out of the tree. */
function requireInside(path: string): void {
  const isAbsolute = path.startsWith("/") || (IS_WINDOWS && /^[a-z]:|^\\/i.test(path));
  if (isAbsolute || path.split(IS_WINDOWS ? /[/\\]/ : "/").includes("..")) throw outside(path);
}

function outside(path: string): TransferError {
  return new TransferError(`"${path}" leads out of the source. It is not read.`);
}
