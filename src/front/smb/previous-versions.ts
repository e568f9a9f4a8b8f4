import { stampOfFileTime } from "../../base/file-time.ts";
import type { Stamp } from "../../base/stamp.ts";
import { OWNER } from "../../rules/access.ts";
import type { PathAddress } from "../../service/file/context.ts";
import { listShareSnapshots } from "../../service/file/list-share-snapshots.ts";
import type { Call } from "./call.ts";
import type { CreateRequest } from "./codec/create.ts";
import { isSameSecond, stampOfGmt } from "./codec/snapshots.ts";
import { STATUS, StatusError } from "./nt-status.ts";
import { pathOf } from "./path.ts";

const TIME_BYTES = 8;

/** The snapshots of a share, the newest first. */
export function snapshotsOf({ session, host }: Call, share: string): Promise<readonly Stamp[]> {
  const at = { account: session.account, share, snapshot: null };
  return listShareSnapshots(host.files, { at, access: OWNER });
}

/**
 * The address that a client means. A name like `@GMT-…` in the path, or a time in a context,
 * selects a snapshot of the share.
 */
export async function versionOf(
  call: Call,
  share: string,
  request: CreateRequest,
): Promise<PathAddress> {
  const names = pathOf(request.name);
  const path = names.filter((name) => stampOfGmt(name) === null);
  const named = names.map(stampOfGmt).find((stamp) => stamp !== null) ?? null;
  const second = named ?? timeOf(request);
  const snapshot = second === null ? null : await snapshotIn(call, share, second);
  return { account: call.session.account, share, snapshot, path, trailingDots: true };
}

/** Takes the newest of several snapshots in one second, because their names are equal. */
async function snapshotIn(call: Call, share: string, second: Stamp): Promise<Stamp> {
  const found = (await snapshotsOf(call, share)).find((stamp) => isSameSecond(stamp, second));
  if (found === undefined) throw new StatusError(STATUS.OBJECT_NAME_NOT_FOUND);
  return found;
}

function timeOf({ contexts }: CreateRequest): Stamp | null {
  const given = contexts.find(({ name }) => name === "TWrp");
  if (given === undefined) return null;
  if (given.data.length !== TIME_BYTES) throw new StatusError(STATUS.INVALID_PARAMETER);
  const time = given.data.readBigUInt64LE(0);
  return time === 0n ? null : stampOfFileTime(time);
}
