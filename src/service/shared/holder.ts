import type { Instant } from "../../base/clock.ts";

/** The holder of something that others may be waiting for, and where it is. */
export interface Holder {
  readonly account: string;
  /** The container, queue or share; "" for a session. */
  readonly container: string;
  /** The blob or file in it; "" for the container itself. */
  readonly path: string;
  readonly held: Held;
}

export interface HolderList {
  readonly holders: readonly Holder[];
  /** When the scan behind this list ended; null if the first one is still under way. */
  readonly atMs: Instant | null;
  /** Whether there are more holders than a list shows. */
  readonly isCut: boolean;
}

export type Held =
  | HeldLease
  | HeldSession
  | HeldHandle
  | HeldLock
  | HeldCache
  | HiddenMessage
  | RunningCopy
  | DeletePending;

export interface HeldLease {
  readonly kind: "lease";
  readonly object: "blob" | "container" | "share" | "file";
  readonly id: string;
  readonly state: "leased" | "breaking";
  /** -1 for an infinite lease. */
  readonly durationSeconds: number;
  /** When it ends by itself; null if it does not. */
  readonly untilMs: Instant | null;
}

/** An SMB client that is logged on. Its account is all that its place tells. */
export interface HeldSession {
  readonly kind: "session";
  readonly id: string;
  readonly clientIp: string;
  /** `3.1.1` */
  readonly dialect: string | null;
  readonly isEncrypted: boolean;
  /** What it has open: files, directories and pipes. */
  readonly opens: number;
  readonly beganMs: Instant;
}

/** A use of a file: what a handle permits itself, or others. */
export type HeldUse = "read" | "write" | "delete";

/** A file or directory that an SMB client has open. */
export interface HeldHandle {
  readonly kind: "handle";
  /** As REST writes it in a list of handles. */
  readonly id: string;
  readonly sessionId: string;
  readonly clientIp: string;
  readonly access: readonly HeldUse[];
  /** What others may do meanwhile. */
  readonly shareMode: readonly HeldUse[];
  readonly isDirectory: boolean;
  readonly deletesOnClose: boolean;
  readonly openedMs: Instant;
}

/** A byte range that an SMB client has locked. */
export interface HeldLock {
  readonly kind: "lock";
  /** The handle that it ends with. */
  readonly handle: string;
  /** In decimal: ranges go up to 2^64. */
  readonly offset: string;
  readonly length: string;
  readonly isExclusive: boolean;
}

/** An oplock, or a lease of SMB: the right of a client to cache a file. */
export interface HeldCache {
  readonly kind: "cache";
  readonly form: "oplock" | "lease";
  /** What may be cached: `R`, `RH`, `RWH`… */
  readonly rights: string;
  readonly isBreaking: boolean;
  readonly handles: number;
}

/** A message that was handed out, or put to be seen later. */
export interface HiddenMessage {
  readonly kind: "message";
  readonly id: string;
  /** Makes an update possible in the name of the client that got the message. */
  readonly popReceipt: string;
  readonly dequeueCount: number;
  readonly putMs: Instant;
  /** When it was hidden: the age of the pop receipt counts from here. */
  readonly sinceMs: Instant;
  readonly untilMs: Instant;
}

export interface RunningCopy {
  readonly kind: "copy";
  readonly object: "blob" | "file";
  readonly id: string;
  readonly source: string;
  readonly bytesDone: number;
  readonly bytesTotal: number;
}

/** A file that is deleted when its last handle closes. */
export interface DeletePending {
  readonly kind: "deletePending";
  readonly isDirectory: boolean;
}
