import type { Answer } from "./answer.ts";
import type { DirectoryItem, FileItem, FileTerms, Item, ShareItem } from "./item.ts";
import { listOrLeaveOut, type OnLeftOut, readOrLeaveOut } from "./left-out.ts";
import { childAt, listAll, metadataIn, nameAt, textAt, versionedIn } from "./listed.ts";
import { versionOf, versionQuery } from "./past.ts";
import { copyOf, rangesIn } from "./read-revisions.ts";
import { remoteBody } from "./remote-body.ts";
import { documentOf, type RestClient } from "./rest-client.ts";
import { ChangedError } from "./transfer-error.ts";

const GET = { service: "file", method: "GET" } as const;

/** What tells whether a path is the same in two snapshots. */
export interface ListedPath {
  readonly isDirectory: boolean;
  readonly etag: string | undefined;
}

/** Reads the tree of a share or of one of its snapshots, folders before what lies in them. */
export class ShareTree {
  readonly #client: RestClient;
  readonly #share: string;
  /** Of a share that was deleted. */
  readonly #version: Pick<ShareItem, "version">;
  readonly #snapshot: string | null;
  readonly #query: Readonly<Record<string, string>>;
  /** Descriptors by their keys: few, for many files. */
  readonly #permissions = new Map<string, Promise<string>>();

  readonly #onLeftOut: OnLeftOut;

  /** `snapshot` is null for the share itself. */
  constructor(client: RestClient, share: ShareItem, snapshot: string | null, onLeftOut: OnLeftOut) {
    this.#client = client;
    this.#onLeftOut = onLeftOut;
    this.#share = share.name;
    this.#version = versionOf(share);
    this.#snapshot = snapshot;
    const of = versionQuery(share);
    this.#query = snapshot === null ? of : { sharesnapshot: snapshot, ...of };
  }

  async *items(): AsyncGenerator<Item> {
    for await (const [path, own] of this.#walk("", {})) {
      const item = await this.item(path, own);
      if (item !== null) yield item;
    }
  }

  /** All paths, to be compared with those of another snapshot. */
  async list(): Promise<Map<string, ListedPath>> {
    const found = new Map<string, ListedPath>();
    for await (const [path, own] of this.#walk("", { include: "Etag" })) found.set(path, own);
    return found;
  }

  /** Null if it is left out. */
  item(path: string, { isDirectory }: ListedPath): Promise<Item | null> {
    const name = `${isDirectory ? "directory" : "file"} ${this.#share}/${path}`;
    return readOrLeaveOut<Item>(name, this.#onLeftOut, () =>
      isDirectory ? this.#directory(path) : this.#file(path),
    );
  }

  async *#walk(
    path: string,
    more: Readonly<Record<string, string>>,
    etag?: string,
  ): AsyncGenerator<[path: string, own: ListedPath]> {
    yield [path, { isDirectory: true, etag }];
    const folders: [path: string, etag: string | undefined][] = [];
    const query = { restype: "directory", comp: "list", ...more, ...this.#query };
    const headers = more.include === undefined ? {} : { "x-ms-file-extended-info": "true" };
    const asked = { ...GET, path: this.#at(path), query, headers };
    const name = `what is in ${this.#at(path)}`;
    const pages = listAll(this.#client, asked, ["Entries"]);
    for await (const entries of listOrLeaveOut(name, this.#onLeftOut, pages)) {
      for (const entry of entries.children) {
        const own = path === "" ? nameAt(entry) : `${path}/${nameAt(entry)}`;
        const found = textAt(childAt(entry, "Properties"), "Etag");
        if (entry.name === "Directory") folders.push([own, found]);
        else yield [own, { isDirectory: false, etag: found }];
      }
    }
    for (const [folder, found] of folders) yield* this.#walk(folder, more, found);
  }

  #at(path: string): string {
    return path === "" ? this.#share : `${this.#share}/${path}`;
  }

  async #directory(path: string): Promise<DirectoryItem> {
    const query = { restype: "directory", ...this.#query };
    const answer = await this.#client.request({ ...GET, path: this.#at(path), query });
    const metadata = metadataIn(answer.raw);
    const terms = await this.#terms(answer);
    return { kind: "directory", share: this.#share, ...this.#version, path, metadata, ...terms };
  }

  async #file(path: string): Promise<FileItem> {
    const at = { service: "file", path: this.#at(path), query: this.#query } as const;
    const answer = await this.#client.request({ ...at, method: "HEAD" });
    const bytes = Number(answer.header("content-length") ?? "0");
    const etag = answer.header("etag");
    const header = (field: string, name: string) => {
      const value = answer.header(name);
      return value === undefined ? {} : { [field]: value };
    };
    const list = { ...at, method: "GET", query: { comp: "rangelist", ...this.#query } } as const;
    const listed = await this.#client.request(list);
    if (listed.header("etag") !== etag) throw new ChangedError();
    const ranges = rangesIn(documentOf(list, listed), "Range");
    return {
      kind: "file",
      share: this.#share,
      ...this.#version,
      path,
      ...(this.#snapshot === null ? {} : { snapshot: this.#snapshot }),
      metadata: metadataIn(answer.raw),
      ...(await this.#terms(answer)),
      ...header("contentType", "content-type"),
      ...header("contentEncoding", "content-encoding"),
      ...header("contentLanguage", "content-language"),
      ...header("contentDisposition", "content-disposition"),
      ...header("cacheControl", "cache-control"),
      ...header("contentMd5", "content-md5"),
      ranges,
      ...copyOf({
        id: answer.header("x-ms-copy-id"),
        source: answer.header("x-ms-copy-source"),
        status: answer.header("x-ms-copy-status"),
        progress: answer.header("x-ms-copy-progress"),
        completed: answer.header("x-ms-copy-completion-time"),
        description: answer.header("x-ms-copy-status-description"),
      }),
      body: remoteBody(this.#client, { ...at, method: "GET" }, bytes, etag),
    };
  }

  async #terms(answer: Answer): Promise<FileTerms> {
    const key = answer.header("x-ms-file-permission-key");
    const header = (field: string, name: string) => {
      const value = answer.header(name);
      return value === undefined ? {} : { [field]: value };
    };
    return {
      ...versionedIn(answer),
      ...header("attributes", "x-ms-file-attributes"),
      ...header("created", "x-ms-file-creation-time"),
      ...header("written", "x-ms-file-last-write-time"),
      ...header("changed", "x-ms-file-change-time"),
      ...(key === undefined ? {} : { permission: await this.#permissionOf(key) }),
    };
  }

  #permissionOf(key: string): Promise<string> {
    const known = this.#permissions.get(key);
    if (known !== undefined) return known;
    const asked = this.#client.request({
      ...GET,
      path: this.#share,
      query: { restype: "share", comp: "filepermission", ...versionQuery(this.#version) },
      headers: { "x-ms-file-permission-key": key },
    });
    const found = asked.then(({ bytes }) => JSON.parse(bytes.toString("utf8")).permission);
    this.#permissions.set(key, found);
    return found;
  }
}
