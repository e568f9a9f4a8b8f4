import assert from "node:assert/strict";
import type { ContainerClient } from "@azure/storage-blob";
import type { DataLakeFileSystemClient } from "@azure/storage-file-datalake";
import { BlobSweep } from "../../src/service/blob/sweep.ts";
import type { DataLakeServer } from "../sdk/datalake-server.ts";
import { delayBodies } from "./delay-bodies.ts";
import { Random } from "./random.ts";

export interface TreeRun {
  readonly seed: number;
  /** Directories that are renamed while their files are written. */
  readonly directories: number;
  /** Of each client. */
  readonly operations: number;
}

const PARENTS = ["x", "y"];
const SLOTS = 4;
const SWEEPS = 0.1;

/**
 * Renames directories, and the directories above them, while others write files in them, create and
 * delete trees, and list everything, through both protocols at once. Checks that each list shows one
 * state, and in the end that no acknowledged append is lost.
 */
export async function runTrees(server: DataLakeServer, asked: TreeRun): Promise<void> {
  const filesystem = await server.makeFilesystem();
  const container = server.blobClient().getContainerClient(filesystem.name);
  const random = new Random(asked.seed);
  const run = new Run(server, filesystem, container, random, asked);
  await run.prepare();
  delayBodies(server.context.store, new Random(asked.seed));
  await run.clients();
  await run.checkLogs();
}

/** A tree that a client made and deletes again. Times count the begins and ends of requests. */
interface Passing {
  readonly name: string;
  createdAt: number;
  deletingAt: number;
  deletedAt: number;
}

class Run {
  readonly #filesystem: DataLakeFileSystemClient;
  readonly #container: ContainerClient;
  readonly #random: Random;
  readonly #asked: TreeRun;
  readonly #sweep: BlobSweep;
  /** What has been acknowledged of each directory's file. */
  readonly #logs: string[];
  readonly #passing: Passing[] = [];
  #time = 0;

  constructor(
    server: DataLakeServer,
    filesystem: DataLakeFileSystemClient,
    container: ContainerClient,
    random: Random,
    asked: TreeRun,
  ) {
    this.#filesystem = filesystem;
    this.#container = container;
    this.#random = random;
    this.#asked = asked;
    this.#sweep = new BlobSweep(server.context);
    this.#logs = Array.from({ length: asked.directories }, () => "");
  }

  async prepare(): Promise<void> {
    for (const parent of PARENTS) await this.#filesystem.getDirectoryClient(parent).create();
    for (let at = 0; at < this.#asked.directories; at++) {
      const directory = `${this.#random.pick(PARENTS)}/first-${at}`;
      await this.#container.getBlockBlobClient(`${directory}/deep/mark-${at}`).upload("", 0);
      await this.#filesystem.getFileClient(`${directory}/log-${at}`).create();
    }
  }

  async clients(): Promise<void> {
    const writers = this.#logs.map((_, at) => () => this.#append(at));
    const movers = [1, 2, 3].map(() => () => this.#move());
    const makers = [1, 2].map((maker) => () => this.#makeAndDelete(maker));
    const listers = [() => this.#listPaths(), () => this.#listBlobs()];
    const clients = [...writers, ...movers, ...makers, ...listers].map(async (act) => {
      for (let left = this.#asked.operations; left > 0; left--) await act();
    });
    await Promise.all(clients);
  }

  /** Renames a directory, or the one above, to a name that may be free. */
  async #move(): Promise<void> {
    if (this.#random.chance(SWEEPS)) await this.#sweep.sweep();
    const names = await this.#namesOf("paths");
    const depth = this.#random.chance(0.3) ? 1 : 2;
    const movable = names.filter((name) => name.endsWith("/") && !name.startsWith("made-"));
    const from = movable.filter((name) => name.split("/").length === depth + 1);
    if (from.length === 0) return;
    const above = movable.filter((name) => name.split("/").length === 2);
    const to =
      depth === 1
        ? `parent-${this.#random.below(3)}`
        : `${this.#random.pick(above)}slot-${this.#random.below(SLOTS)}`;
    const source = this.#random.pick(from).slice(0, -1);
    await unlessRefused(this.#filesystem.getDirectoryClient(source).move(to), RENAME_REFUSALS);
  }

  /** Appends to the file in a directory, wherever that is. */
  async #append(at: number): Promise<void> {
    const names = await this.#namesOf(this.#random.pick(["paths", "blobs"] as const));
    const mark = names.find((name) => name.endsWith(`/deep/mark-${at}`));
    assert.ok(mark !== undefined, `directory ${at} is nowhere`);
    const file = this.#filesystem.getFileClient(logBeside(mark));
    const position = this.#logs[at]?.length ?? 0;
    const text = `${position} `;
    const appended = file.append(text, position, text.length, { flush: true });
    if (await unlessRefused(appended, ["PathNotFound"])) this.#logs[at] += text;
  }

  async #makeAndDelete(maker: number): Promise<void> {
    const name = `made-${maker}-${++this.#time}`;
    const passing = { name, createdAt: Infinity, deletingAt: Infinity, deletedAt: Infinity };
    this.#passing.push(passing);
    await this.#container.getBlockBlobClient(`${name}/a/b`).upload("x", 1);
    passing.createdAt = ++this.#time;
    await this.#filesystem.getFileClient(`${name}/c`).create();
    passing.deletingAt = ++this.#time;
    await this.#filesystem.getDirectoryClient(name).delete(true);
    passing.deletedAt = ++this.#time;
  }

  async #listPaths(): Promise<void> {
    await this.#namesOf("paths");
  }

  async #listBlobs(): Promise<void> {
    await this.#namesOf("blobs");
  }

  /** Lists everything by one request, and checks that it is one state. */
  async #namesOf(door: "paths" | "blobs"): Promise<string[]> {
    const begunAt = ++this.#time;
    const names = door === "paths" ? await this.#pathNames() : await this.#blobNames();
    this.#check(names, begunAt, ++this.#time);
    return names;
  }

  async #pathNames(): Promise<string[]> {
    const names: string[] = [];
    for await (const path of this.#filesystem.listPaths({ recursive: true })) {
      names.push(`${path.name}${path.isDirectory ? "/" : ""}`);
    }
    return names;
  }

  async #blobNames(): Promise<string[]> {
    const names: string[] = [];
    for await (const blob of this.#container.listBlobsFlat({ includeMetadata: true })) {
      names.push(`${blob.name}${blob.metadata?.hdi_isfolder === "true" ? "/" : ""}`);
    }
    return names;
  }

  #check(names: readonly string[], begunAt: number, endedAt: number): void {
    const seen = new Set(names);
    assert.equal(seen.size, names.length, "a path is listed twice");
    for (const name of names) {
      const above = name.slice(0, name.lastIndexOf("/", name.length - 2) + 1);
      assert.ok(above === "" || seen.has(above), `${name} is listed without its directory`);
    }
    for (let at = 0; at < this.#asked.directories; at++) {
      const places = names.filter((name) => name.endsWith(`/deep/mark-${at}`));
      assert.equal(places.length, 1, `directory ${at} is at ${JSON.stringify(places)}`);
    }
    for (const { name, createdAt, deletingAt, deletedAt } of this.#passing) {
      const isThere = seen.has(`${name}/a/b`);
      if (createdAt < begunAt && deletingAt > endedAt) assert.ok(isThere, `${name} is missing`);
      if (deletedAt < begunAt) assert.ok(!isThere, `${name} was deleted`);
    }
  }

  /** Reads each file through both protocols. */
  async checkLogs(): Promise<void> {
    const names = await this.#namesOf("paths");
    for (const [at, expected] of this.#logs.entries()) {
      const mark = names.find((name) => name.endsWith(`/deep/mark-${at}`)) ?? assert.fail();
      const log = logBeside(mark);
      const byPath = await this.#filesystem.getFileClient(log).readToBuffer();
      const byBlob = await this.#container.getBlobClient(log).downloadToBuffer();
      assert.equal(byPath.toString(), expected);
      assert.equal(byBlob.toString(), expected);
    }
  }
}

/** The source has gone, or the target is taken. */
const RENAME_REFUSALS = [
  "SourcePathNotFound",
  "RenameDestinationParentPathNotFound",
  "DirectoryNotEmpty",
  "InvalidRenameSourcePath",
];

/** The file that a client appends to, by the path of the mark in the same directory. */
function logBeside(mark: string): string {
  return mark.replace("deep/mark-", "log-");
}

/** False if it was refused with one of these codes. */
async function unlessRefused(done: Promise<unknown>, codes: readonly string[]): Promise<boolean> {
  try {
    await done;
    return true;
  } catch (error) {
    const { code } = error as { code?: string };
    assert.ok(code !== undefined && codes.includes(code), String(error));
    return false;
  }
}
