import type { DirectoryItem, FileItem, Item, RemovalItem, ShareItem } from "./item.ts";
import type { Asked, RestClient } from "./rest-client.ts";
import { TransferError } from "./transfer-error.ts";

/** What is done with an item: it is there already, or replaces what is there. */
type Verdict = "done" | "replace";

/** A share that was begun, with the names of its snapshots, oldest first. */
interface Begun {
  readonly snapshots: readonly string[];
  /** How many of them the source has shown. */
  seen: number;
  /** Whether a further one was taken: nothing behind it is done. */
  isPassed: boolean;
}

/**
 * Shares with snapshots that an interrupted import has begun. Everything up to the last snapshot
 * that is there is done. Up to the next one, a file that is as the last one shows it waits for its
 * new version; one that differs has it, or was changed by somebody, and stays.
 */
export class ContinuedShares {
  readonly #client: RestClient;
  readonly #begun = new Map<string, Begun>();

  constructor(client: RestClient) {
    this.#client = client;
  }

  /** Only servers of ours give snapshots the names that they had. Throws with any other. */
  async begin(share: ShareItem): Promise<void> {
    const { name: path, snapshots = 0 } = share;
    if (snapshots === 0) return;
    if (!(await this.#client.isOurs("file"))) throw notContinued(path);
    const query = { restype: "share", comp: "lazuli-snapshots" };
    const root = await this.#client.xml({ service: "file", method: "GET", path, query });
    const found = root.children.map(({ text }) => text).sort();
    this.#begun.set(path, { snapshots: found, seen: 0, isPassed: false });
  }

  /** Null for an item of another share. */
  async judge(item: Item): Promise<Verdict | null> {
    const begun = "share" in item ? this.#begun.get(item.share) : undefined;
    if (begun === undefined) return null;
    const { snapshots, seen, isPassed } = begun;
    if (isPassed) return "replace";
    if (seen < snapshots.length) {
      if (item.kind === "shareSnapshot" && item.taken !== snapshots[begun.seen++]) {
        throw notContinued(item.share);
      }
      return "done";
    }
    switch (item.kind) {
      case "file":
      case "removal":
        return (await this.#hasChanged(item, snapshots.at(-1))) ? "done" : "replace";
      case "directory":
        return (await this.#etagOf(item, {})) === item.etag ? "done" : "replace";
      case "shareSnapshot":
        begun.isPassed = true;
        return "replace";
      default:
        return null;
    }
  }

  /** Whether a path is not what a snapshot shows; without one, whether it is there. */
  async #hasChanged(item: FileItem | RemovalItem, snapshot: string | undefined): Promise<boolean> {
    const now = await this.#etagOf(item, {});
    const isRemoval = item.kind === "removal";
    if (now === null) return isRemoval;
    // The ETag of a directory does not tell what lies in it.
    if (isRemoval && item.isDirectory) return false;
    if (snapshot === undefined) return true;
    return now !== (await this.#etagOf(item, { sharesnapshot: snapshot }));
  }

  /** Null if there is nothing of this kind. */
  async #etagOf(
    item: DirectoryItem | FileItem | RemovalItem,
    of: Readonly<Record<string, string>>,
  ): Promise<string | null> {
    const isDirectory = item.kind === "removal" ? item.isDirectory : item.kind === "directory";
    const asked: Asked = {
      service: "file",
      method: "HEAD",
      path: item.path === "" ? item.share : `${item.share}/${item.path}`,
      query: { ...(isDirectory ? { restype: "directory" } : {}), ...of },
      expects: [404, 409],
    };
    const answer = await this.#client.request(asked);
    return answer.status < 300 ? (answer.header("etag") ?? "") : null;
  }
}

function notContinued(share: string): TransferError {
  return new TransferError(
    `The share ${share} has snapshots, which can only be written in their order, and exists ` +
      "already, with others or on a server of others. Delete it, or leave it out with --only, or " +
      "say --existing overwrite.",
  );
}
