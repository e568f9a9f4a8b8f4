import type {
  BlobItem,
  BlobRevision,
  Block,
  ContainerItem,
  ContentHeaders,
  Item,
  StagedBlock,
} from "../item.ts";
import { type AzuriteExtents, pieceIn, piecesOfBlob, piecesOfPages } from "./extents.ts";
import {
  base64In,
  type Document,
  listIn,
  numberIn,
  objectIn,
  pairsIn,
  policiesIn,
  textIn,
} from "./fields.ts";
import { readLokiFile } from "./loki-file.ts";
import { serviceItem } from "./service-properties.ts";

/** The containers and blobs of an account. */
export class AzuriteBlobs {
  readonly #file: string;
  readonly #account: string;
  readonly #extents: AzuriteExtents;

  constructor(file: string, account: string, extents: AzuriteExtents) {
    this.#file = file;
    this.#account = account;
    this.#extents = extents;
  }

  async *items(): AsyncGenerator<Item> {
    for await (const document of this.#documents("$SERVICES_COLLECTION$")) {
      yield serviceItem("blob", document);
    }
    for await (const document of this.#documents("$CONTAINERS_COLLECTION$")) {
      yield containerOf(document);
    }
    const snapshots = await this.#snapshots();
    const staged = await this.#stagedBlocks();
    for await (const document of this.#documents("$BLOBS_COLLECTION$")) {
      if (isSnapshot(document) || document.deleted === true) continue;
      yield this.#blobOf(document, snapshots, staged);
    }
  }

  async *#documents(wanted: string): AsyncGenerator<Document> {
    for await (const { collection, document } of readLokiFile(this.#file)) {
      if (collection === wanted && document.accountName === this.#account) yield document;
    }
  }

  /** Snapshots by blob. Few blobs have some, so they are all in memory. */
  async #snapshots(): Promise<Map<string, Document[]>> {
    const found = new Map<string, Document[]>();
    for await (const document of this.#documents("$BLOBS_COLLECTION$")) {
      if (!isSnapshot(document) || document.deleted === true) continue;
      const key = keyOf(document, "name");
      found.set(key, [...(found.get(key) ?? []), document]);
    }
    for (const list of found.values()) {
      list.sort((a, b) => (`${a.snapshot}` < `${b.snapshot}` ? -1 : 1));
    }
    return found;
  }

  async #stagedBlocks(): Promise<Map<string, StagedBlock[]>> {
    const found = new Map<string, StagedBlock[]>();
    for await (const document of this.#documents("$BLOCKS_COLLECTION$")) {
      if (document.isCommitted === true) continue;
      const key = keyOf(document, "blobName");
      const body = this.#extents.body([pieceIn(document)]);
      const block = { id: textIn(document, "name") ?? "", body };
      found.set(key, [...(found.get(key) ?? []), block]);
    }
    return found;
  }

  #blobOf(
    document: Document,
    snapshots: ReadonlyMap<string, Document[]>,
    allStaged: ReadonlyMap<string, StagedBlock[]>,
  ): BlobItem {
    const key = keyOf(document, "name");
    const staged = allStaged.get(key);
    const isCommitted = document.isCommitted !== false;
    const all = [...(snapshots.get(key) ?? []), ...(isCommitted ? [document] : [])];
    return {
      kind: "blob",
      container: textIn(document, "containerName") ?? "",
      name: textIn(document, "name") ?? "",
      revisions: all.map((one) => this.#revisionOf(one)),
      ...(staged === undefined ? {} : { staged }),
    };
  }

  #revisionOf(document: Document): BlobRevision {
    const properties = objectIn(document, "properties");
    const type = typeOf(properties);
    const bytes = numberIn(properties, "contentLength");
    const isPages = type === "PageBlob";
    const pieces = isPages ? piecesOfPages(document, bytes) : piecesOfBlob(document);
    const snapshot = textIn(document, "snapshot") ?? "";
    const tier = textIn(properties, "accessTier");
    // Old versions call every tier inferred; the default is Hot.
    const isInferred = properties.accessTierInferred !== false && tier === "Hot";
    const isTierSet = type === "BlockBlob" && !isInferred;
    const sequenceNumber = numberIn(properties, "blobSequenceNumber");
    return {
      ...(snapshot === "" ? {} : { snapshot }),
      type,
      ...contentOf(properties),
      metadata: pairsIn(document, "metadata"),
      tags: listIn(objectIn(document, "blobTags"), "blobTagSet").map((tag) => [
        `${tag.key}`,
        `${tag.value}`,
      ]),
      ...(tier === undefined || !isTierSet ? {} : { tier }),
      ...(isPages ? { sequenceNumber: `${sequenceNumber}`, ranges: rangesOf(document) } : {}),
      ...(properties.isSealed === true ? { sealed: true } : {}),
      ...(type === "BlockBlob" ? blocksOf(document) : {}),
      ...timesOf(properties),
      body: this.#extents.body(pieces),
    };
  }
}

function isSnapshot(document: Document): boolean {
  return (textIn(document, "snapshot") ?? "") !== "";
}

function keyOf(document: Document, name: string): string {
  return `${document.containerName}/${document[name]}`;
}

function containerOf(document: Document): ContainerItem {
  const access = textIn(objectIn(document, "properties"), "publicAccess");
  return {
    kind: "container",
    name: textIn(document, "name") ?? "",
    metadata: pairsIn(document, "metadata"),
    ...(access === "blob" || access === "container" ? { publicAccess: access } : {}),
    policies: policiesIn(document, "containerAcl"),
  };
}

function typeOf(properties: Document): BlobRevision["type"] {
  const type = textIn(properties, "blobType");
  return type === "PageBlob" || type === "AppendBlob" ? type : "BlockBlob";
}

const CONTENT_FIELDS = [
  "contentType",
  "contentEncoding",
  "contentLanguage",
  "contentDisposition",
  "cacheControl",
] as const;

function contentOf(properties: Document): ContentHeaders {
  const found = CONTENT_FIELDS.flatMap((name) => {
    const value = textIn(properties, name);
    return value === undefined || value === "" ? [] : [[name, value]];
  });
  const contentMd5 = base64In(properties, "contentMD5");
  return { ...Object.fromEntries(found), ...(contentMd5 === undefined ? {} : { contentMd5 }) };
}

/** A blob that was put whole has no blocks. */
function blocksOf(document: Document): { blocks?: readonly Block[] } {
  const blocks = listIn(document, "committedBlocksInOrder").map((block) => ({
    id: textIn(block, "name") ?? "",
    bytes: pieceIn(block).bytes,
  }));
  return blocks.length === 0 ? {} : { blocks };
}

function rangesOf(document: Document): (readonly [number, number])[] {
  return listIn(document, "pageRangesInOrder").map((range) => [
    numberIn(range, "start"),
    numberIn(range, "end") + 1,
  ]);
}

/** Its ETags are random numbers. A server of ours makes them from the time, and gives new ones. */
function timesOf(properties: Document): Pick<BlobRevision, "created" | "modified"> {
  const [created, modified] = [
    textIn(properties, "creationTime"),
    textIn(properties, "lastModified"),
  ];
  return {
    ...(created === undefined ? {} : { created }),
    ...(modified === undefined ? {} : { modified }),
  };
}
