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

export interface NewFile {
  /** What it holds at first, all zeroes. */
  readonly length: number;
  readonly settings: ItemSettings;
  readonly properties: FileProperties;
  readonly metadata: Metadata;
}

export type CreateFile = FileAsked & NewFile;

export async function createFile(context: FileContext, asked: CreateFile): Promise<File> {
  return context.store.transact((tx) => {
    return makeFile(context, tx, admitFileCreation(tx, asked), asked);
  });
}

/** Puts a new file where there is none, or in the place of another one. */
export function makeFile(
  context: FileContext,
  tx: Transaction,
  creation: FileCreation,
  asked: NewFile,
): File {
  const { tree, parent, name, old } = creation;
  const file = newFile(context, tx, asked, creation);
  if (old !== null) forgetFile(tx, tree, context.contents, old);
  writeFile(tx, tree, file);
  writeEntry(tx, tree, parent, name, { since: file.etag, id: file.id, isDirectory: false });
  return file;
}

/** A file that is overwritten stays the same to those who have it open, and so does its lease. */
function newFile(
  { contents }: FileContext,
  tx: Transaction,
  asked: NewFile,
  { tree, parent, name, old }: FileCreation,
): File {
  const { etag, modifiedMs } = nextVersion(tx, old);
  const { created, accessed, written, changed } = timesOfNew(asked.settings, etag);
  return {
    since: etag,
    id: old?.id ?? etag,
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
