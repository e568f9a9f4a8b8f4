import type { Bytes } from "../../base/bytes.ts";
import type { PathKind } from "../../rules/rename.ts";
import type { ListedRevision } from "./listed-revisions.ts";
import type { Blob } from "./records.ts";

/** A path in a list. Usually only its rendered text is needed, which an earlier list has cached. */
export interface ListedPath {
  /** The whole path. */
  readonly name: string;
  readonly kind: PathKind;
  /** Null for a directory of a flat container that only its blobs make one. */
  readonly blob: Blob | null;
  /** What `render` returns for it. `render` must be pure, and named by `format`. */
  text(format: string, render: (path: ListedPath) => string): Bytes;
}

/** A path of a flat container. */
export class FlatPath implements ListedPath {
  readonly name: string;
  readonly kind: PathKind;
  readonly blob: Blob | null;

  constructor(name: string, kind: PathKind, blob: Blob | null) {
    this.name = name;
    this.kind = kind;
    this.blob = blob;
  }

  text(_: string, render: (path: ListedPath) => string): Bytes {
    return Buffer.from(render(this), "utf8");
  }
}

/** A path of a hierarchical container. */
export class TreePath implements ListedPath {
  readonly kind: PathKind;
  /** The path of its directory, with a final slash; "" for the root. */
  readonly #above: string;
  readonly #found: ListedRevision;

  constructor(above: string, kind: PathKind, found: ListedRevision) {
    this.kind = kind;
    this.#above = above;
    this.#found = found;
  }

  get name(): string {
    return this.#above + this.#found.name;
  }

  get blob(): Blob | null {
    return this.#found.blob;
  }

  /** Cached for this path of its directory: a rename of a directory changes no entry in it. */
  text(format: string, render: (path: ListedPath) => string): Bytes {
    const { entry } = this.#found;
    const cachedAs = format + this.#above;
    const cached = entry?.textIn(cachedAs) ?? null;
    if (cached !== null) return cached;
    const text = Buffer.from(render(this), "utf8");
    return entry === null ? text : entry.cacheText(cachedAs, text);
  }
}
