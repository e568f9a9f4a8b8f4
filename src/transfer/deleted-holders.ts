import { createHash } from "node:crypto";
import type { Deletable, Item } from "./item.ts";
import { deletableAt, listAll, nameAt } from "./listed.ts";
import { pastHeaders } from "./past.ts";
import type { RestClient } from "./rest-client.ts";
import { LeftOutError } from "./transfer-error.ts";

/** A container or share that was deleted. */
interface Holder {
  readonly service: "blob" | "file";
  readonly name: string;
  readonly version: string;
  readonly deletion: Deletable;
  /** The name under which it is filled, because its own may be in use. */
  readonly path: string;
}

const KINDS = {
  blob: { restype: "container", list: ["Containers", "Container"], word: "container" },
  file: { restype: "share", list: ["Shares", "Share"], word: "share" },
} as const;

/**
 * Containers and shares that were deleted in the source: an import fills them under names of their
 * own, and deletes them at its end as they were deleted then.
 */
export class DeletedHolders {
  readonly #client: RestClient;
  /** By service, name and version; null for one that is left out with what lies in it. */
  readonly #holders = new Map<string, Holder | null>();

  constructor(client: RestClient) {
    this.#client = client;
  }

  /** The item under the name where it is written; null if it is left out. */
  async placed(item: Item): Promise<Item | null> {
    const version = "version" in item ? item.version : undefined;
    if (version === undefined) return item;
    const { kind } = item;
    if (kind === "container" || kind === "share") {
      const holder = await this.#holderOf(item, version);
      return holder === null ? null : { ...item, name: holder.path };
    }
    if (kind === "blob") {
      const holder = this.#holders.get(keyOf("blob", item.container, version));
      return holder == null ? null : { ...item, container: holder.path };
    }
    if (!("share" in item)) return item;
    const holder = this.#holders.get(keyOf("file", item.share, version));
    return holder == null ? null : { ...item, share: holder.path };
  }

  /** Deletes them as they were deleted in the source. */
  async finish(): Promise<void> {
    for (const [key, holder] of this.#holders) {
      if (holder === null) continue;
      const { service, path, name, version, deletion } = holder;
      const { deleted, until } = deletion;
      await this.#client.request({
        service,
        method: "DELETE",
        path,
        query: { restype: KINDS[service].restype },
        headers: {
          ...(service === "file" ? { "x-ms-delete-snapshots": "include" } : {}),
          ...pastHeaders({ name, id: version, deleted, until }),
        },
        expects: [404],
      });
      this.#holders.delete(key);
    }
  }

  async #holderOf(
    item: Extract<Item, { readonly kind: "container" | "share" }>,
    version: string,
  ): Promise<Holder | null> {
    const service = item.kind === "container" ? "blob" : "file";
    const { name } = item;
    const key = keyOf(service, name, version);
    this.#holders.set(key, null);
    if (!(await this.#client.isOurs(service))) {
      throw new LeftOutError(
        `It was deleted ${item.deleted}, and can only be written to a server of ours, with a key ` +
          "of the account. Import it there, or restore it in the source first.",
      );
    }
    if (await this.#isThere(service, name, version)) return null;
    const path = `lazuli-${createHash("sha256").update(key).digest("hex").slice(0, 24)}`;
    const holder = { service, name, version, deletion: item, path } as const;
    this.#holders.set(key, holder);
    return holder;
  }

  /** Whether an earlier import has written it. What is deleted does not change any more. */
  async #isThere(service: Holder["service"], name: string, version: string): Promise<boolean> {
    const query = { comp: "list", include: "deleted", prefix: name };
    const asked = { service, method: "GET", path: "", query } as const;
    for await (const found of listAll(this.#client, asked, KINDS[service].list)) {
      if (nameAt(found) === name && deletableAt(found).version === version) return true;
    }
    return false;
  }
}

function keyOf(service: Holder["service"], name: string, version: string): string {
  return `${service} ${name} ${version}`;
}
