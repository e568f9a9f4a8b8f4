import type { View } from "../../store/store.ts";
import type { Tree } from "./kept-records.ts";
import { type Directory, ROOT_ID, readDirectory, readFile } from "./tree-records.ts";

/** Where something lies now. */
export interface ItemPath {
  /** Names from the root on, parted by slashes; "" for the root. */
  readonly path: string;
  readonly parent: bigint;
}

/** The way back from ids to names. Directories are looked up once; it ends with its view. */
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

  /** Of what is read already. */
  pathOf({ id, parent, name }: Directory): string {
    return id === ROOT_ID ? "" : this.#below(parent, name);
  }

  /** Whether it is this directory or lies somewhere below it; or is this very file. */
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
