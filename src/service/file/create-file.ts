import type { Body, Bytes } from "../../base/bytes.ts";
import { type BodyDigests, requireDigests } from "../../base/digests.ts";
import { FILE_ATTRIBUTES } from "../../rules/file-attributes.ts";
import { leaseAfterWrite } from "../../rules/lease.ts";
import type { Content, Taken } from "../../store/content.ts";
import type { Transaction } from "../../store/store.ts";
import { lookAhead } from "../shared/look-ahead.ts";
import { type FilePast, versionAsOf } from "../shared/past.ts";
import { admitFileCreation, type FileCreation } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import { attributesOf, type ItemSettings, timesOfNew } from "./item-settings.ts";
import { resolvePermission } from "./permissions.ts";
import type { Metadata } from "./records.ts";
import { growUsage } from "./share-usage.ts";
import {
  type File,
  type FileProperties,
  retireFile,
  writeEntry,
  writeFile,
} from "./tree-records.ts";
import { nextVersion } from "./version.ts";

export interface NewFile {
  readonly settings: ItemSettings;
  readonly properties: FileProperties;
  readonly metadata: Metadata;
}

export interface CreateFile extends FileAsked, NewFile {
  /** Initial length. The file is zero after the body. */
  readonly length: number;
  /** Initial bytes, no longer than the file; null for none. */
  readonly body: Body | null;
  /** The body's digests according to the client. */
  readonly digests: BodyDigests;
  /** What an import knows of it. */
  readonly past?: FilePast | null;
}

export interface CreateFileDone {
  readonly file: File;
  /** MD5 of the body. */
  readonly md5: Bytes | null;
}

export async function createFile(context: FileContext, asked: CreateFile): Promise<CreateFileDone> {
  if (asked.body === null) return { file: await create(context, asked, null), md5: null };
  await lookAhead(context.store, asked.body, (view) => admitFileCreation(view, asked));

  const crc64 = asked.digests.crc64 !== null;
  const taken = await context.contents.take(asked.body, { md5: true, crc64 });
  try {
    return { file: await create(context, asked, taken), md5: taken.md5 };
  } finally {
    taken.release();
  }
}

function create(context: FileContext, asked: CreateFile, taken: Taken | null): Promise<File> {
  return context.store.transact((tx) => {
    const creation = admitFileCreation(tx, asked);
    if (taken !== null) requireDigests(asked.digests, taken);
    const { maps } = context.contents;
    const made = makeFile(tx, creation, asked, (left) =>
      maps.create(tx, asked.length, taken, left),
    );
    if (asked.past == null) return made;
    const file = { ...versionAsOf(tx, asked, made), copy: asked.past.copy };
    writeFile(tx, creation.tree, file);
    return file;
  });
}

/** Makes the content of a new file. `left` is the replaced file's content, to be dropped. */
type MakeContent = (left: Content | null) => Content;

/** Creates a file, or replaces the one with this name. */
export function makeFile(
  tx: Transaction,
  creation: FileCreation,
  asked: NewFile,
  makeContent: MakeContent,
): File {
  const { share, tree, parent, name, old } = creation;
  const content = makeContent(old === null ? null : retireFile(tx, tree, old));
  const file = newFile(tx, asked, creation, content);
  const { id, etag: since } = file;
  growUsage(tx, share, id, content.length - (old?.content.length ?? 0));
  writeFile(tx, tree, file);
  // A file that is overwritten already has its entry.
  if (old === null) writeEntry(tx, tree, parent, name, { since, id, isDirectory: false });
  return file;
}

/** An overwritten file retains its id, for its open handles, and its lease. */
function newFile(
  tx: Transaction,
  { settings, metadata, properties }: NewFile,
  { tree, parent, name, old }: FileCreation,
  content: Content,
): File {
  const { etag, modifiedMs } = nextVersion(tx, old);
  const { created, accessed, written, changed } = timesOfNew(settings, etag);
  const permission = settings.permission ?? { kind: "inherit" };
  return {
    since: etag,
    id: old?.id ?? etag,
    parent,
    name,
    etag,
    modifiedMs,
    attributes: attributesOf(settings.attributes ?? FILE_ATTRIBUTES.Archive, false),
    created,
    accessed,
    written,
    changed,
    permissionKey: resolvePermission(tx, tree, permission, parent, false),
    metadata,
    content,
    properties,
    lease: leaseAfterWrite(old?.lease ?? null, tx.now()),
    copy: null,
  };
}
