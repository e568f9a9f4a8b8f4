import type { Bytes } from "../../../base/bytes.ts";
import type { CachingAsked, CachingGranted } from "../../../service/file/caches.ts";
import type { CreateRequest } from "../codec/create.ts";
import { LEASE_FLAG, type LeaseContext, readLease, writeLease } from "../codec/lease.ts";
import { DIALECT } from "../codec/negotiate.ts";
import type { Connection } from "../connection.ts";
import type { FileOpen } from "../file-open.ts";
import { cachingByOplock, leaseOwner, OPLOCK, oplockLevelOf } from "../oplock-level.ts";

const NO_KEY = Buffer.alloc(16);

/** The caching that a client asks for in CREATE. */
export function cachingOf(connection: Connection, request: CreateRequest): CachingAsked | null {
  const { oplock } = request;
  if (oplock !== OPLOCK.lease) {
    const wanted = cachingByOplock(oplock);
    return wanted === null || wanted === 0 ? null : { kind: "oplock", wanted };
  }
  const lease = leaseNamed(connection, request);
  if (lease === null) return null;
  const { key, state, version2 } = lease;
  return {
    kind: "lease",
    owner: leaseOwner(connection.negotiated.client.guid, key),
    wanted: state,
    isVersioned: version2 !== null,
    epoch: version2?.epoch ?? 0,
  };
}

/** The lease that a request names, or null. */
export function leaseNamed(
  { negotiated }: Connection,
  { contexts }: CreateRequest,
): LeaseContext | null {
  const { dialect } = negotiated;
  const data = contexts.find(({ name }) => name === "RqLs")?.data;
  if (data === undefined || dialect < DIALECT.smb210) return null;
  return readLease(data, dialect >= DIALECT.smb300);
}

/** Whether a request names the lease of an open, or none if the open has none. */
export function namesLeaseOf(
  connection: Connection,
  request: CreateRequest,
  { cache, hasLease }: FileOpen,
): boolean {
  const lease = leaseNamed(connection, request);
  if (lease === null) return !hasLease;
  return leaseOwner(connection.negotiated.client.guid, lease.key).equals(cache);
}

/** The oplock level in the fixed part of the response. */
export function oplockOf(granted: CachingGranted | null): number {
  if (granted === null) return OPLOCK.none;
  return granted.kind === "lease" ? OPLOCK.lease : oplockLevelOf(granted.state);
}

/** The lease context of the response, in the version that the client asked for. */
export function leaseAnswer(asked: Bytes, granted: CachingGranted): Bytes {
  const { state, isBreaking, isVersioned, epoch } = granted;
  const lease = readLease(asked, true);
  if (lease === null) throw new Error("a lease was granted that nobody asked for");
  const { key, version2 } = lease;
  const parent = isVersioned ? lease.flags & LEASE_FLAG.parentKeySet : 0;
  const flags = parent | (isBreaking ? LEASE_FLAG.breakInProgress : 0);
  const parentKey = version2?.parentKey ?? NO_KEY;
  const answered = isVersioned ? { parentKey, epoch } : null;
  return writeLease({ key, state, flags, version2: answered });
}
