import type { View } from "../../store/store.ts";
import type { Tree } from "./preserved-records.ts";
import { type Directory, ROOT_ID, readDirectory, readFile } from "./tree-records.ts";

/** The current path of a file or directory. */
export interface ItemPath {
  /** Names from the root, separated by slashes; "" for the root. */
  readonly path: string;
  readonly parent: bigint;
}

/** Finds paths from ids. Looks up each directory once; valid as long as its view. */
export class ItemPaths {
  readonly #view: View;
  readonly #tree: Tree;
  readonly #directories = new Map<bigint, ItemPath>([[ROOT_ID, { path: "", parent: ROOT_ID }]]);

  constructor(view: View, tree: Tree) {
    this.#view = view;
    this.#tree = tree;
  }

  of(id: bigint, isDirectory: boolean): ItemPath {
    if (isDirectory) return this.#directory(id);
    const { name, parent } = readFile(this.#view, this.#tree, id);
    return { path: this.#below(parent, name), parent };
  }

  /** The path of a record that was already read. */
  pathOf({ id, parent, name }: Directory): string {
    return id === ROOT_ID ? "" : this.#below(parent, name);
  }

  /** Whether the item is this directory or lies below it; or is this very file. */
  isWithin(id: bigint, isDirectory: boolean, top: bigint): boolean {
    if (id === top || top === ROOT_ID) return true;
    let at = this.of(id, isDirectory).parent;
    while (at !== ROOT_ID) {
      if (at === top) return true;
      at = this.#directory(at).parent;
    }
    return false;
  }

  #directory(id: bigint): ItemPath {
    const known = this.#directories.get(id);
    if (known !== undefined) return known;
    const { name, parent } = readDirectory(this.#view, this.#tree, id);
    const found = { path: this.#below(parent, name), parent };
    this.#directories.set(id, found);
    return found;
  }

  #below(parent: bigint, name: string): string {
    const { path } = this.#directory(parent);
    return path === "" ? name : `${path}/${name}`;
  }
}
