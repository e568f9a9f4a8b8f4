import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { gzipSync } from "node:zlib";

/** A file of the page. */
export interface PageFile {
  readonly contentType: string;
  readonly bytes: Buffer;
  readonly zipped: Buffer;
  readonly etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The built page. It is read when somebody opens it: a start must not wait for that. */
export class PageFiles {
  readonly #folder: string;
  #files: ReadonlyMap<string, PageFile> | null = null;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** By path: `/console.js`. Throws if the folder cannot be read. */
  get(path: string): PageFile | undefined {
    this.#files ??= readPageFiles(this.#folder);
    return this.#files.get(path);
  }
}

function readPageFiles(folder: string): ReadonlyMap<string, PageFile> {
  const files = readdirSync(folder).flatMap((name): [string, PageFile][] => {
    const contentType = TYPES[extname(name)];
    if (contentType === undefined) return [];
    const bytes = readFileSync(join(folder, name));
    const etag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 16)}"`;
    const file = { contentType, bytes, zipped: gzipSync(bytes), etag };
    return [[name === "index.html" ? "/" : `/${name}`, file]];
  });
  return new Map(files);
}
