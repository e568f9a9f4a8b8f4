import { acknowledgeBreak, type BreakOutcome } from "../../../service/file/acknowledge-break.ts";
import { type Answer, type Call, success } from "../call.ts";
import {
  readBreakAcknowledgement,
  writeLeaseBreakAnswer,
  writeOplockBreak,
} from "../codec/oplock-break.ts";
import { type NtStatus, STATUS, StatusError } from "../nt-status.ts";
import { cachingByOplock, leaseOwner, OPLOCK } from "../oplock-level.ts";

type Refusal = Exclude<BreakOutcome, "acknowledged">;

const OPLOCK_REFUSALS: Record<Refusal, NtStatus> = {
  unknown: STATUS.INVALID_OPLOCK_PROTOCOL,
  "not-breaking": STATUS.INVALID_OPLOCK_PROTOCOL,
  "too-much": STATUS.INVALID_OPLOCK_PROTOCOL,
};
const LEASE_REFUSALS: Record<Refusal, NtStatus> = {
  unknown: STATUS.OBJECT_NAME_NOT_FOUND,
  "not-breaking": STATUS.UNSUCCESSFUL,
  "too-much": STATUS.REQUEST_NOT_ACCEPTED,
};

/** Handles a client's acknowledgement of an oplock or lease break. */
export async function handleOplockBreak(call: Call): Promise<Answer> {
  const acknowledged = readBreakAcknowledgement(call.message);
  if (acknowledged.kind === "oplock") {
    return await endOplock(call, acknowledged.fileId, acknowledged.level);
  }
  return await endLease(call, acknowledged.key, acknowledged.state);
}

async function endOplock(
  call: Call,
  fileId: Parameters<Call["open"]>[0],
  level: number,
): Promise<Answer> {
  const open = call.open(fileId);
  const state = cachingByOplock(level);
  if (open.kind !== "file" || level === OPLOCK.lease) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  if (state === null) throw new StatusError(STATUS.INVALID_PARAMETER);
  const { files } = call.host;
  const outcome = await acknowledgeBreak(files, { kind: "oplock", of: open.asked, state });
  if (outcome !== "acknowledged") throw new StatusError(OPLOCK_REFUSALS[outcome]);
  return success(writeOplockBreak(level, open.fileId));
}

async function endLease(call: Call, key: Buffer, state: number): Promise<Answer> {
  const { tree, session, host, connection } = call;
  if (tree.kind !== "share") throw new StatusError(STATUS.INVALID_PARAMETER);
  const at = { account: session.account, share: tree.share, snapshot: null };
  const owner = leaseOwner(connection.negotiated.client.guid, key);
  const outcome = await acknowledgeBreak(host.files, { kind: "lease", at, owner, state });
  if (outcome !== "acknowledged") throw new StatusError(LEASE_REFUSALS[outcome]);
  return success(writeLeaseBreakAnswer(key, state));
}
