import { resolve } from "node:path";
import { OWNER } from "../../rules/access.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import type { BlobContext, ContainerAddress } from "../../service/blob/context.ts";
import { createContainer } from "../../service/blob/create-container.ts";
import { getBlobProperties } from "../../service/blob/get-blob-properties.ts";
import { putBlob } from "../../service/blob/put-blob.ts";
import { type Container, readContainer } from "../../service/blob/records.ts";
import { setContainerAcl } from "../../service/blob/set-container-acl.ts";
import { setContainerMetadata } from "../../service/blob/set-container-metadata.ts";
import {
  bodyOf,
  contentTypeOf,
  type FolderFile,
  itemsIn,
  loadItem,
  md5Of,
} from "./folder-files.ts";
import { found, isWanted } from "./same.ts";
import type { ContainerSeed } from "./seed-document.ts";

const USE = { access: OWNER, conditions: NO_CONDITIONS, leaseId: null };

/** Makes containers, and loads files into them. */
export class BlobSeeding {
  readonly #context: BlobContext;
  readonly #account: string;
  readonly #folder: string;

  constructor(context: BlobContext, account: string, folder: string) {
    this.#context = context;
    this.#account = account;
    this.#folder = folder;
  }

  async *seed(seed: ContainerSeed): AsyncGenerator<boolean> {
    const at = { account: this.#account, container: seed.name };
    yield await this.#container(at, seed);
    if (seed.load === null) return;
    for await (const item of itemsIn(resolve(this.#folder, seed.load))) {
      if (item.is === "file") yield await loadItem(item, this.#load(at, item));
    }
  }

  async #container(at: ContainerAddress, seed: ContainerSeed): Promise<boolean> {
    const { metadata, publicAccess, policies } = seed;
    const isNew = (await this.#read(at)) === null;
    if (isNew) {
      const terms = { metadata: metadata ?? [], publicAccess: publicAccess ?? "none" };
      await createContainer(this.#context, { at, access: OWNER, ...terms });
    }
    const old = (await this.#read(at)) as Container;
    const isOther = isWanted(metadata, old.metadata);
    if (isOther) await setContainerMetadata(this.#context, { ...USE, at, metadata });
    if (!isWanted(policies, old.policies) && !isWanted(publicAccess, old.publicAccess)) {
      return isNew || isOther;
    }
    await setContainerAcl(this.#context, {
      ...USE,
      at,
      publicAccess: publicAccess ?? old.publicAccess,
      policies: policies ?? old.policies,
    });
    return true;
  }

  /** Puts a file as a blob, unless the blob has the same bytes. */
  async #load(at: ContainerAddress, file: FolderFile): Promise<boolean> {
    const to = { ...at, blob: file.names.join("/") };
    const contentMd5 = await md5Of(file);
    const there = await found(
      getBlobProperties(this.#context, { ...USE, at: { ...to, revision: null } }),
    );
    if (there?.blob.properties.contentMd5?.equals(contentMd5) === true) return false;
    await putBlob(this.#context, {
      ...USE,
      at: to,
      body: bodyOf(file),
      digests: { md5: null, crc64: null },
      properties: { ...PROPERTIES, contentType: contentTypeOf(file), contentMd5 },
      metadata: [],
      tags: [],
      tier: null,
    });
    return true;
  }

  #read(at: ContainerAddress): Promise<Container | null> {
    return this.#context.store.read((view) => readContainer(view, at));
  }
}

/** The properties of loaded files that are not set. */
export const PROPERTIES = {
  contentEncoding: "",
  contentLanguage: "",
  contentDisposition: "",
  cacheControl: "",
};
