import type { Instant } from "../../base/clock.ts";
import type { AuthKind, Outcome, RestOutcome, SmbOutcome } from "../outcome.ts";

/** A request as the console shows it. */
export interface SeenRequest {
  /** Counts up from 1 while the server runs. */
  readonly number: number;
  readonly atMs: Instant;
  readonly tookMs: number;
  readonly service: Outcome["service"];
  readonly operation: string;
  readonly account: string | null;
  readonly container: string | null;
  /** The object that it is about, by which requests to the same one are found. */
  readonly object: string;
  readonly method: string | null;
  /** Path and query without signatures. For SMB, the path below the share. */
  readonly target: string | null;
  readonly status: number;
  readonly code: string | null;
  readonly auth: AuthKind;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly remoteAddress: string;
  readonly agent: string | null;
  /** What the client demanded of the object: `If-Match: "0x8D…"`. */
  readonly conditions: readonly string[];
  readonly leaseId: string | null;
  /** Of a write: its other headers that say what to do, without secrets: `x-ms-blob-type: …`. */
  readonly headers: readonly string[];
  /** The ETag in the answer. */
  readonly etag: string | null;
  /** Of a condition that was not met: the ETag that the object had, as far as it is remembered. */
  readonly foundEtag: string | null;
  readonly isWrite: boolean;
}

/** Longer texts of clients are cut. */
const TEXT_CHARS_MAX = 512;

const NONE: readonly string[] = [];
/** SMB commands after which a file may have changed. */
const SMB_WRITES: ReadonlySet<string> = new Set(["Write", "SetInfo", "Create", "Close", "Lock"]);

/** One literal each: this runs for every request while somebody is signed in. */
export function seenRequest(
  outcome: Outcome,
  number: number,
  etagOf: (object: string) => string | null,
): SeenRequest {
  return outcome.service === "smb" ? seenSmb(outcome, number) : seenRest(outcome, number, etagOf);
}

function seenSmb(outcome: SmbOutcome, number: number): SeenRequest {
  const { account, container, path, operation } = outcome;
  return {
    number,
    atMs: outcome.atMs,
    tookMs: outcome.tookMs,
    service: outcome.service,
    operation,
    account,
    container,
    // The File service compares names without case.
    object: `file:${account}/${container}/${(path ?? "").replaceAll("\\", "/")}`.toLowerCase(),
    method: null,
    target: path,
    status: outcome.status,
    code: outcome.code,
    auth: outcome.auth,
    requestBytes: outcome.requestBytes,
    responseBytes: outcome.responseBytes,
    requestId: outcome.requestId,
    clientRequestId: null,
    remoteAddress: outcome.remoteAddress,
    agent: null,
    conditions: NONE,
    leaseId: null,
    headers: NONE,
    etag: null,
    foundEtag: null,
    isWrite: SMB_WRITES.has(operation),
  };
}

function seenRest(
  outcome: RestOutcome,
  number: number,
  etagOf: (object: string) => string | null,
): SeenRequest {
  const { method } = outcome;
  const { agent, conditions, leaseId, etag, headers } = outcome.details();
  const object = objectOf(outcome);
  const isWrite = method !== "GET" && method !== "HEAD" && method !== "OPTIONS";
  return {
    number,
    atMs: outcome.atMs,
    tookMs: outcome.tookMs,
    service: outcome.service,
    operation: outcome.operation,
    account: outcome.account,
    container: outcome.container,
    object,
    method,
    target: outcome.target,
    status: outcome.status,
    code: outcome.code,
    auth: outcome.auth,
    requestBytes: outcome.requestBytes,
    responseBytes: outcome.responseBytes,
    requestId: outcome.requestId,
    clientRequestId: outcome.clientRequestId,
    remoteAddress: outcome.remoteAddress,
    agent: cutOrNull(agent),
    conditions: conditions.length === 0 ? NONE : conditions.map(cut),
    leaseId: cutOrNull(leaseId),
    headers: isWrite ? headers().map(cut) : NONE,
    etag,
    foundEtag: outcome.status === 412 ? etagOf(object) : null,
    isWrite,
  };
}

/** Data Lake and Blob are two ways to the same object. */
function objectOf({ service, account, target }: RestOutcome): string {
  const kind = service === "dfs" ? "blob" : service;
  const text = target ?? "";
  const end = text.indexOf("?");
  const path = decoded(end === -1 ? text : text.slice(0, end));
  const object = path.startsWith(`/${account}/`)
    ? `${kind}:${path.slice(1)}`
    : `${kind}:${account}${path}`;
  return kind === "file" ? object.toLowerCase() : object;
}

function decoded(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function cutOrNull(text: string | null): string | null {
  return text === null ? null : cut(text);
}

function cut(text: string): string {
  return text.length <= TEXT_CHARS_MAX ? text : `${text.slice(0, TEXT_CHARS_MAX)}…`;
}
