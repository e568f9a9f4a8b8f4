import { Fault, refuse } from "../../base/fault.ts";
import { fileTimeOfStamp } from "../../base/file-time.ts";
import { HANDLES_OF_ITEM_MAX, HANDLES_OF_ROOT_MAX } from "../../base/limits.ts";
import {
  FILE_ATTRIBUTES,
  isReadOnly,
  refuseOverwriteByAttributes,
} from "../../rules/file-attributes.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { leaseIsLocked } from "../../rules/lease.ts";
import { type Open, refuseOpen, refuseOpenByLease, WRITE } from "../../rules/share-mode.ts";
import type { Transaction } from "../../store/store.ts";
import { admitToName, admitToTree, type FileCreation } from "./admit.ts";
import type { FileContext, PathAsked } from "./context.ts";
import { makeDirectory } from "./create-directory.ts";
import { makeFile } from "./create-file.ts";
import { refuseEndOf } from "./end-handle.ts";
import { type ItemSettings, timeAt } from "./item-settings.ts";
import type { Tree } from "./kept-records.ts";
import { type HandleId, readOpens, writeHandle, writeOpens } from "./open-records.ts";
import { handlesOf, refusePendingDirectory, withOpen } from "./opens.ts";
import { addUsage } from "./share-usage.ts";
import {
  type Directory,
  type File,
  type FileProperties,
  ROOT_ID,
  readDirectory,
  readFile,
  writeFile,
} from "./tree-records.ts";
import { nextFileVersion } from "./version.ts";

/** What becomes of what is there, and what if nothing is: the words of SMB's CREATE. */
export type Disposition = "supersede" | "open" | "create" | "openIf" | "overwrite" | "overwriteIf";

/** Who opens: what List Handles tells of it, and the process that it belongs to. */
export interface Opener {
  readonly epoch: bigint;
  readonly sessionId: bigint;
  readonly clientIp: string;
}

export interface OpenFile extends PathAsked {
  readonly disposition: Disposition;
  /** What it must be; null if either will do, and what is created is a file. */
  readonly kind: "file" | "directory" | null;
  readonly mode: Open;
  /** Whether what is opened goes with its last handle, once this one is closed. */
  readonly deletesOnClose: boolean;
  /** Of what is created or overwritten. */
  readonly settings: ItemSettings;
  readonly opener: Opener;
}

export type OpenFileDone = Opened & { readonly handle: HandleId };

type Opened = {
  readonly tree: Tree;
  readonly action: "superseded" | "opened" | "created" | "overwritten";
} & (
  | { readonly isDirectory: false; readonly item: File }
  | { readonly isDirectory: true; readonly item: Directory }
);

/** What a file has that comes into being over SMB. */
export const NO_PROPERTIES: FileProperties = {
  contentType: "application/octet-stream",
  contentEncoding: "",
  contentLanguage: "",
  contentDisposition: "",
  cacheControl: "",
  contentMd5: null,
};

/** Opens a file or directory by its name; what it may do until it is closed is decided here. */
export async function openFile(context: FileContext, asked: OpenFile): Promise<OpenFileDone> {
  return context.store.transact((tx) => {
    const isRoot = asked.at.path.length === 0;
    const opened = isRoot ? openRoot(tx, asked) : openName(context, tx, asked);
    if (asked.deletesOnClose) refuseEndOf(opened.item);
    return { ...opened, handle: addHandle(tx, opened, asked) };
  });
}

function openRoot(tx: Transaction, asked: OpenFile): Opened {
  const { tree } = admitToTree(tx, asked, FILE_NEEDS.createFile);
  if (asked.disposition === "create") throw new Fault("ResourceAlreadyExists");
  return openDirectory(tx, tree, ROOT_ID, asked);
}

function openName(context: FileContext, tx: Transaction, asked: OpenFile): Opened {
  const { share, tree, parent, name, entry } = admitToName(tx, asked, FILE_NEEDS.createFile);
  const { disposition } = asked;
  if (entry === null) {
    if (disposition === "open" || disposition === "overwrite") throw new Fault("ResourceNotFound");
    return create(context, tx, { share, tree, parent, name, old: null }, asked);
  }
  if (entry.isDirectory) return openDirectory(tx, tree, entry.id, asked);
  return openExisting(context, tx, tree, readFile(tx, tree, entry.id), asked);
}

function create(
  context: FileContext,
  tx: Transaction,
  place: FileCreation,
  { kind, settings }: OpenFile,
): Opened {
  const { tree, parent } = place;
  refusePendingDirectory(tx, tree, parent);
  const action = "created";
  if (kind === "directory") {
    const item = makeDirectory(tx, place, { settings, metadata: [] });
    return { tree, isDirectory: true, item, action };
  }
  const made = { settings, properties: NO_PROPERTIES, metadata: [] };
  const item = makeFile(context, tx, place, made, context.contents.maps.create(tx, 0));
  return { tree, isDirectory: false, item, action };
}

function openDirectory(tx: Transaction, tree: Tree, id: bigint, asked: OpenFile): Opened {
  const { disposition, kind, mode } = asked;
  refuseByOthers(tx, tree, id, mode);
  if (disposition !== "open" && disposition !== "openIf") throw new Fault("ResourceAlreadyExists");
  if (kind === "file") throw new Fault("ResourceTypeMismatch");
  return { tree, isDirectory: true, item: readDirectory(tx, tree, id), action: "opened" };
}

/** The order of these lines is the order of the answers a client can see. */
function openExisting(
  context: FileContext,
  tx: Transaction,
  tree: Tree,
  file: File,
  { disposition, kind, mode, settings }: OpenFile,
): Opened {
  const replaces = disposition !== "open" && disposition !== "openIf";
  const access = replaces ? mode.access | WRITE : mode.access;
  refuseByOthers(tx, tree, file.id, { access, share: mode.share });
  if (disposition === "create") throw new Fault("ResourceAlreadyExists");
  if (kind === "directory") throw new Fault("ResourceTypeMismatch");
  if ((access & WRITE) !== 0 && isReadOnly(file.attributes)) throw new Fault("ReadOnlyAttribute");
  if (replaces) refuse(refuseOverwriteByAttributes(file.attributes, settings.attributes ?? 0));
  refuse(refuseOpenByLease(leaseIsLocked(file.lease, tx.now()), { access, share: mode.share }));
  if (!replaces) return { tree, isDirectory: false, item: file, action: "opened" };
  const item = emptied(context, tx, tree, file, settings);
  const action = disposition === "supersede" ? "superseded" : "overwritten";
  return { tree, isDirectory: false, item, action };
}

function refuseByOthers(tx: Transaction, { share }: Tree, id: bigint, wanted: Open): void {
  const opens = readOpens(tx, { share, id });
  if (opens !== null) refuse(refuseOpen(opens.modes, wanted, opens.isDeletePending));
}

/** The same file, of no bytes and with new attributes. */
function emptied(
  { contents }: FileContext,
  tx: Transaction,
  tree: Tree,
  file: File,
  settings: ItemSettings,
): File {
  const version = nextFileVersion(tx, tree, contents, file);
  addUsage(tx, tree.share, file.id, -file.content.length);
  const now = fileTimeOfStamp(version.etag);
  const item: File = {
    ...file,
    ...version,
    attributes: (settings.attributes ?? 0) | FILE_ATTRIBUTES.Archive,
    written: timeAt(settings.written, now, now),
    content: contents.maps.resize(tx, file.content, 0),
  };
  writeFile(tx, tree, item);
  return item;
}

function addHandle(
  tx: Transaction,
  { tree, isDirectory, item }: Opened,
  { mode, deletesOnClose, opener }: OpenFile,
): HandleId {
  const place = { share: tree.share, id: item.id };
  const opens = readOpens(tx, place);
  const most = item.id === ROOT_ID ? HANDLES_OF_ROOT_MAX : HANDLES_OF_ITEM_MAX;
  if (handlesOf(opens) >= most) throw new Fault("HandleLimitExceeded");
  const id = tx.stamp();
  const { access, share } = mode;
  const { epoch, sessionId, clientIp } = opener;
  const openedMs = tx.now();
  writeHandle(tx, place, id, {
    epoch,
    isDirectory,
    access,
    share,
    deletesOnClose,
    openedMs,
    sessionId,
    clientIp,
  });
  writeOpens(tx, place, withOpen(opens, mode));
  return id;
}
