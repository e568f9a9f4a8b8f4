import type { Amount, Item, Source } from "../item.ts";
import type { FileTree, TreeEntry } from "./file-tree.ts";

/** Where files go: into a container or a share, below a path. */
export interface Into {
  readonly service: "blob" | "file";
  /** The container or share. */
  readonly name: string;
  /** Without slashes at its ends. */
  readonly path: string;
}

const IS_LINK = "is a link or a device, and is not followed";

/** Plain files, as blobs of a container or files of a share. */
export class TreeSource implements Source {
  readonly #tree: FileTree;
  readonly #into: Into;
  readonly #onLeftOut: (path: string, reason: string) => void;

  /** `onLeftOut` learns of links and devices, and of what cannot be read. */
  constructor(tree: FileTree, into: Into, onLeftOut: (path: string, reason: string) => void) {
    this.#tree = tree;
    this.#into = into;
    this.#onLeftOut = onLeftOut;
  }

  async survey(): Promise<Amount> {
    let [objects, bytes] = [0, 0];
    for await (const entry of this.#tree.entries()) {
      objects++;
      bytes += entry.bytes;
    }
    return { objects, bytes };
  }

  async *items(): AsyncGenerator<Item> {
    const { service, name, path } = this.#into;
    const place = { name, metadata: [], policies: [] };
    if (service === "blob") yield { kind: "container", ...place };
    else yield { kind: "share", ...place };
    const made = new Set<string>();
    if (service === "file" && path !== "") yield* this.#folders(`${path}/`, made);
    for await (const entry of this.#tree.entries()) {
      if (entry.kind === "other") this.#onLeftOut(entry.path, entry.fault ?? IS_LINK);
      else if (service === "blob") yield* this.#blob(entry);
      else yield* this.#file(entry, made);
    }
  }

  async close(): Promise<void> {
    await this.#tree.close();
  }

  #at(path: string): string {
    return this.#into.path === "" ? path : `${this.#into.path}/${path}`;
  }

  async *#blob({ path, kind }: TreeEntry): AsyncGenerator<Item> {
    const body = kind === "file" ? await this.#tree.body(path) : null;
    if (body === null) return;
    const { name: container } = this.#into;
    const contentType = "application/octet-stream";
    const own = { type: "BlockBlob", contentType, metadata: [], tags: [] } as const;
    const revision = { ...own, computesMd5: true, body };
    yield { kind: "blob", container, name: this.#at(path), revisions: [revision] };
  }

  async *#file(entry: TreeEntry, made: Set<string>): AsyncGenerator<Item> {
    const share = this.#into.name;
    const path = this.#at(entry.path);
    // A tar need not list the folders of its files.
    yield* this.#folders(path, made);
    const terms = {
      written: fileTime(entry.modifiedMs),
      ...(entry.createdMs === undefined ? {} : { created: fileTime(entry.createdMs) }),
      ...(entry.isReadOnly === true ? { attributes: "ReadOnly" } : {}),
    };
    if (entry.kind === "directory") {
      if (made.has(path)) return;
      made.add(path);
      const { attributes: _, ...times } = terms;
      yield { kind: "directory", share, path, metadata: [], ...times };
      return;
    }
    const body = await this.#tree.body(entry.path);
    if (body !== null) yield { kind: "file", share, path, metadata: [], ...terms, body };
  }

  /** The folders above a path that are not made yet. */
  *#folders(path: string, made: Set<string>): Generator<Item> {
    const segments = path.split("/");
    for (let count = 1; count < segments.length; count++) {
      const folder = segments.slice(0, count).join("/");
      if (folder === "" || made.has(folder)) continue;
      made.add(folder);
      yield { kind: "directory", share: this.#into.name, path: folder, metadata: [] };
    }
  }
}

function fileTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, -1)}0000Z`;
}
