import { NamesBefore, pathOfName } from "../file-names.ts";
import { amountOf, type Body, type Deletable, type Item, type Range, type Sink } from "../item.ts";
import { lastLine, lineOf, type StoredBody } from "./manifest.ts";

/** Where an export writes its files: a folder or a tar. */
export interface ExportFiles {
  /** Stores a body under a free path like this one. Outside of `ranges` it is zero. */
  store(path: string, body: Body, ranges: readonly Range[] | null): Promise<StoredBody>;
  addLine(line: string): Promise<void>;
  finish(): Promise<void>;
  abandon(): Promise<void>;
}

/** Writes items as files and a manifest. */
export class ExportSink implements Sink {
  readonly #files: ExportFiles;
  /** Names of blobs, by container: a blob may be called like the folder of another. */
  #container = "";
  #names = new NamesBefore();
  #items = 0;

  constructor(files: ExportFiles) {
    this.#files = files;
  }

  async put(item: Item): Promise<"written"> {
    const path = this.#pathOf(item);
    const store = (own: string, body: Body, _: Item, at: number) =>
      this.#files.store(own, body, rangesOf(item, at));
    await this.#files.addLine(await lineOf(item, path, store));
    this.#items++;
    return "written";
  }

  async finish(): Promise<void> {
    await this.#files.addLine(lastLine(this.#items));
    await this.#files.finish();
  }

  async abandon(): Promise<void> {
    await this.#files.abandon();
  }

  #pathOf(item: Item): string {
    if (item.kind === "file") {
      const end = item.snapshot === undefined ? "" : `%@${item.snapshot.replaceAll(":", "-")}`;
      const share = folderOf(pathOfName(item.share), item);
      return `files/${share}/${pathOfName(item.path)}${end}`;
    }
    if (item.kind !== "blob" || amountOf(item).objects === 0) return "";
    const container = folderOf(pathOfName(item.container), item);
    if (container !== this.#container) this.#names = new NamesBefore();
    this.#container = container;
    const path = pathOfName(item.name, this.#names.has);
    this.#names.add(item.name);
    return `blobs/${container}/${path}`;
  }
}

/** Containers and shares of one name may have been deleted at several times. */
function folderOf(name: string, { version }: Deletable): string {
  return version === undefined ? name : `${name}%@${version}`;
}

function rangesOf(item: Item, at: number): readonly Range[] | null {
  if (item.kind === "file") return item.ranges ?? null;
  return item.kind === "blob" ? (item.revisions[at]?.ranges ?? null) : null;
}
