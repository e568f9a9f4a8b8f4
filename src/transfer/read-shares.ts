import type { DirectoryItem, FileItem, FileTerms, Item, ShareItem } from "./item.ts";
import { childAt, listAll, metadataIn, nameAt, pairsAt, policiesAt, textAt } from "./listed.ts";
import { rangesIn } from "./read-blobs.ts";
import { remoteBody } from "./remote-body.ts";
import type { Answer, RestClient } from "./rest-client.ts";

const GET = { service: "file", method: "GET" } as const;

export async function* readShares(client: RestClient): AsyncGenerator<ShareItem> {
  const query = { comp: "list", include: "metadata" };
  for await (const found of listAll(client, { ...GET, path: "", query }, ["Shares", "Share"])) {
    const name = nameAt(found);
    const acl = { ...GET, path: name, query: { restype: "share", comp: "acl" } };
    const properties = childAt(found, "Properties");
    const [quota, tier] = [textAt(properties, "Quota"), textAt(properties, "AccessTier")];
    yield {
      kind: "share",
      name,
      metadata: pairsAt(found, "Metadata"),
      policies: await policiesAt(client, acl),
      ...(quota === undefined ? {} : { quotaGib: Number(quota) }),
      ...(tier === undefined ? {} : { tier }),
    };
  }
}

/** Reads the tree of one share, folders before what lies in them. */
export class ShareTree {
  readonly #client: RestClient;
  readonly #share: string;
  /** Descriptors by their keys: few, for many files. */
  readonly #permissions = new Map<string, Promise<string>>();

  constructor(client: RestClient, share: string) {
    this.#client = client;
    this.#share = share;
  }

  async *items(path = ""): AsyncGenerator<Item> {
    yield await this.#directory(path);
    const folders: string[] = [];
    const query = { restype: "directory", comp: "list" };
    const asked = { ...GET, path: this.#at(path), query };
    for await (const entries of listAll(this.#client, asked, ["Entries"])) {
      for (const entry of entries.children) {
        const own = path === "" ? nameAt(entry) : `${path}/${nameAt(entry)}`;
        if (entry.name === "Directory") folders.push(own);
        else yield await this.#file(own);
      }
    }
    for (const folder of folders) yield* this.items(folder);
  }

  #at(path: string): string {
    return path === "" ? this.#share : `${this.#share}/${path}`;
  }

  async #directory(path: string): Promise<DirectoryItem> {
    const query = { restype: "directory" };
    const answer = await this.#client.request({ ...GET, path: this.#at(path), query });
    const metadata = metadataIn(answer.raw);
    const terms = await this.#terms(answer);
    return { kind: "directory", share: this.#share, path, metadata, ...terms };
  }

  async #file(path: string): Promise<FileItem> {
    const at = { service: "file", path: this.#at(path) } as const;
    const answer = await this.#client.request({ ...at, method: "HEAD" });
    const bytes = Number(answer.header("content-length") ?? "0");
    const header = (field: string, name: string) => {
      const value = answer.header(name);
      return value === undefined ? {} : { [field]: value };
    };
    const list = { ...at, method: "GET", query: { comp: "rangelist" } } as const;
    const ranges = rangesIn(await this.#client.xml(list), "Range");
    return {
      kind: "file",
      share: this.#share,
      path,
      metadata: metadataIn(answer.raw),
      ...(await this.#terms(answer)),
      ...header("contentType", "content-type"),
      ...header("contentEncoding", "content-encoding"),
      ...header("contentLanguage", "content-language"),
      ...header("contentDisposition", "content-disposition"),
      ...header("cacheControl", "cache-control"),
      ...header("contentMd5", "content-md5"),
      ranges,
      body: remoteBody(this.#client, { ...at, method: "GET" }, bytes),
    };
  }

  async #terms(answer: Answer): Promise<FileTerms> {
    const key = answer.header("x-ms-file-permission-key");
    const header = (field: string, name: string) => {
      const value = answer.header(name);
      return value === undefined ? {} : { [field]: value };
    };
    return {
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
      query: { restype: "share", comp: "filepermission" },
      headers: { "x-ms-file-permission-key": key },
    });
    const found = asked.then(({ bytes }) => JSON.parse(bytes.toString("utf8")).permission);
    this.#permissions.set(key, found);
    return found;
  }
}
