import { Fault, refuse } from "../../base/fault.ts";
import { fileTimeOfStamp } from "../../base/file-time.ts";
import { HANDLES_OF_ITEM_MAX, HANDLES_OF_ROOT_MAX } from "../../base/limits.ts";
import { LOOKS_AT_SECURITY, NEEDS_HANDLES, READS, WRITES } from "../../rules/caching.ts";
import {
  FILE_ATTRIBUTES,
  isReadOnly,
  judgeOverwriteByAttributes,
} from "../../rules/file-attributes.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { leaseIsLocked } from "../../rules/lease.ts";
import { DELETE, judgeOpen, judgeOpenByLease, type Open, WRITE } from "../../rules/share-mode.ts";
import { isUnknown, StoreError, type Transaction } from "../../store/store.ts";
import { admitToName, admitToTree, type FileCreation } from "./admit.ts";
import type { HandleAsked } from "./admit-handle.ts";
import { type CacheOwner, NO_OWNER } from "./cache-owner.ts";
import {
  addCache,
  type CachingAsked,
  type CachingGranted,
  requireCachesBroken,
  requireOwnLease,
} from "./caches.ts";
import type { FileContext, PathAsked } from "./context.ts";
import { makeDirectory } from "./create-directory.ts";
import { makeFile } from "./create-file.ts";
import { requireDeletable } from "./end-handle.ts";
import { type ItemSettings, timeAt } from "./item-settings.ts";
import { openInSnapshot } from "./open-in-snapshot.ts";
import {
  type HandleId,
  type OpenItem,
  type Opens,
  type Persistent,
  readOpens,
  writeHandle,
  writeOpens,
} from "./open-records.ts";
import { handlesOf, requireNotPending, withOpen } from "./opens.ts";
import type { Tree } from "./preserved-records.ts";
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

/** What an open does with an existing item, and with a free name, in the words of SMB's CREATE. */
export type Disposition = "supersede" | "open" | "create" | "openIf" | "overwrite" | "overwriteIf";

/** The client that opens: what List Handles shows of it, and the process that serves it. */
export interface Opener {
  readonly epoch: bigint;
  readonly sessionId: bigint;
  readonly clientIp: string;
}

export interface OpenFile extends PathAsked {
  readonly disposition: Disposition;
  /** The required kind; null accepts both, and creates a file. */
  readonly kind: "file" | "directory" | null;
  readonly mode: Open;
  /** Whether the item is deleted with its last handle, once this one is closed. */
  readonly deletesOnClose: boolean;
  /** Properties of an item that is created or overwritten. */
  readonly settings: ItemSettings;
  readonly opener: Opener;
  /** The caching that the client asks for; null for none. */
  readonly caching: CachingAsked | null;
  /** For a handle that survives a restart of the server; null for others. */
  readonly persistent: Persistent | null;
  /** How much the open looks at. One for attributes alone breaks no caches. */
  readonly looksAt: "attributes" | "security" | "contents";
}

export interface OpenFileDone {
  readonly tree: Tree;
  readonly action: "superseded" | "opened" | "created" | "overwritten";
  readonly isDirectory: boolean;
  readonly item: Directory | File;
  readonly handle: HandleId;
  /** The caching that was granted; null if the client asked for none. */
  readonly caching: CachingGranted | null;
}

/** The result before its handle is recorded. */
interface Opened extends Omit<OpenFileDone, "handle" | "caching"> {
  /** The other opens of the item. */
  readonly opens: Opens | null;
}

/** The handle of an open in a snapshot. */
const NO_HANDLE: HandleId = 0n;

/** The HTTP properties of a file created over SMB. */
export const NO_PROPERTIES: FileProperties = {
  contentType: "application/octet-stream",
  contentEncoding: "",
  contentLanguage: "",
  contentDisposition: "",
  cacheControl: "",
  contentMd5: null,
};

const INTRUSIONS = { attributes: null, security: LOOKS_AT_SECURITY, contents: READS } as const;

/** The store does not know whether it has recorded this handle. Whoever asked for it closes it. */
export class PerhapsOpened extends StoreError {
  readonly asked: HandleAsked;

  constructor({ at, opener }: OpenFile, { item, handle }: OpenFileDone, cause: StoreError) {
    super(cause.kind, cause.message, { cause });
    this.asked = { at, item: item.id, handle, epoch: opener.epoch };
  }
}

/** Opens a file or directory by name, and decides what the handle permits until it is closed. */
export async function openFile(context: FileContext, asked: OpenFile): Promise<OpenFileDone> {
  if (asked.at.snapshot !== null) {
    requireReadOnly(asked);
    const found = await context.store.read((view) => openInSnapshot(view, asked));
    return { ...found, action: "opened", handle: NO_HANDLE, caching: null };
  }
  let last: OpenFileDone | null = null;
  try {
    return await context.store.transact((tx) => {
      const isRoot = asked.at.path.length === 0;
      const opened = isRoot ? openRoot(tx, asked) : openName(context, tx, asked);
      if (asked.deletesOnClose) requireDeletable(opened.item);
      // Only of the last run nobody may know whether it was committed.
      last = addHandle(tx, opened, asked);
      return last;
    });
  } catch (error) {
    if (!isUnknown(error) || last === null) throw error;
    throw new PerhapsOpened(asked, last, error);
  }
}

/** Refuses to change an item of a snapshot. */
function requireReadOnly({ mode, disposition, deletesOnClose }: OpenFile): void {
  const isRead = (mode.access & (WRITE | DELETE)) === 0 && !deletesOnClose;
  if (!isRead || (disposition !== "open" && disposition !== "openIf")) {
    throw new Fault("AuthorizationPermissionMismatch");
  }
}

function openRoot(tx: Transaction, asked: OpenFile): Opened {
  const { tree } = admitToTree(tx, asked, FILE_NEEDS.createFile);
  if (asked.disposition === "create") throw new Fault("ResourceAlreadyExists");
  return openDirectory(tx, tree, ROOT_ID, asked);
}

function openName(context: FileContext, tx: Transaction, asked: OpenFile): Opened {
  const { share, tree, parent, name, entry } = admitToName(tx, asked, FILE_NEEDS.createFile);
  const { disposition } = asked;
  requireOwnLease(tx, tree.share, entry?.id ?? null, asked.caching);
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
  requireNotPending(tx, tree, parent);
  const action = "created";
  if (kind === "directory") {
    const item = makeDirectory(tx, place, { settings, metadata: [] });
    return { tree, isDirectory: true, item, action, opens: null };
  }
  const made = { settings, properties: NO_PROPERTIES, metadata: [] };
  const { maps } = context.contents;
  const item = makeFile(tx, place, made, (left) => maps.create(tx, 0, null, left));
  return { tree, isDirectory: false, item, action, opens: null };
}

function openDirectory(tx: Transaction, tree: Tree, id: bigint, asked: OpenFile): Opened {
  const { disposition, kind, mode } = asked;
  const opens = readOpens(tx, { share: tree.share, id });
  if (opens !== null) refuse(judgeOpen(opens.modes, mode, opens.isDeletePending));
  if (disposition !== "open" && disposition !== "openIf") throw new Fault("ResourceAlreadyExists");
  if (kind === "file") throw new Fault("ResourceTypeMismatch");
  return { tree, isDirectory: true, item: readDirectory(tx, tree, id), action: "opened", opens };
}

/** The order of these lines is the order of the answers a client can see. */
function openExisting(
  context: FileContext,
  tx: Transaction,
  tree: Tree,
  file: File,
  asked: OpenFile,
): Opened {
  const { disposition, kind, mode, settings } = asked;
  const replaces = disposition !== "open" && disposition !== "openIf";
  const access = replaces ? mode.access | WRITE : mode.access;
  const item = { share: tree.share, id: file.id };
  const opens = readOpens(tx, item);
  if (disposition === "create" && opens?.isDeletePending !== true) {
    throw new Fault("ResourceAlreadyExists");
  }
  if (opens !== null) requireCompatible(tx, item, opens, asked, { access, share: mode.share });
  if (kind === "directory") throw new Fault("ResourceTypeMismatch");
  if ((access & WRITE) !== 0 && isReadOnly(file.attributes)) throw new Fault("ReadOnlyAttribute");
  if (replaces) refuse(judgeOverwriteByAttributes(file.attributes, settings.attributes ?? 0));
  refuse(judgeOpenByLease(leaseIsLocked(file.lease, tx.now()), { access, share: mode.share }));
  const intrusion = replaces ? WRITES : INTRUSIONS[asked.looksAt];
  if (opens !== null && intrusion !== null) {
    requireCachesBroken(tx, item, opens, ownerOf(asked), intrusion);
  }
  if (!replaces) return { tree, isDirectory: false, item: file, action: "opened", opens };
  const empty = emptied(context, tx, tree, file, settings);
  const action = disposition === "supersede" ? "superseded" : "overwritten";
  return { tree, isDirectory: false, item: empty, action, opens };
}

/**
 * A conflicting client may only cache its handle after closing the file: break that cache before
 * refusing.
 */
function requireCompatible(
  tx: Transaction,
  item: OpenItem,
  opens: Opens,
  asked: OpenFile,
  wanted: Open,
): void {
  const refusal = judgeOpen(opens.modes, wanted, opens.isDeletePending);
  if (refusal === "SharingViolation")
    requireCachesBroken(tx, item, opens, ownerOf(asked), NEEDS_HANDLES);
  refuse(refusal);
}

function ownerOf({ caching }: OpenFile): CacheOwner {
  return caching?.kind === "lease" ? caching.owner : NO_OWNER;
}

/** The same file with length 0 and new attributes. */
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
  opened: Opened,
  { mode, deletesOnClose, opener, caching, persistent }: OpenFile,
): OpenFileDone {
  const { tree, action, isDirectory, item, opens } = opened;
  const place = { share: tree.share, id: item.id };
  const most = item.id === ROOT_ID ? HANDLES_OF_ROOT_MAX : HANDLES_OF_ITEM_MAX;
  if (handlesOf(opens) >= most) throw new Fault("HandleLimitExceeded");
  const id = tx.stamp();
  const { access, share } = mode;
  const { epoch, sessionId, clientIp } = opener;
  const openedMs = tx.now();
  const asked = isDirectory ? null : caching;
  const { granted, caches } = addCache(tx, { item: place, opens, handle: id, mode }, asked);
  writeHandle(tx, place, id, {
    epoch,
    isDirectory,
    access,
    share,
    deletesOnClose,
    openedMs,
    sessionId,
    clientIp,
    cache: granted?.owner ?? NO_OWNER,
    persistent: isDirectory ? null : persistent,
  });
  writeOpens(tx, place, withOpen(opens, mode, caches));
  return { tree, action, isDirectory, item, handle: id, caching: granted };
}
