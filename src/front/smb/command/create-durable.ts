import { HANDLE_CACHING } from "../../../rules/caching.ts";
import type { CachingGranted } from "../../../service/file/caches.ts";
import { getOpenCaching } from "../../../service/file/get-open-caching.ts";
import { getOpenItem } from "../../../service/file/get-open-item.ts";
import type { Persistent } from "../../../service/file/open-records.ts";
import { findPersistentHandle, takeOverHandle } from "../../../service/file/take-over-handle.ts";
import { type Answer, type Call, success } from "../call.ts";
import { shownItem } from "../codec/attributes.ts";
import { type CreateContext, type CreateRequest, writeCreate } from "../codec/create.ts";
import { type DurableContext, type DurableRequest, writeDurable } from "../codec/durable.ts";
import { DURABLE_MS, DURABLE_MS_MAX, type Durability } from "../durability.ts";
import type { FileOpen } from "../file-open.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { OPLOCK } from "../oplock-level.ts";
import { pathOf } from "../path.ts";
import { preserve } from "../restore-handles.ts";
import { leaseAnswer, leaseNamed, namesLeaseOf, oplockOf } from "./create-caching.ts";

type Reconnect = Extract<DurableContext, { kind: "reconnect" }>;

const OPENED = 1;
const NO_GUID = Buffer.alloc(16);

/** The durability of an open; null if it has neither handle caching nor a persistent handle. */
export function durabilityOf(
  { session }: Call,
  asked: DurableContext | null,
  isFile: boolean,
  granted: CachingGranted | null,
): Durability | null {
  if (asked?.kind !== "request") return null;
  const { version2 } = asked;
  const isPersistent = isFile && version2?.isPersistent === true;
  if (!isPersistent && ((granted?.state ?? 0) & HANDLE_CACHING) === 0) return null;
  return {
    timeoutMs: timeoutOf(version2),
    createGuid: version2?.createGuid ?? null,
    account: session.account,
    isPersistent,
  };
}

function timeoutOf(version2: DurableRequest | null): number {
  if (version2 === null || version2.timeoutMs === 0) return DURABLE_MS;
  return Math.min(version2.timeoutMs, DURABLE_MS_MAX);
}

/** The record of an open that survives a restart of the server; null for others. */
export function persistentOf(
  asked: DurableContext | null,
  open: Omit<Persistent, "createGuid" | "timeoutMs">,
): Persistent | null {
  if (asked?.kind !== "request" || asked.version2?.isPersistent !== true) return null;
  const { createGuid } = asked.version2;
  const { account, share, granted, mode, fileId } = open;
  const timeoutMs = timeoutOf(asked.version2);
  return { account, share, createGuid, timeoutMs, granted, mode, fileId };
}

/** The durable context of the response. */
export function durableAnswer(durability: Durability): CreateContext {
  const { createGuid, timeoutMs, isPersistent } = durability;
  return writeDurable(createGuid === null ? null : { timeoutMs, isPersistent });
}

/** Reconnects a client to an open after it lost its connection. */
export async function reopen(
  call: Call,
  share: string,
  request: CreateRequest,
  asked: Reconnect,
): Promise<Answer> {
  const { host, session, tree, chain } = call;
  const open = host.durables.find(asked.fileId.persistent) ?? (await takeOver(call, share, asked));
  if (open === null || open.asked.at.share !== share) throw notFound();
  requireSameClient(call, request, asked, open);
  const found = await getOpenItem(host.files, open.asked);
  if (isNamedOtherwise(call, request, found.path)) throw new StatusError(STATUS.INVALID_PARAMETER);
  const shown = { action: OPENED, oplockMax: OPLOCK.lease, durability: null };
  const answer = await answerOf(call, request, open, shown);
  if (!host.durables.take(open)) throw notFound();
  open.attach(session, tree.id);
  open.openedAs = found.path;
  session.opens.set(open.fileId.volatile, open);
  chain.fileId = open.fileId;
  return answer;
}

/** Takes over a persistent handle that a client had at another front end. Null if there is none. */
async function takeOver(
  { host, session }: Call,
  share: string,
  { fileId, createGuid }: Reconnect,
): Promise<FileOpen | null> {
  const { files, epoch, isShared } = host;
  if (!isShared || createGuid === null) return null;
  const found = await findPersistentHandle(files, fileId.persistent, createGuid);
  if (found === null || found.epoch === epoch()) return null;
  const { persistent } = found;
  if (persistent.account !== session.account || persistent.share !== share) return null;
  const taken = await takeOverHandle(files, found, epoch());
  return taken === null ? null : preserve(host, taken);
}

/** Further fields of a response. */
interface Shown {
  readonly action: number;
  readonly oplockMax: number;
  readonly durability: Durability | null;
}

/** The response to a CREATE for an existing open. */
export async function answerOf(
  { host }: Call,
  { contexts }: CreateRequest,
  open: FileOpen,
  { action, oplockMax, durability }: Shown,
): Promise<Answer> {
  const { files } = host;
  const found = await getOpenItem(files, open.asked);
  const caching = await getOpenCaching(files, open.asked);
  const { times, allocated, size, attributes } = shownItem(found.item, found.isDirectory);
  const answers: CreateContext[] = [];
  const lease = contexts.find(({ name }) => name === "RqLs");
  if (lease !== undefined && caching?.kind === "lease") {
    answers.push({ name: "RqLs", data: leaseAnswer(lease.data, caching) });
  }
  if (durability !== null) answers.push(durableAnswer(durability));
  return success(
    writeCreate({
      times,
      allocated,
      size,
      attributes,
      oplock: Math.min(oplockOf(caching), oplockMax),
      action,
      fileId: open.fileId,
      contexts: answers,
    }),
  );
}

function notFound(): StatusError {
  return new StatusError(STATUS.OBJECT_NAME_NOT_FOUND);
}

/** Refuses a reconnect by any other client than the one that was lost. */
function requireSameClient(
  { connection, session }: Call,
  request: CreateRequest,
  { createGuid }: Reconnect,
  open: FileOpen,
): void {
  const { durability } = open;
  if (durability === null) throw notFound();
  // Version 1 of the reconnect has no GUID.
  const isSameGuid = createGuid === null || createGuid.equals(durability.createGuid ?? NO_GUID);
  if (!isSameGuid || !namesLeaseOf(connection, request, open)) throw notFound();
  if (durability.account !== session.account) throw new StatusError(STATUS.ACCESS_DENIED);
}

/** Whether a request with a lease names another file than that of the open. */
function isNamedOtherwise({ connection }: Call, request: CreateRequest, path: string): boolean {
  if (leaseNamed(connection, request) === null) return false;
  return pathOf(request.name).join("/").toUpperCase() !== path.toUpperCase();
}
