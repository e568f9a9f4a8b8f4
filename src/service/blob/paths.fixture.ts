import assert from "node:assert/strict";
import { wholeBody } from "../../base/bytes.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { type AppendData, appendData } from "./append-data.ts";
import { Blobs, NO_PROPERTIES } from "./blobs.fixture.ts";
import { type CreatePath, createPath } from "./create-path.ts";
import { type DeletePath, deletePath } from "./delete-path.ts";
import { type FlushData, flushData } from "./flush-data.ts";
import { type ListPaths, listPaths } from "./list-paths.ts";
import type { ListedPath } from "./listed-path.ts";
import { type RenamePath, renamePath } from "./rename-path.ts";

/** A container in its own store, with shorthands for the operations on paths that tests use. */
export class Paths {
  readonly blobs: Blobs;

  constructor(blobs: Blobs) {
    this.blobs = blobs;
  }

  static async open(): Promise<Paths> {
    return new Paths(await Blobs.open());
  }

  /** A container with directories. */
  static async openHierarchical(): Promise<Paths> {
    return new Paths(await Blobs.openHierarchical());
  }

  create(kind: CreatePath["kind"], path: string, more: Partial<CreatePath> = {}) {
    return createPath(this.blobs.context, {
      ...this.blobs.use(path),
      kind,
      properties: NO_PROPERTIES,
      metadata: [],
      lease: null,
      ...more,
    });
  }

  append(path: string, position: number, text: string, more: Partial<AppendData> = {}) {
    const { at, access, leaseId } = this.blobs.use(path);
    return appendData(this.blobs.context, {
      at,
      access,
      leaseId,
      position,
      body: wholeBody(Buffer.from(text)),
      digests: { md5: null, crc64: null },
      computed: { md5: false, crc64: true },
      lease: null,
      flushes: false,
      ...more,
    });
  }

  flush(path: string, position: number, more: Partial<FlushData> = {}) {
    return flushData(this.blobs.context, {
      ...this.blobs.use(path),
      position,
      retains: false,
      properties: {},
      lease: null,
      ...more,
    });
  }

  /** Creates a file with these bytes. */
  async write(path: string, text: string): Promise<void> {
    await this.create("file", path);
    await this.append(path, 0, text);
    await this.flush(path, text.length);
  }

  delete(path: string, more: Partial<DeletePath> = {}) {
    return deletePath(this.blobs.context, {
      ...this.blobs.use(path),
      isRecursive: false,
      isContinued: false,
      ...more,
    });
  }

  rename(from: string, to: string, more: Partial<RenamePath> = {}) {
    const { at, access, leaseId } = this.blobs.use(from);
    return renamePath(this.blobs.context, {
      ...this.blobs.use(to),
      source: { at, access, conditions: NO_CONDITIONS, leaseId },
      metadata: null,
      properties: {},
      isContinued: false,
      ...more,
    });
  }

  /** Lists all paths; directories end with a slash. */
  async list(more: Partial<ListPaths> = {}): Promise<string[]> {
    const { names, next } = await this.page(more);
    assert.equal(next, null);
    return names;
  }

  /** What one request lists. */
  async page(more: Partial<ListPaths>): Promise<{ names: string[]; next: string | null }> {
    const { at, access } = this.blobs.use("");
    const names: string[] = [];
    let after: string | null = null;
    const pages = listPaths(this.blobs.context, {
      at,
      access,
      directory: "",
      isRecursive: false,
      beginFrom: "",
      after,
      resultsMax: 5_000,
      ...more,
    });
    for await (const { items, next } of pages) {
      names.push(...items.map(withSlash));
      after = next;
    }
    return { names, next: after };
  }
}

function withSlash({ name, kind }: ListedPath): string {
  return kind === "directory" ? `${name}/` : name;
}
