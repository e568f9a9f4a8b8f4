import { Fault } from "../../../base/fault.ts";
import { OWNER } from "../../../rules/access.ts";
import { FILE_ATTRIBUTES } from "../../../rules/file-attributes.ts";
import { DELETE, READ, WRITE } from "../../../rules/share-mode.ts";
import type { PathAddress } from "../../../service/file/context.ts";
import type { Disposition, OpenFile, OpenFileDone } from "../../../service/file/open-file.ts";
import { openFile, PerhapsOpened } from "../../../service/file/open-file.ts";
import type { PermissionSetting } from "../../../service/file/permissions.ts";
import { afterCacheBreaks } from "../after-cache-breaks.ts";
import { type Answer, type Call, success } from "../call.ts";
import { ACCESS, ALL_ACCESS, grantedAccess, READ_ACCESS } from "../codec/access.ts";
import { askedAttributes, shownItem } from "../codec/attributes.ts";
import { type CreateContext, type CreateRequest, writeCreate } from "../codec/create.ts";
import { type DurableContext, readDurable } from "../codec/durable.ts";
import { DIALECT } from "../codec/negotiate.ts";
import { sddlOf } from "../codec/security-info.ts";
import { Writer } from "../codec/wire.ts";
import type { Durability } from "../durability.ts";
import { FileOpen } from "../file-open.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { accessBits, DISPOSITIONS } from "../open-asked.ts";
import type { OpenNames } from "../open-names.ts";
import { versionOf } from "../previous-versions.ts";
import { cachingOf, leaseAnswer, oplockOf } from "./create-caching.ts";
import { durabilityOf, durableAnswer, persistentOf, reopen } from "./create-durable.ts";
import { createOnce, namesOf } from "./create-named.ts";

const ACTIONS = { superseded: 0, opened: 1, created: 2, overwritten: 3 } as const;

export const OPTION = {
  directory: 0x00000001,
  nonDirectory: 0x00000040,
  deleteOnClose: 0x00001000,
  openByFileId: 0x00002000,
} as const;

/** Options that do not exist. */
const UNKNOWN_OPTIONS = 0xff000000;
/** Options that a client can query later as the mode. */
const MODE_OPTIONS = 0x0000103e;
const ATTRIBUTE_BITS = ACCESS.readAttributes | ACCESS.writeAttributes | ACCESS.synchronize;
const NO_CACHE = Buffer.alloc(0);
const SHARE_ALL = READ | WRITE | DELETE;
const IMPERSONATION_MAX = 3;
const NAMED_PIPES_AND_DEVICES = 0x00000048;

export async function createFile(
  call: Call,
  share: string,
  request: CreateRequest,
): Promise<Answer> {
  const { dialect } = call.connection.negotiated;
  call.facts.create = request;
  const durable = readDurable(request.contexts, dialect >= DIALECT.smb300);
  if (durable?.kind === "reconnect") return await reopen(call, share, request, durable);
  const names = namesOf(call, request, durable);
  if (names === null) return await openNew(call, share, request, durable, null);
  const create = () => openNew(call, share, request, durable, names);
  return await createOnce(call, share, request, names, create);
}

async function openNew(
  call: Call,
  share: string,
  request: CreateRequest,
  durable: DurableContext | null,
  names: OpenNames | null,
): Promise<Answer> {
  const { session, host, tree, chain } = call;
  const at = await versionOf(call, share, request);
  const id = host.newFileId();
  const fileId = { persistent: id, volatile: id };
  const { account, snapshot } = at;
  const granted = grantedAccess(request.access, mostOf(snapshot));
  const mode = request.options & MODE_OPTIONS;
  const persistent = persistentOf(durable, { account, share, granted, mode, fileId: id });
  const asked = openingOf(call, at, request, granted, persistent);
  const done = await openAs(call, asked);
  const isFile = !done.isDirectory && snapshot === null;
  const open = new FileOpen(host, {
    fileId,
    treeId: tree.id,
    at: { account, share, snapshot },
    share: done.tree.share,
    item: done.item.id,
    handle: done.handle,
    epoch: asked.opener.epoch,
    isDirectory: done.isDirectory,
    granted,
    mode,
    session,
    cache: done.caching?.owner ?? NO_CACHE,
    durability: durabilityOf(call, durable, isFile, done.caching),
    names,
    action: ACTIONS[done.action],
  });
  // If the client disconnected meanwhile, nothing else would close this.
  if (!session.isValid || !session.trees.has(tree.id)) {
    await open.close();
    throw new StatusError(STATUS.USER_SESSION_DELETED);
  }
  open.openedAs = call.facts.path;
  session.opens.set(id, open);
  host.register(open);
  chain.fileId = fileId;
  const { times, allocated, size, attributes } = shownItem(done.item, done.isDirectory);
  return success(
    writeCreate({
      times,
      allocated,
      size,
      attributes,
      oplock: oplockOf(done.caching),
      action: open.action,
      fileId,
      contexts: answerContexts(request, done, mostOf(snapshot), open.durability),
    }),
  );
}

function mostOf(snapshot: PathAddress["snapshot"]): number {
  return snapshot === null ? ALL_ACCESS : READ_ACCESS;
}

/** Translates a CREATE into a request to the service. Refuses contradictory options. */
function openingOf(
  { session, host, connection }: Call,
  at: PathAddress,
  request: CreateRequest,
  granted: number,
  persistent: OpenFile["persistent"],
): OpenFile {
  requireConsistent(request);
  if (granted === 0 || (request.access & ACCESS.systemSecurity) !== 0) {
    throw new StatusError(STATUS.ACCESS_DENIED);
  }
  const { options } = request;
  const deletesOnClose = (options & OPTION.deleteOnClose) !== 0;
  if (deletesOnClose && (granted & ACCESS.delete) === 0) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  return {
    at,
    access: OWNER,
    disposition: DISPOSITIONS[request.disposition] as Disposition,
    kind: kindOf(options),
    mode: { access: accessBits(granted), share: request.share & SHARE_ALL },
    deletesOnClose,
    settings: {
      attributes: attributesOfNew(request),
      created: null,
      written: null,
      changed: null,
      permission: permissionOfNew(request),
    },
    opener: {
      epoch: host.epoch(),
      sessionId: BigInt(session.id),
      clientIp: connection.wire.remoteAddress,
    },
    caching: cachingOf(connection, request),
    persistent,
    looksAt: looksAt(granted),
  };
}

function requireConsistent(request: CreateRequest): void {
  const { options, disposition, share, contexts } = request;
  if (request.impersonation > IMPERSONATION_MAX) {
    throw new StatusError(STATUS.BAD_IMPERSONATION_LEVEL);
  }
  const isBoth = (options & OPTION.directory) !== 0 && (options & OPTION.nonDirectory) !== 0;
  const isSenseless =
    disposition >= DISPOSITIONS.length ||
    (share & ~SHARE_ALL) !== 0 ||
    (options & UNKNOWN_OPTIONS) !== 0 ||
    (request.attributes & NAMED_PIPES_AND_DEVICES) !== 0 ||
    isBoth;
  const replaces = disposition === 0 || disposition >= 4;
  const replacesDirectory = (options & OPTION.directory) !== 0 && replaces;
  if (isSenseless || replacesDirectory) throw new StatusError(STATUS.INVALID_PARAMETER);
  if ((options & OPTION.openByFileId) !== 0) throw new StatusError(STATUS.NOT_SUPPORTED);
  const names = contexts.map(({ name }) => name);
  if (names.includes("ExtA")) throw new StatusError(STATUS.EAS_NOT_SUPPORTED);
}

function kindOf(options: number): OpenFile["kind"] {
  if ((options & OPTION.directory) !== 0) return "directory";
  return (options & OPTION.nonDirectory) !== 0 ? "file" : null;
}

/** The attributes of a new file: always with `archive`, because no backup has it. */
function attributesOfNew({ attributes, options }: CreateRequest): number | null {
  const asked = askedAttributes(attributes);
  const isDirectory = (options & OPTION.directory) !== 0;
  return isDirectory ? asked : (asked ?? 0) | FILE_ATTRIBUTES.Archive;
}

/** The permission that a CREATE sets; null to inherit one. */
function permissionOfNew({ contexts }: CreateRequest): PermissionSetting | null {
  const given = contexts.find(({ name }) => name === "SecD");
  const sddl = given === undefined ? "" : sddlOf(given.data);
  return sddl === "" ? null : { kind: "sddl", sddl };
}

function looksAt(granted: number): OpenFile["looksAt"] {
  if ((granted & ~ATTRIBUTE_BITS) === 0) return "attributes";
  return (granted & ~(ATTRIBUTE_BITS | ACCESS.readControl)) === 0 ? "security" : "contents";
}

/** Opens a file. One fault of the service is two statuses in SMB, depending on the request. */
async function openAs(call: Call, asked: OpenFile): Promise<OpenFileDone> {
  try {
    return await afterCacheBreaks(call, () => openFile(call.host.files, asked));
  } catch (error) {
    // No client will ever close it.
    if (error instanceof PerhapsOpened) call.host.unclosed.closeAfter(error, error.asked, false);
    if (!(error instanceof Fault)) throw error;
    if (error.code === "ResourceTypeMismatch") {
      const isWanted = asked.kind === "directory";
      throw new StatusError(isWanted ? STATUS.NOT_A_DIRECTORY : STATUS.FILE_IS_A_DIRECTORY);
    }
    if (error.code === "ReadOnlyAttribute" && asked.deletesOnClose) {
      throw new StatusError(STATUS.CANNOT_DELETE);
    }
    throw error;
  }
}

/** Answers the known contexts. A missing answer tells the client that a context had no effect. */
function answerContexts(
  { contexts }: CreateRequest,
  done: OpenFileDone,
  most: number,
  durability: Durability | null,
): CreateContext[] {
  const answers: CreateContext[] = [];
  for (const { name, data: asked } of contexts) {
    if (name === "QFid") {
      const data = new Writer().u64(done.item.id).u64(done.tree.share).zeros(16).done();
      answers.push({ name, data });
    } else if (name === "MxAc") {
      answers.push({ name, data: new Writer().u32(STATUS.SUCCESS).u32(most).done() });
    } else if (name === "RqLs" && done.caching?.kind === "lease") {
      answers.push({ name, data: leaseAnswer(asked, done.caching) });
    }
  }
  if (durability !== null) answers.push(durableAnswer(durability));
  return answers;
}
