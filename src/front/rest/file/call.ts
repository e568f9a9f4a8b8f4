import { type Stamp, stampOfIso } from "../../../base/stamp.ts";
import type { ServiceAsked } from "../../../service/account/context.ts";
import type {
  FileAsked,
  PathAddress,
  PathAsked,
  ShareAsked,
  ShareContext,
  ShareUse,
} from "../../../service/file/context.ts";
import type { CopyContext } from "../../../service/file/fetch-copy.ts";
import type { Query, RestResponse } from "../http/exchange.ts";
import { deletedVersionIn } from "../past.ts";
import { flagOf, leaseIdOf } from "../request-headers.ts";
import { invalidQuery } from "../request-query.ts";
import type { CopySources } from "../source/copy-sources.ts";
import type { StorageCall } from "../storage-rest-service.ts";
import type { FileRoute } from "./route.ts";

/** One call of a File operation. */
export type FileCall = StorageCall<FileRoute>;

/** The context of the File handlers: the services, and the resolver of copy sources. */
export interface FileFront extends ShareContext, CopyContext {
  readonly sources: CopySources;
}

export type FileHandler = (context: FileFront, call: FileCall) => Promise<RestResponse>;

/** Reads the share, or the snapshot of one, that a request addresses. */
export function shareAskedOf({ account, access, route, request }: FileCall): ShareAsked {
  const snapshot = snapshotOf(request.query);
  return { at: { account, share: route.share, snapshot, ...deletedVersionIn(request) }, access };
}

/** Reads a share request that may have a lease id. */
export function shareUseOf(call: FileCall): ShareUse {
  return { ...shareAskedOf(call), leaseId: leaseIdOf(call.request.headers) };
}

export function pathAskedOf(call: FileCall): PathAsked {
  return { at: pathAddressOf(call), access: call.access };
}

/** Reads what nearly every request on a file has. */
export function fileAskedOf(call: FileCall): FileAsked {
  const { access, request } = call;
  return { at: pathAddressOf(call), access, leaseId: leaseIdOf(request.headers) };
}

function pathAddressOf({ account, route, request }: FileCall): PathAddress {
  return {
    account,
    share: route.share,
    snapshot: snapshotOf(request.query),
    ...deletedVersionIn(request),
    path: route.path,
    trailingDots: flagOf(request.headers, "x-ms-allow-trailing-dot"),
  };
}

export function serviceAskedOf({ account, access }: FileCall): ServiceAsked {
  return { at: { account, service: "file" }, access };
}

const SNAPSHOT = "sharesnapshot";

export function snapshotOf(query: Query): Stamp | null {
  return snapshotFrom(query, SNAPSHOT);
}

/** Reads the snapshot that a parameter names; null if it is not sent. */
export function snapshotFrom(query: Query, name: string): Stamp | null {
  const value = query.get(name);
  if (value === undefined || value === "") return null;
  const stamp = stampOfIso(value);
  if (stamp !== null) return stamp;
  throw invalidQuery(name, value, "It must look like 2026-11-16T00:17:23.1234567Z.");
}

/** Snapshots cannot be changed. */
export function requireNoSnapshot({ request }: FileCall): void {
  const value = request.query.get(SNAPSHOT);
  if (value !== undefined && value !== "") {
    throw invalidQuery(SNAPSHOT, value, "A snapshot cannot be changed.");
  }
}
