import { FILE_ATTRIBUTES } from "../../rules/file-attributes.ts";
import { leaseAfterWrite } from "../../rules/lease.ts";
import type { Transaction } from "../../store/store.ts";
import { admitFileCreation, type FileCreation } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import { type ItemSettings, timesOfNew } from "./item-settings.ts";
import type { Metadata } from "./records.ts";
import {
  type File,
  type FileProperties,
  forgetFile,
  readDirectory,
  writeEntry,
  writeFile,
} from "./tree-records.ts";
import { nextVersion } from "./version.ts";

export interface CreateFile extends FileAsked {
  /** What it holds at first, all zeroes. */
  readonly length: number;
  readonly settings: ItemSettings;
  readonly properties: FileProperties;
  readonly metadata: Metadata;
}

export async function createFile(context: FileContext, asked: CreateFile): Promise<File> {
  return context.store.transact((tx) => {
    const creation = admitFileCreation(tx, asked);
    const { tree, parent, name, old } = creation;
    const file = newFile(context, tx, asked, creation);
    if (old !== null) forgetFile(tx, tree, context.contents, old);
    writeFile(tx, tree, file);
    writeEntry(tx, tree, parent, name, { since: file.etag, id: file.id, isDirectory: false });
    return file;
  });
}

/** A file in the place of another one is another file, but the lease goes on. */
function newFile(
  { contents }: FileContext,
  tx: Transaction,
  asked: CreateFile,
  { tree, parent, name, old }: FileCreation,
): File {
  const { etag, modifiedMs } = nextVersion(tx, old);
  const { created, accessed, written, changed } = timesOfNew(asked.settings, etag);
  return {
    since: etag,
    id: etag,
    parent,
    name,
    etag,
    modifiedMs,
    attributes: asked.settings.attributes ?? FILE_ATTRIBUTES.Archive,
    created,
    accessed,
    written,
    changed,
    permissionKey: readDirectory(tx, tree, parent).permissionKey,
    metadata: asked.metadata,
    content: contents.maps.create(tx, asked.length),
    properties: asked.properties,
    lease: leaseAfterWrite(old?.lease ?? null, tx.now()),
  };
}
