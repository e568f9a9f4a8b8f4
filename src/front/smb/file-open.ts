import type { Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import type { MemoryBudget } from "../../base/memory-budget.ts";
import type { HandleAsked } from "../../service/file/admit-handle.ts";
import { type CloseHandleDone, closeHandle } from "../../service/file/close-handle.ts";
import type { FileContext, ShareAddress } from "../../service/file/context.ts";
import { getOpenItem } from "../../service/file/get-open-item.ts";
import { ReadAhead } from "../../service/file/read-ahead.ts";
import { setOpenItem } from "../../service/file/set-open-item.ts";
import type { FileId } from "./codec/file-id.ts";
import type { Durability } from "./durability.ts";
import type { SmbLimits } from "./limits.ts";
import { STATUS, StatusError } from "./nt-status.ts";
import { OpenBase } from "./open-base.ts";
import type { OpenNames } from "./open-names.ts";
import type { UnclosedHandles } from "./unclosed-handles.ts";
import type { Watch } from "./watch.ts";
import { WriteTime } from "./write-time.ts";

const WRITTEN_NOW = {
  attributes: null,
  created: null,
  accessed: null,
  written: "now",
  changed: null,
} as const;

/** Sequence numbers wrap around: one further ahead than this counts as older. */
const SEQUENCE_AHEAD_MAX = 0x7fff;
/** The length of an oplock's owner; a lease's owner is longer. */
const HANDLE_OWNER_BYTES = 8;

/** Where an open's share is served, as far as the open needs it. */
export interface FileOpenHost {
  readonly files: FileContext;
  readonly limits: SmbLimits;
  readonly readAheadBudget: MemoryBudget;
  readonly unclosed: UnclosedHandles;
  /** Takes a closed open off every list in which others find it. */
  unregister(open: FileOpen): void;
}

/** The session of an open: the way to its client. */
export interface OpenSession {
  /** False before the log-on, and after the session is closed. */
  readonly isValid: boolean;
  /** Sends a message that answers no request. */
  notify(message: Bytes): void;
  /** Closes an open once only `uses` requests still use it. */
  closeOpen(open: FileOpen, uses: number): Promise<void>;
}

export interface FileOpenParts {
  readonly fileId: FileId;
  readonly treeId: number;
  readonly at: ShareAddress;
  /** The share's id. */
  readonly share: bigint;
  readonly item: bigint;
  readonly handle: bigint;
  /** The epoch of the handle: it is not ours any more if another front end takes it over. */
  readonly epoch: bigint;
  readonly isDirectory: boolean;
  readonly granted: number;
  readonly mode: number;
  readonly session: OpenSession | null;
  /** The owner of the client's oplock or lease; empty if it has none. */
  readonly cache: Bytes;
  readonly durability: Durability | null;
  readonly names: OpenNames | null;
  /** What opening did, as the response states it. */
  readonly action: number;
}

/** The position of a client in a directory listing. */
export interface Scan {
  readonly pattern: string;
  /** How many of `.` and `..` have been listed. */
  dots: number;
  /** The last listed name; null before the first. */
  after: string | null;
  isAtEnd: boolean;
  /** Whether anything was found, which decides the status at the end. */
  hasFound: boolean;
}

/** A file or directory that a client has open: its handle in the store, and SMB's own state. */
export class FileOpen extends OpenBase {
  readonly kind = "file";
  readonly isDirectory: boolean;
  readonly granted: number;
  readonly share: bigint;
  /** The address of the handle for the service. */
  readonly asked: Required<HandleAsked>;
  readonly cache: Bytes;
  /** The path by which its client opened it, for logs; null for one of the process before. */
  openedAs: string | null = null;
  /** Null if the open ends with its connection. */
  readonly durability: Durability | null;
  /** Null if the client gave no names. */
  readonly names: OpenNames | null;
  readonly action: number;
  /** The last sequence number of each slot, by which repeated LOCK requests are recognized. */
  readonly lockSequences = new Map<number, number>();
  /** Null after a restart of the server, until the client reconnects. */
  session: OpenSession | null;
  mode: number;
  position = 0n;
  scan: Scan | null = null;
  /** Set by the first CHANGE_NOTIFY. */
  watch: Watch | null = null;
  /** The result of closing, once it is closed. */
  closed: CloseHandleDone | null = null;
  readonly writeTime: WriteTime;
  /** Reads ahead for this client. */
  readonly ahead: ReadAhead;
  #channelSequence = 0;
  readonly #host: FileOpenHost;

  constructor(host: FileOpenHost, parts: FileOpenParts) {
    super(parts.fileId, parts.treeId);
    this.#host = host;
    this.isDirectory = parts.isDirectory;
    this.granted = parts.granted;
    this.share = parts.share;
    this.mode = parts.mode;
    this.session = parts.session;
    this.cache = parts.cache;
    this.durability = parts.durability;
    this.names = parts.names;
    this.action = parts.action;
    const { at, item, handle, epoch } = parts;
    this.asked = { at, item, handle, epoch };
    const { files, limits } = host;
    this.ahead = new ReadAhead(limits.readAheadMs, host.readAheadBudget);
    this.writeTime = new WriteTime(async () => {
      await setOpenItem(files, { ...this.asked, settings: WRITTEN_NOW });
    }, limits.writeTimeMs);
  }

  /** False for a request that was sent before the client lost a connection. */
  follow(channelSequence: number): boolean {
    const ahead = (channelSequence - this.#channelSequence) & 0xffff;
    if (ahead > SEQUENCE_AHEAD_MAX) return false;
    this.#channelSequence = channelSequence;
    return true;
  }

  get hasLease(): boolean {
    return this.cache.length > HANDLE_OWNER_BYTES;
  }

  /** Refuses access that was not granted when it was opened. Any one of the bits suffices. */
  expect(access: number): void {
    if ((this.granted & access) === 0) throw new StatusError(STATUS.ACCESS_DENIED);
  }

  /** Moves the open to the session in which its client reconnected. */
  attach(session: OpenSession, treeId: number): void {
    this.session = session;
    this.treeId = treeId;
  }

  /** Its current path, which a rename may have changed; null if it was closed meanwhile. */
  async path(): Promise<string | null> {
    try {
      return (await getOpenItem(this.#host.files, this.asked)).path;
    } catch (error) {
      if (error instanceof Fault) return null;
      throw error;
    }
  }

  async close(): Promise<void> {
    this.watch?.stop();
    this.ahead.drop();
    this.#host.unregister(this);
    // Opens in a snapshot have no handle.
    if (this.asked.at.snapshot !== null) return;
    const { files, unclosed } = this.#host;
    const isWritten = this.writeTime.end();
    try {
      this.closed = await closeHandle(files, this.asked, isWritten);
    } catch (error) {
      unclosed.closeAfter(error, this.asked, isWritten);
      throw error;
    }
  }
}
