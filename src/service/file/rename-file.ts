import { Fault, refuse } from "../../base/fault.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { judgeWriteByLease } from "../../rules/lease.ts";
import type { Transaction } from "../../store/store.ts";
import { admitFileUpdate, admitToName, type InDirectory, refuseChange } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import { changedSettings } from "./item-settings.ts";
import { ALL_BYTES, refuseByOpens, refusePendingDirectory } from "./opens.ts";
import { moveEntry, type Rename } from "./rename.ts";
import { type File, readFile, removeFile, writeFile } from "./tree-records.ts";
import { nextFileVersion } from "./version.ts";

export interface RenameFile extends Rename {
  /** Where it is now, with its lease. */
  readonly source: FileAsked;
  /** Of the file that is replaced. */
  readonly leaseId: string | null;
  /** Null to leave it as it is. */
  readonly contentType: string | null;
}

/** The file stays the same file, under another name: handles, lease and bytes stay with it. */
export async function renameFile(context: FileContext, asked: RenameFile): Promise<File> {
  return context.store.transact((tx) => {
    const { tree, file } = admitFileUpdate(tx, asked.source, "renameFile", null, true);
    const target = admitToName(tx, asked, FILE_NEEDS.renameFile);
    if (target.entry?.id !== file.id) replace(context, tx, asked, target);
    const version = nextFileVersion(tx, tree, context.contents, file);
    const moved = { ...file, ...version, parent: target.parent, name: target.name };
    const { properties } = file;
    const renamed: File = {
      ...moved,
      ...changedSettings(tx, tree, moved, asked.settings, version),
      metadata: asked.metadata ?? file.metadata,
      properties: { ...properties, contentType: asked.contentType ?? properties.contentType },
    };
    moveEntry(tx, tree, file, renamed, false);
    writeFile(tx, tree, renamed);
    return renamed;
  });
}

/** Removes what stands in the way, if that is permitted. */
function replace(
  { contents }: FileContext,
  tx: Transaction,
  asked: RenameFile,
  { tree, parent, entry }: InDirectory,
): void {
  refusePendingDirectory(tx, tree, entry?.id ?? parent);
  if (entry === null) {
    refuse(judgeWriteByLease(null, asked.leaseId, tx.now(), "File"));
    return;
  }
  if (entry.isDirectory || !asked.replaces) throw new Fault("ResourceAlreadyExists");
  const old = readFile(tx, tree, entry.id);
  refuseByOpens(tx, tree, old.id, "replaceFile", ALL_BYTES);
  refuseChange(tx, old, asked.leaseId, asked.ignoresReadOnly);
  removeFile(tx, tree, contents, old);
}
