import type { Answer, Call } from "../call.ts";
import type { CreateRequest } from "../codec/create.ts";
import type { DurableContext } from "../codec/durable.ts";
import { FLAG } from "../codec/header.ts";
import type { FileOpen } from "../file-open.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import type { OpenNames } from "../open-names.ts";
import { OPLOCK } from "../oplock-level.ts";
import { pathOf } from "../path.ts";
import { namesLeaseOf } from "./create-caching.ts";
import { answerOf } from "./create-durable.ts";

/** The context with the instance of a program is named by a GUID. */
const INSTANCE_CONTEXT = Buffer.from("45bca66aefa7f74a9008fa462e144d74", "hex").toString("latin1");
const INSTANCE_BYTES = 20;
const INSTANCE_AT = 4;

/** The names in a CREATE; null for most, which have none. */
export function namesOf(
  { connection }: Call,
  { contexts }: CreateRequest,
  durable: DurableContext | null,
): OpenNames | null {
  const create = durable?.kind === "request" ? (durable.version2?.createGuid ?? null) : null;
  const instance = contexts.find(({ name }) => name === INSTANCE_CONTEXT)?.data;
  if (create === null) return null;
  if (instance !== undefined && instance.length !== INSTANCE_BYTES) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  return {
    client: connection.negotiated.client.guid.toString("hex"),
    create: create.toString("hex"),
    instance: instance?.toString("hex", INSTANCE_AT) ?? null,
  };
}

/** Runs a CREATE once, however often it is sent: repeats a response that was lost. */
export async function createOnce(
  call: Call,
  share: string,
  request: CreateRequest,
  names: OpenNames,
  create: () => Promise<Answer>,
): Promise<Answer> {
  const { namedOpens } = call.host;
  const earlier = namedOpens.created(names);
  if (earlier !== undefined) return await answerAgain(call, request, earlier);
  namedOpens.begin(names);
  try {
    await closeElsewhere(call, share, request, names);
    return await create();
  } finally {
    namedOpens.end(names);
  }
}

async function answerAgain(
  call: Call,
  request: CreateRequest,
  open: FileOpen | null,
): Promise<Answer> {
  if ((call.header.flags & FLAG.replay) === 0) throw new StatusError(STATUS.DUPLICATE_OBJECTID);
  if (open === null) throw new StatusError(STATUS.FILE_NOT_AVAILABLE);
  requireSameRequest(call, request, open);
  const { session, host, tree, chain } = call;
  if (host.durables.take(open)) {
    open.attach(session, tree.id);
    session.opens.set(open.fileId.volatile, open);
  }
  if (open.session !== session) throw new StatusError(STATUS.FILE_NOT_AVAILABLE);
  chain.fileId = open.fileId;
  // A repeated request that asks for less caching than before gets no more.
  const keepsHandle = request.oplock >= OPLOCK.batch;
  return await answerOf(call, request, open, {
    action: open.action,
    oplockMax: request.oplock,
    durability: keepsHandle ? open.durability : null,
  });
}

/** Refuses a request with the same name for another file. */
function requireSameRequest(
  { connection, session }: Call,
  request: CreateRequest,
  open: FileOpen,
): void {
  const isSameOwner = open.asked.at.account === session.account;
  if (!isSameOwner || !namesLeaseOf(connection, request, open)) {
    throw new StatusError(STATUS.ACCESS_DENIED);
  }
}

/** Closes what a program that failed over to this machine left open on another one. */
async function closeElsewhere(
  call: Call,
  share: string,
  request: CreateRequest,
  names: OpenNames,
): Promise<void> {
  const { durables, namedOpens } = call.host;
  const path = pathOf(request.name).join("/").toUpperCase();
  for (const open of namedOpens.elsewhere(names)) {
    const { at } = open.asked;
    if (at.account !== call.session.account || at.share !== share) continue;
    if ((await open.path())?.toUpperCase() !== path) continue;
    await durables.end(open);
    await open.session?.closeOpen(open, 0);
  }
}
