import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import type { Description } from "./describe-folder.ts";

/** A data folder that some version wrote, and what clients read of it then. */
export interface Fixture {
  /** The time when it was described, at which all of it still has the same state. */
  readonly nowMs: number;
  /** By path, in Base64. */
  readonly files: Readonly<Record<string, string>>;
  readonly description: Description;
}

/** Where the fixture of a version is kept. */
export function fixturePath(version: string): string {
  return `test/upgrade/data-${version}.json.br`;
}

export function readFixture(path: string): Fixture {
  return JSON.parse(brotliDecompressSync(readFileSync(path)).toString("utf8"));
}

export function writeFixture(path: string, fixture: Fixture): void {
  writeFileSync(path, brotliCompressSync(JSON.stringify(fixture)));
}

/** Random bytes that only occupy space; a start writes them again. */
const RESERVE = "store/reserve";

/** Reads all files of a data folder. */
export function packFolder(folder: string): Fixture["files"] {
  const files: Record<string, string> = {};
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" }).sort()) {
    const path = join(folder, name);
    const key = name.replaceAll("\\", "/");
    if (key === RESERVE || !statSync(path).isFile()) continue;
    files[key] = readFileSync(path).toString("base64");
  }
  return files;
}

export function unpackFolder(files: Fixture["files"], folder: string): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, Buffer.from(content, "base64"));
  }
}
