import { resolve } from "node:path";
import { SHARE_QUOTA_GIB_DEFAULT } from "../../base/limits.ts";
import { OWNER } from "../../rules/access.ts";
import { CacheBreakingStore } from "../../service/file/cache-breaking-store.ts";
import type { FileContext, ShareAddress } from "../../service/file/context.ts";
import { createDirectory } from "../../service/file/create-directory.ts";
import { createFile } from "../../service/file/create-file.ts";
import { createShare } from "../../service/file/create-share.ts";
import { getDirectoryProperties } from "../../service/file/get-directory-properties.ts";
import { getFileProperties } from "../../service/file/get-file-properties.ts";
import { NO_SETTINGS } from "../../service/file/item-settings.ts";
import { readShare, type Share } from "../../service/file/records.ts";
import { setShareAcl } from "../../service/file/set-share-acl.ts";
import { setShareMetadata } from "../../service/file/set-share-metadata.ts";
import { setShareProperties } from "../../service/file/set-share-properties.ts";
import { PROPERTIES } from "./blob-seeding.ts";
import {
  bodyOf,
  contentTypeOf,
  type FolderFile,
  itemsIn,
  loadItem,
  md5Of,
} from "./folder-files.ts";
import { found, isWanted } from "./same.ts";
import type { ShareSeed } from "./seed-document.ts";

/** How long a seed waits for SMB clients to give up their caches, in all. */
const BREAK_WAIT_MS_MAX = 30_000;

/** Makes shares, and loads files into them. */
export class FileSeeding {
  readonly #context: FileContext;
  readonly #account: string;
  readonly #folder: string;

  constructor({ store, contents, breaks }: FileContext, account: string, folder: string) {
    const breaking = new CacheBreakingStore(store, breaks, BREAK_WAIT_MS_MAX);
    this.#context = { store: breaking, contents, breaks };
    this.#account = account;
    this.#folder = folder;
  }

  async *seed(seed: ShareSeed): AsyncGenerator<boolean> {
    const at = { account: this.#account, share: seed.name, snapshot: null };
    yield await this.#share(at, seed);
    if (seed.load === null) return;
    for await (const item of itemsIn(resolve(this.#folder, seed.load))) {
      const load = item.is === "file" ? this.#load(at, item) : this.#directory(at, item.names);
      yield await loadItem(item, load);
    }
  }

  async #share(at: ShareAddress, seed: ShareSeed): Promise<boolean> {
    const { metadata, quotaGib, policies } = seed;
    const use = { at, access: OWNER, leaseId: null };
    const isNew = (await this.#read(at)) === null;
    if (isNew) {
      const tier = "TransactionOptimized" as const;
      const terms = { metadata: metadata ?? [], quotaGib: quotaGib ?? SHARE_QUOTA_GIB_DEFAULT };
      await createShare(this.#context, { at, access: OWNER, tier, ...terms });
    }
    const old = (await this.#read(at)) as Share;
    const others = [
      isWanted(metadata, old.metadata) && setShareMetadata(this.#context, { ...use, metadata }),
      isWanted(quotaGib, old.quotaGib) &&
        setShareProperties(this.#context, { ...use, quotaGib, tier: null }),
      isWanted(policies, old.policies) && setShareAcl(this.#context, { ...use, policies }),
    ].filter((other) => other !== false);
    await Promise.all(others);
    return isNew || others.length > 0;
  }

  /** Makes a directory that is missing. */
  async #directory(at: ShareAddress, path: readonly string[]): Promise<boolean> {
    const asked = { at: { ...at, path, trailingDots: true }, access: OWNER };
    if ((await found(getDirectoryProperties(this.#context, asked))) !== null) return false;
    await createDirectory(this.#context, { ...asked, settings: NO_SETTINGS, metadata: [] });
    return true;
  }

  /** Writes a file, unless the share has it with the same bytes. */
  async #load(share: ShareAddress, file: FolderFile): Promise<boolean> {
    const at = { ...share, path: file.names, trailingDots: true };
    const asked = { at, access: OWNER, leaseId: null };
    const contentMd5 = await md5Of(file);
    const there = (await found(getFileProperties(this.#context, asked)))?.file;
    const isSame = there?.properties.contentMd5?.equals(contentMd5) === true;
    if (isSame && there?.content.length === file.length) return false;
    await createFile(this.#context, {
      ...asked,
      length: file.length,
      body: file.length === 0 ? null : bodyOf(file),
      digests: { md5: null, crc64: null },
      settings: NO_SETTINGS,
      properties: { ...PROPERTIES, contentType: contentTypeOf(file), contentMd5 },
      metadata: [],
    });
    return true;
  }

  #read(at: ShareAddress): Promise<Share | null> {
    return this.#context.store.read((view) => readShare(view, at));
  }
}
