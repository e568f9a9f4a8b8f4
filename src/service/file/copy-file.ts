import { newGuid } from "../../base/ids.ts";
import { FILE_BYTES_MAX } from "../../base/limits.ts";
import type { Versioned } from "../../rules/conditions.ts";
import type { Content } from "../../store/content.ts";
import type { Transaction, View } from "../../store/store.ts";
import { pendingCopy, type StoredCopy } from "../shared/copy-field.ts";
import type { ForeignSource, Source, SourceObject } from "../shared/source.ts";
import { useSource } from "../shared/use-source.ts";
import { admitFileCreation, type FileCreation } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import { type CopySettings, settingsOfCopy } from "./copy-settings.ts";
import { makeFile } from "./create-file.ts";
import { type CopyContext, fetchCopy } from "./fetch-copy.ts";
import { writePendingCopy } from "./pending-copies.ts";
import type { Metadata } from "./records.ts";
import { type File, writeFile } from "./tree-records.ts";

export interface CopyFile extends FileAsked {
  readonly source: Source;
  /** Null to take the source's metadata. */
  readonly metadata: Metadata | null;
  readonly settings: CopySettings;
  /** Whether to replace a read-only file. */
  readonly ignoresReadOnly: boolean;
}

export interface CopyFileDone extends Versioned {
  readonly copyId: string;
  readonly status: StoredCopy["status"];
}

/** Copies a file. Sources on this server are copied at once, others after the answer. */
export async function copyFile(context: CopyContext, asked: CopyFile): Promise<CopyFileDone> {
  const { source } = asked;
  return source.kind === "own" ? copyOwn(context, asked) : copyForeign(context, asked, source);
}

function copyOwn(context: CopyContext, asked: CopyFile): Promise<CopyFileDone> {
  const copyId = newGuid();
  const { source } = asked;
  const { maps } = context.contents;
  const write = (tx: Transaction, found: SourceObject, content: Content) => {
    const copy = copyMade(tx, copyId, source.url, content.length);
    return done(writeCopy(context, tx, asked, admit(tx, asked), found, content, copy), copy);
  };
  return useSource(context, {
    source,
    range: null,
    bytesMax: FILE_BYTES_MAX,
    digests: null,
    look: (view) => admit(view, asked),
    share: (tx, found, { length }) => {
      const content = sharedMap(context, tx, found.content);
      return content && write(tx, { ...found, length, etag: null }, content);
    },
    keep: (tx, taken, found) => {
      const content = maps.write(tx, maps.create(tx, taken.length), 0, taken);
      return write(tx, found, content);
    },
  });
}

/** A map of its own that shares the same bytes; null if they are in too many pieces. */
function sharedMap({ contents }: FileContext, tx: Transaction, content: Content): Content | null {
  const { length } = content;
  if (content.kind === "map") {
    contents.share(tx, content);
    return content;
  }
  const empty = contents.maps.create(tx, length);
  if (length === 0) return empty;
  const placed = contents.maps.place(tx, empty, 0, content, 0, length);
  if (placed === null) contents.drop(tx, empty);
  return placed;
}

async function copyForeign(
  context: CopyContext,
  asked: CopyFile,
  source: ForeignSource,
): Promise<CopyFileDone> {
  // Check write permission before contacting the source server.
  await context.store.read((view) => admit(view, asked));
  const found = await source.look();
  const copyId = newGuid();
  const begun = await context.store.transact((tx) => {
    const creation = admit(tx, asked);
    const copy = pendingCopy(copyId, source.url, found.length);
    const content = context.contents.maps.create(tx, found.length);
    const file = writeCopy(context, tx, asked, creation, found, content, copy);
    const { account, share } = asked.at;
    writePendingCopy(tx, copyId, {
      account,
      share,
      file: file.id,
      frontEnd: context.copies.frontEnd,
    });
    return done(file, copy);
  });
  context.copies.start(copyId, (signal) => fetchCopy(context, { copyId, source, found, signal }));
  return begun;
}

function admit(view: View, asked: CopyFile): FileCreation {
  return admitFileCreation(view, asked, "copyFile", asked.ignoresReadOnly);
}

/** Puts the copy in the place of the old file. */
function writeCopy(
  context: FileContext,
  tx: Transaction,
  asked: CopyFile,
  creation: FileCreation,
  found: SourceObject,
  content: Content,
  copy: StoredCopy,
): File {
  const settings = settingsOfCopy(asked.settings, found);
  const metadata = asked.metadata ?? found.metadata;
  const { properties } = found;
  const made = makeFile(tx, creation, { settings, properties, metadata }, (left) => {
    // Drop the old content only now: a file may be copied onto itself.
    if (left !== null) context.contents.drop(tx, left);
    return content;
  });
  const file: File = { ...made, copy };
  writeFile(tx, creation.tree, file);
  return file;
}

/** The record of a copy that is already complete. */
function copyMade(tx: Transaction, id: string, source: string, bytes: number): StoredCopy {
  return {
    ...pendingCopy(id, source, bytes),
    status: "success",
    bytesDone: bytes,
    completedMs: tx.now(),
  };
}

function done({ etag, modifiedMs }: Versioned, { id, status }: StoredCopy): CopyFileDone {
  return { etag, modifiedMs, copyId: id, status };
}
