import { type Answer, answered, type Call } from "../call.ts";
import { readTreeConnect, writeTreeConnect } from "../codec/tree-connect.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { hasShare } from "../shares.ts";
import { IPC_SHARE, type Tree } from "../tree.ts";

/** Clients may cache a file only with an oplock or lease. */
const NO_CACHING = 0x30;
/** Handles can survive a restart of the server. */
const CONTINUOUSLY_AVAILABLE = 0x10;
const ALL_ACCESS = 0x001f01ff;

export async function handleTreeConnect(call: Call): Promise<Answer> {
  const name = readTreeConnect(call.message).toLowerCase();
  const { session, server, host } = call;
  call.facts.share = name;
  if (session.trees.size >= server.options.limits.treesPerSessionMax) {
    throw new StatusError(STATUS.INSUFFICIENT_RESOURCES);
  }
  const isPipe = name === IPC_SHARE;
  if (!isPipe && !(await hasShare(host.files, session.account, name))) {
    throw new StatusError(STATUS.BAD_NETWORK_NAME);
  }
  const id = session.newTreeId();
  const tree: Tree = isPipe ? { kind: "pipe", id } : { kind: "share", id, share: name };
  session.trees.set(id, tree);
  const body = writeTreeConnect({
    kind: isPipe ? "pipe" : "disk",
    shareFlags: isPipe ? NO_CACHING : 0,
    capabilities: isPipe ? 0 : CONTINUOUSLY_AVAILABLE,
    maximalAccess: ALL_ACCESS,
  });
  return answered(STATUS.SUCCESS, [body], { treeId: id });
}
