import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { ContainerClient } from "@azure/storage-blob";
import { lazuli, type RestServer, scratchFolder } from "./folder-server.ts";

export const MIB = 1024 * 1024;
/** Inline, one chunk of an extent, several chunks, several reads. */
const SIZES = [10, 20_000, 65_536, 300_000, 9 * MIB];

export interface Places {
  readonly location: string;
  readonly place: string;
  readonly restored: string;
}

export function places(t: TestContext): Places {
  const folder = scratchFolder(t);
  const at = (name: string) => join(folder, name);
  return { location: at("data"), place: at("backups"), restored: at("restored") };
}

export async function succeeds(...args: string[]): Promise<string> {
  const { code, out, err } = await lazuli(...args);
  assert.equal(code, 0, err);
  return out;
}

interface BackupDone {
  readonly backup: string;
  readonly newBytes: number;
  readonly bytes: number;
  readonly removed: number;
}

export async function backUp({ location, place }: Places, ...args: string[]): Promise<BackupDone> {
  return JSON.parse(await succeeds("backup", place, "--location", location, "--json", ...args));
}

export async function restore({ place }: Places, to: string, ...args: string[]): Promise<void> {
  await succeeds("restore", place, "--location", to, ...args);
}

export async function box(server: RestServer): Promise<ContainerClient> {
  const container = (await server.blobs()).getContainerClient("box");
  await container.createIfNotExists();
  return container;
}

/** Puts a blob of random bytes, and remembers it. */
export async function put(
  to: ContainerClient,
  stored: Map<string, Buffer>,
  name: string,
  bytes: number,
) {
  const body = randomBytes(bytes);
  await to.getBlockBlobClient(name).uploadData(body, { blockSize: 4 * MIB });
  stored.set(name, body);
}

export async function putAll(to: ContainerClient, prefix: string): Promise<Map<string, Buffer>> {
  const stored = new Map<string, Buffer>();
  for (const size of SIZES) await put(to, stored, `${prefix}-${size}`, size);
  return stored;
}

export async function requireEqual(
  from: ContainerClient,
  stored: Map<string, Buffer>,
): Promise<void> {
  const names: string[] = [];
  for await (const { name } of from.listBlobsFlat()) names.push(name);
  assert.deepEqual(names, [...stored.keys()].sort());
  for (const [name, body] of stored) {
    const found = await from.getBlobClient(name).downloadToBuffer();
    assert.ok(found.equals(body), name);
  }
}

const MAKE_PIPE = "mkfifo";

/**
 * Puts a pipe in the place of a file of a backup. A command that reads the file waits until `feed`
 * has passed on the bytes, so that something else can happen in the middle of it.
 */
export class PausedFile {
  readonly #path: string;
  readonly #bytes: Buffer;
  #pipe: FileHandle | null = null;

  constructor(path: string) {
    this.#path = path;
    this.#bytes = readFileSync(path);
    rmSync(path);
    execFileSync(MAKE_PIPE, [path]);
  }

  /** Resolves once a command waits for the bytes. Later readers get the file itself. */
  async isAwaited(): Promise<void> {
    this.#pipe = await open(this.#path, "w");
    writeFileSync(`${this.#path}.whole`, this.#bytes);
    renameSync(`${this.#path}.whole`, this.#path);
  }

  /** Lets the command go on, with the bytes of the file or, as if it were damaged, without them. */
  async feed(bytes = this.#bytes): Promise<void> {
    await this.#pipe?.writeFile(bytes);
    await this.#pipe?.close();
  }
}

export const NO_PIPES = process.platform === "win32" ? "Windows has no named pipes" : false;

export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
