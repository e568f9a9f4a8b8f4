import { type Answer, type Call, success } from "../call.ts";
import { readCreate, writeCreate } from "../codec/create.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { openPipe } from "../rpc/pipe.ts";
import { createFile } from "./create-file.ts";

const OPENED = 1;
const ATTRIBUTE_NORMAL = 0x80;
const PIPE_ALLOCATED = 4_096;
const NO_TIME = 0n;

export async function handleCreate(call: Call): Promise<Answer> {
  const request = readCreate(call.message);
  const { session, server, tree } = call;
  call.facts.path = request.name.replaceAll("\\", "/");
  if (session.opens.size >= server.options.limits.opensPerSessionMax) {
    throw new StatusError(STATUS.TOO_MANY_OPENED_FILES);
  }
  if (tree.kind === "pipe") return createPipe(call, request.name);
  return await createFile(call, tree.share, request);
}

function createPipe(call: Call, name: string): Answer {
  const { session, host, tree, chain } = call;
  const id = host.newFileId();
  const fileId = { persistent: id, volatile: id };
  const { files } = host;
  const pipe = openPipe(name, { fileId, treeId: tree.id, account: session.account, files });
  if (pipe === null) throw new StatusError(STATUS.OBJECT_NAME_NOT_FOUND);
  session.opens.set(id, pipe);
  chain.fileId = fileId;
  const answer = writeCreate({
    oplock: 0,
    action: OPENED,
    times: { created: NO_TIME, accessed: NO_TIME, written: NO_TIME, changed: NO_TIME },
    allocated: PIPE_ALLOCATED,
    size: 0,
    attributes: ATTRIBUTE_NORMAL,
    fileId,
    contexts: [],
  });
  return success(answer);
}
