import { randomInt } from "node:crypto";
import {
  type DataLakeFileSystemClient,
  DataLakeServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-file-datalake";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import type { WholeServerProcess } from "./server-process.ts";
import { type Change, describeBytes, StateWriter, type Subject } from "./state-writer.ts";

const FILES_MAX = 6;
const APPENDED_LENGTHS = [1, 100, 5_000, 40_000];

/** A directory, which is renamed as a whole, and its files with their texts. */
interface Tree {
  /** "" if there is none. */
  readonly directory: string;
  readonly files: ReadonlyMap<string, string>;
}

const NO_TREE: Tree = { directory: "", files: new Map() };

/** A directory of its own whose files are appended to and flushed, renamed and deleted. */
class TreeSubject implements Subject<Tree> {
  readonly name: string;
  #made = 0;

  constructor(name: string) {
    this.name = name;
  }

  nextChange(before: Tree, server: WholeServerProcess): Change<Tree> {
    const filesystem = filesystemAt(server);
    if (before.directory === "" || randomInt(4) === 0) return this.#ofDirectory(before, filesystem);
    const { directory, files } = before;
    const file = [...files.keys()][randomInt(Math.max(files.size, 1))];
    if (file === undefined || (files.size < FILES_MAX && randomInt(3) === 0)) {
      const name = this.#newName();
      const make = () => filesystem.getFileClient(`${directory}/in/${name}`).create();
      // The directory between is a part of the same commit.
      return { next: withFile(before, name, ""), make };
    }
    const client = filesystem.getFileClient(`${directory}/in/${file}`);
    const text = files.get(file) as string;
    switch (randomInt(4)) {
      case 0:
        return { next: withFile(before, file, null), make: () => client.delete() };
      case 1: {
        const name = this.#newName();
        const next = withFile(withFile(before, file, null), name, text);
        return { next, make: () => client.move(`${directory}/in/${name}`) };
      }
      default: {
        const more = String(randomInt(10)).repeat(
          APPENDED_LENGTHS[randomInt(APPENDED_LENGTHS.length)] as number,
        );
        const make = async () => {
          // What is not flushed does not show.
          await client.append(more, text.length, more.length);
          await client.flush(text.length + more.length);
        };
        return { next: withFile(before, file, text + more), make };
      }
    }
  }

  #ofDirectory({ directory, files }: Tree, filesystem: DataLakeFileSystemClient): Change<Tree> {
    const name = this.#newName();
    const old = filesystem.getDirectoryClient(directory);
    if (directory === "") {
      const make = () => filesystem.getDirectoryClient(name).create();
      return { next: { directory: name, files }, make };
    }
    if (randomInt(5) === 0) return { next: NO_TREE, make: () => old.delete(true) };
    return { next: { directory: name, files }, make: () => old.move(name) };
  }

  async read(server: WholeServerProcess): Promise<Tree> {
    const filesystem = filesystemAt(server);
    const directories: string[] = [];
    const files = new Map<string, string>();
    for await (const { name = "", isDirectory } of filesystem.listPaths({ recursive: true })) {
      if (!name.startsWith(`${this.name}.`)) continue;
      if (isDirectory && !name.includes("/")) directories.push(name);
      if (isDirectory) continue;
      const bytes = await filesystem.getFileClient(name).readToBuffer();
      files.set(name.slice(name.lastIndexOf("/") + 1), bytes.toString());
    }
    return { directory: directories.join(" and "), files };
  }

  describe({ directory, files }: Tree): string {
    const texts = [...files].map(([name, text]) => `${name} ${describeBytes(text)}`).sort();
    return `${directory || "nothing"} (${texts.join(", ")})`;
  }

  #newName(): string {
    return `${this.name}.${++this.#made}.${randomInt(2 ** 30).toString(36)}`;
  }
}

function withFile(tree: Tree, name: string, text: string | null): Tree {
  const files = new Map(tree.files);
  if (text === null) files.delete(name);
  else files.set(name, text);
  return { ...tree, files };
}

export function newTreeWriter(name: string): StateWriter<Tree> {
  return new StateWriter(new TreeSubject(name), NO_TREE);
}

export function filesystemAt({ urls }: WholeServerProcess): DataLakeFileSystemClient {
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  const retryOptions = { maxTries: 1 };
  const client = new DataLakeServiceClient(urls.DFS, credential, { retryOptions });
  return client.getFileSystemClient("trees");
}
