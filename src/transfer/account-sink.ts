import type { Clock } from "../base/clock.ts";
import { writeControl } from "./access-control.ts";
import { ContinuedShares } from "./continued-shares.ts";
import { DeletedHolders } from "./deleted-holders.ts";
import type { Existing, Target } from "./existing.ts";
import {
  type BlobItem,
  type ContainerItem,
  type DirectoryItem,
  type FileItem,
  type Item,
  nameOf,
  type QueueItem,
  type ServiceItem,
  type ShareItem,
  type ShareSnapshotItem,
  type Sink,
  type TableItem,
  type Written,
} from "./item.ts";
import { GONE, isoOf, pastHeaders, versionHeaders } from "./past.ts";
import { putBlob } from "./put-blob.ts";
import { putEntities } from "./put-entities.ts";
import { putDirectory, putFile, removeItem, setTerms } from "./put-file.ts";
import { putMessages, restoreMessages } from "./put-messages.ts";
import { isSmallPut, putSmallBlobs } from "./put-small-blobs.ts";
import type { Asked, Headers, RestClient } from "./rest-client.ts";
import { TransferError } from "./transfer-error.ts";
import { metadataHeaders, policiesBody } from "./written-headers.ts";

/**
 * Writes items to an account through its API. With `existing` "fail" it is all or nothing:
 * everything lies in containers, queues, tables and shares that this run has created, and
 * `abandon` deletes them again.
 */
export class AccountSink implements Sink {
  readonly #client: RestClient;
  readonly #existing: Existing;
  readonly #clock: Clock;
  /** What this run has created, by `kind name`, with the request that deletes it. */
  readonly #created = new Map<string, Asked>();
  /** Queues whose messages are not sent, because they have some already. */
  readonly #filledQueues = new Set<string>();
  /** Directories whose times are set when everything is in them. */
  #directories: DirectoryItem[] = [];
  readonly #shares = new Map<string, ShareItem>();
  /** Settings of services: they are set when everything else is written. */
  readonly #settings: ServiceItem[] = [];
  /** The settings that were replaced. */
  readonly #oldSettings: ServiceItem[] = [];
  /** Queues of which some messages are written. */
  readonly #begunQueues = new Set<string>();
  /** Whether the target takes many small blobs at once; known when it has a container. */
  #takesMany = false;
  readonly #deleted: DeletedHolders;
  readonly #continued: ContinuedShares;

  constructor(client: RestClient, existing: Existing, clock: Clock) {
    this.#client = client;
    this.#existing = existing;
    this.#clock = clock;
    this.#deleted = new DeletedHolders(client);
    this.#continued = new ContinuedShares(client);
  }

  async put(given: Item): Promise<Written> {
    const client = this.#client;
    const item = await this.#deleted.placed(given);
    if (item === null) return "skipped";
    const verdict = await this.#continued.judge(item);
    if (verdict === "done") return "skipped";
    switch (item.kind) {
      case "service":
        return this.#putService(item);
      case "container":
        return this.#putContainer(item);
      case "queue":
        return this.#putQueue(item);
      case "table":
        return this.#putTable(item);
      case "share":
        return this.#putShare(item);
      case "blob":
        return putBlob(client, item, this.#containerOf(item));
      case "messages":
        if (this.#filledQueues.has(item.queue)) return "skipped";
        this.#begunQueues.add(item.queue);
        if (await client.isOurs("queue")) await restoreMessages(client, item.queue, item.messages);
        else await putMessages(client, item.queue, item.messages, this.#clock);
        return "written";
      case "entities":
        await putEntities(client, item.table, item.entities, this.#target(`table ${item.table}`));
        return "written";
      case "directory":
        this.#directories.push(item);
        return putDirectory(client, item, this.#shareOf(item, verdict));
      case "file":
        return putFile(client, item, this.#shareOf(item, verdict));
      case "removal":
        await removeItem(client, item);
        return "written";
      case "shareSnapshot":
        return this.#takeSnapshot(item);
    }
  }

  isForMany(item: Item): item is BlobItem {
    // What lies in a deleted container is written to another place, one by one.
    if (!this.#takesMany || item.kind !== "blob" || item.version !== undefined) return false;
    return isSmallPut(item, this.#containerOf(item));
  }

  async putMany(items: readonly BlobItem[]): Promise<readonly (Written | TransferError)[]> {
    const [first] = items as readonly [BlobItem];
    return putSmallBlobs(this.#client, first.container, items, this.#containerOf(first));
  }

  #containerOf({ container }: BlobItem): Target {
    return this.#target(`container ${container}`);
  }

  #shareOf({ share }: DirectoryItem | FileItem, verdict: "replace" | null): Target {
    const target = this.#target(`share ${share}`);
    return verdict === "replace" ? { ...target, existing: "overwrite" } : target;
  }

  /**
   * A queue gets the rest of its messages even if the transfer is interrupted: a run with
   * `--existing skip` takes a queue with messages for whole.
   */
  completes(item: Item): boolean {
    if (item.kind !== "messages" || this.#existing === "fail") return false;
    return this.#begunQueues.has(item.queue);
  }

  async finish(): Promise<void> {
    await this.#finishDirectories();
    await this.#deleted.finish();
    for (const item of this.#settings) await this.#replaceSettings(item);
  }

  async #finishDirectories(): Promise<void> {
    // Later items of the same path are newer, and children come before what they lie in.
    const last = new Map(this.#directories.map((item) => [`${item.share}/${item.path}`, item]));
    this.#directories = [];
    for (const item of [...last.values()].reverse()) await setTerms(this.#client, item);
  }

  async abandon(): Promise<void> {
    if (this.#existing !== "fail") return;
    const left: string[] = [];
    const undo = async (name: string, asked: Promise<unknown>) => {
      try {
        await asked;
      } catch (error) {
        if (!(error instanceof TransferError)) throw error;
        left.push(`${name} (${error.message})`);
      }
    };
    for (const item of this.#oldSettings.reverse()) await undo(nameOf(item), this.#set(item));
    for (const [name, asked] of [...this.#created].reverse()) {
      await undo(name, this.#client.request(asked));
    }
    if (left.length === 0) return;
    throw new TransferError(
      `Not everything that this import has changed could be taken back: ${left.join("; ")}. ` +
        "Remove it, then import again.",
    );
  }

  #target(name: string): Target {
    return { isNew: this.#created.has(name), existing: this.#existing };
  }

  /** Creates what others lie in. False if it is there already, and may be. */
  async #create(item: Item & { name: string }, asked: Asked, taken: string): Promise<boolean> {
    const place = placeOf(item, asked);
    // The caller has already looked whether a queue exists.
    const isFree = item.kind === "queue" || (await this.#isFree(place));
    const answer = await this.#client.request({ ...asked, expects: [taken] });
    // If the answer to a first try was lost, the second one finds what the first has created.
    if (answer.status < 300 || (isFree && answer.isRepeated === true)) {
      const headers = { ...place.headers, ...(await this.#headersToDelete(item)) };
      this.#created.set(nameOf(item), { ...place, method: "DELETE", headers, expects: [404] });
      return true;
    }
    if (this.#existing !== "fail") return false;
    throw new TransferError(
      `The ${nameOf(item)} exists already. Choose with --existing: skip leaves what is there, ` +
        "overwrite replaces it.",
    );
  }

  /** Whether there is certainly nothing of this name. Some servers and SAS do not tell. */
  async #isFree(place: Omit<Asked, "method">): Promise<boolean> {
    const expects = [400, 403, 404, 405, 501];
    return (await this.#client.request({ ...place, method: "GET", expects })).status === 404;
  }

  /** A server of ours keeps nothing of an import that is given up, although it keeps deletions. */
  async #headersToDelete({ kind }: Item): Promise<Headers> {
    if (kind !== "container" && kind !== "share") return {};
    const isOurs = await this.#client.isOurs(kind === "container" ? "blob" : "file");
    const snapshots = kind === "share" ? { "x-ms-delete-snapshots": "include" } : {};
    return { ...snapshots, ...(isOurs ? GONE : {}) };
  }

  #putService(item: ServiceItem): Written {
    // The defaults of a new account cannot be told from settings that somebody chose.
    if (this.#existing === "skip") return "skipped";
    this.#settings.push(item);
    return "written";
  }

  async #replaceSettings(item: ServiceItem): Promise<void> {
    const { service } = item;
    const { bytes } = await this.#client.request({ ...SETTINGS, service, method: "GET" });
    this.#oldSettings.push({ kind: "service", service, xml: bytes.toString("utf8") });
    await this.#set(item);
  }

  async #set({ service, xml }: ServiceItem): Promise<void> {
    const headers = { "Content-Type": "application/xml" };
    const body = Buffer.from(xml);
    await this.#client.request({ ...SETTINGS, service, method: "PUT", headers, body });
  }

  async #putContainer(item: ContainerItem): Promise<Written> {
    const { name: path, metadata, publicAccess, policies } = item;
    this.#takesMany = await this.#client.isOurs("blob");
    const put = { service: "blob", method: "PUT", path } as const;
    const access = publicAccess === undefined ? {} : { "x-ms-blob-public-access": publicAccess };
    const past = await versionHeaders(this.#client, "blob", item);
    const headers = { ...metadataHeaders(metadata), ...access, ...past };
    const query = { restype: "container" };
    const isNew = await this.#createContainer(item, { ...put, query, headers });
    if (!isNew && this.#existing === "skip") return "skipped";
    if (item.control !== undefined) await writeControl(this.#client, `${path}/`, item.control);
    if (!isNew) {
      const set = metadataHeaders(metadata);
      await this.#client.request({ ...put, query: { ...query, comp: "metadata" }, headers: set });
    }
    // What comes behind the creation changes the ETag: the last request gives it its past.
    if (!isNew || policies.length > 0 || item.control !== undefined) {
      const body = policiesBody(policies);
      await this.#client.request({
        ...put,
        query: { ...query, comp: "acl" },
        headers: { ...access, ...past },
        body,
      });
    }
    return "written";
  }

  /** One with directories is made by a client of Data Lake, and gets its other terms behind. */
  async #createContainer(item: ContainerItem, asked: Asked): Promise<boolean> {
    if (item.control === undefined) return this.#create(item, asked, "ContainerAlreadyExists");
    const { "x-ms-blob-public-access": access } = asked.headers ?? {};
    const headers = access === undefined ? {} : { "x-ms-public-access": access };
    const query = { resource: "filesystem", restype: "container" };
    const made = { ...asked, query, headers };
    const isNew = await this.#create(item, made, "FilesystemAlreadyExists");
    if (!isNew) return false;
    const set = { ...asked, query: { restype: "container", comp: "metadata" } };
    await this.#client.request({ ...set, headers: metadataHeaders(item.metadata) });
    return true;
  }

  async #putQueue(item: QueueItem): Promise<Written> {
    const { name: path, metadata, policies } = item;
    const put = { service: "queue", method: "PUT", path } as const;
    const headers = metadataHeaders(metadata);
    // A queue with the same metadata is created again without a refusal.
    const isThere = (await this.#statusOf("queue", path, { comp: "metadata" })) !== 404;
    if (isThere && this.#existing === "fail") {
      throw new TransferError(
        `The queue ${path} exists already. Choose with --existing: skip leaves its messages, ` +
          "overwrite replaces them.",
      );
    }
    if (isThere) return this.#changeQueue(item);
    await this.#create(item, { ...put, headers }, "QueueAlreadyExists");
    if (policies.length > 0) {
      const body = policiesBody(policies);
      await this.#client.request({ ...put, query: { comp: "acl" }, body });
    }
    return "written";
  }

  async #changeQueue({ name, metadata, policies }: QueueItem): Promise<Written> {
    const change = { service: "queue", path: name } as const;
    if (this.#existing === "skip") {
      const answer = await this.#client.request({
        ...change,
        method: "GET",
        query: { comp: "metadata" },
      });
      const count = answer.header("x-ms-approximate-messages-count");
      if (count !== "0") this.#filledQueues.add(name);
      return "skipped";
    }
    const put = { ...change, method: "PUT" } as const;
    const headers = metadataHeaders(metadata);
    await this.#client.request({ ...put, query: { comp: "metadata" }, headers });
    await this.#client.request({ ...put, query: { comp: "acl" }, body: policiesBody(policies) });
    await this.#client.request({ ...change, method: "DELETE", path: `${name}/messages` });
    return "written";
  }

  async #putTable(item: TableItem): Promise<Written> {
    const body = Buffer.from(JSON.stringify({ TableName: item.name }));
    const headers = { ...TABLE_HEADERS, "Content-Type": "application/json" };
    const create = { service: "table", method: "POST", path: "Tables", headers, body } as const;
    const isNew = await this.#create(item, create, "TableAlreadyExists");
    if (!isNew && this.#existing === "skip") return "skipped";
    if (!isNew || item.policies.length > 0) {
      await this.#client.request({
        service: "table",
        method: "PUT",
        path: item.name,
        query: { comp: "acl" },
        headers: { "Content-Type": "application/xml" },
        body: policiesBody(item.policies),
      });
    }
    return "written";
  }

  async #putShare(item: ShareItem): Promise<Written> {
    const { name: path, metadata, policies, quotaGib, tier } = item;
    const put = { service: "file", method: "PUT", path } as const;
    const query = { restype: "share" };
    const terms = {
      ...(quotaGib === undefined ? {} : { "x-ms-share-quota": `${quotaGib}` }),
      ...(tier === undefined ? {} : { "x-ms-access-tier": tier }),
    };
    const past = await versionHeaders(this.#client, "file", item);
    const headers = { ...metadataHeaders(metadata), ...terms, ...past };
    const isNew = await this.#create(item, { ...put, query, headers }, "ShareAlreadyExists");
    this.#shares.set(item.name, item);
    if (!isNew && this.#existing === "skip") {
      await this.#continued.begin(item);
      return "skipped";
    }
    const set = (comp: string, own: Record<string, string>) =>
      this.#client.request({ ...put, query: { ...query, comp }, headers: own });
    if (!isNew) {
      await set("metadata", metadataHeaders(metadata));
      if (Object.keys(terms).length > 0) await set("properties", terms);
    }
    if (!isNew || policies.length > 0) {
      const body = policiesBody(policies);
      await this.#client.request({ ...put, query: { ...query, comp: "acl" }, headers: past, body });
    }
    return "written";
  }

  async #takeSnapshot(item: ShareSnapshotItem): Promise<"written"> {
    await this.#finishDirectories();
    if (await this.#client.isOurs("file")) await this.#giveSnapshot(item);
    else await this.#makeSnapshot(item);
    return "written";
  }

  async #giveSnapshot(item: ShareSnapshotItem): Promise<void> {
    const { share: path, taken: id, etag, modified, metadata, quotaGib: quota } = item;
    const past = pastHeaders({ id, etag, modified: isoOf(modified), quota });
    await this.#client.request({
      service: "file",
      method: "PUT",
      path,
      query: { restype: "share", comp: "snapshot" },
      headers: { ...metadataHeaders(metadata), ...past },
    });
  }

  /** The share has the terms of the snapshot for a moment, which cannot be told otherwise. */
  async #makeSnapshot({ share, metadata, quotaGib }: ShareSnapshotItem): Promise<void> {
    const put = { service: "file", method: "PUT", path: share } as const;
    const set = async (terms: Pick<ShareItem, "metadata" | "quotaGib">) => {
      const query = { restype: "share", comp: "metadata" };
      await this.#client.request({ ...put, query, headers: metadataHeaders(terms.metadata) });
      if (terms.quotaGib === undefined) return;
      const headers = { "x-ms-share-quota": `${terms.quotaGib}` };
      await this.#client.request({ ...put, query: { ...query, comp: "properties" }, headers });
    };
    await set({ metadata, ...(quotaGib === undefined ? {} : { quotaGib }) });
    await this.#client.request({ ...put, query: { restype: "share", comp: "snapshot" } });
    await set(this.#shares.get(share) ?? { metadata: [] });
  }

  async #statusOf(service: "queue", path: string, query: Record<string, string>): Promise<number> {
    const request = { service, method: "GET", path, query, expects: [404] } as const;
    return (await this.#client.request(request)).status;
  }
}

/** What the requests about a container, queue, table or share have in common. */
function placeOf(item: Item & { name: string }, asked: Asked): Omit<Asked, "method"> {
  const { service, path, query: { restype } = {} } = asked;
  if (item.kind === "table") {
    return { service, path: `Tables('${item.name}')`, isEncoded: true, headers: TABLE_HEADERS };
  }
  return { service, path, ...(restype === undefined ? {} : { query: { restype } }) };
}

const SETTINGS = { path: "", query: { restype: "service", comp: "properties" } } as const;

const TABLE_HEADERS = {
  Accept: "application/json;odata=nometadata",
  DataServiceVersion: "3.0",
};
