import type { Bytes } from "../../base/bytes.ts";
import { Fault } from "../../base/fault.ts";
import type { HandleAsked } from "../../service/file/admit-handle.ts";
import { type CloseHandleDone, closeHandle } from "../../service/file/close-handle.ts";
import type { ShareAddress } from "../../service/file/context.ts";
import { getOpenItem } from "../../service/file/get-open-item.ts";
import { ReadAhead } from "../../service/file/read-ahead.ts";
import { setOpenItem } from "../../service/file/set-open-item.ts";
import type { FileId } from "./codec/file-id.ts";
import type { Durability } from "./durable-opens.ts";
import type { OpenNames } from "./named-opens.ts";
import { STATUS, StatusError } from "./nt-status.ts";
import { OpenBase } from "./open.ts";
import type { Session } from "./session.ts";
import type { SmbServer } from "./smb-server.ts";
import type { Watch } from "./watch.ts";
import { WriteTime } from "./write-time.ts";

const WRITTEN_NOW = {
  attributes: null,
  created: null,
  accessed: null,
  written: "now",
  changed: null,
} as const;

/** The numbers go round: what is further ahead lies behind. */
const SEQUENCE_AHEAD_MAX = 0x7fff;
/** Of what is kept by an oplock; a lease's owner is longer. */
const HANDLE_OWNER_BYTES = 8;

export interface FileOpenParts {
  readonly server: SmbServer;
  readonly fileId: FileId;
  readonly treeId: number;
  readonly at: ShareAddress;
  /** The share's id. */
  readonly share: bigint;
  readonly item: bigint;
  readonly handle: bigint;
  readonly isDirectory: boolean;
  readonly granted: number;
  readonly mode: number;
  readonly session: Session | null;
  /** Whose is what the client keeps of it; empty for nothing. */
  readonly cache: Bytes;
  readonly durability: Durability | null;
  readonly names: OpenNames | null;
  /** What opening did, as the answer says it. */
  readonly action: number;
}

/** How far a client has come through a directory. */
export interface Scan {
  readonly pattern: string;
  /** Of `.` and `..`, those that have been listed. */
  dots: number;
  /** The last name that was listed; null before the first. */
  after: string | null;
  isAtEnd: boolean;
  /** Whether anything was found, which makes the end another answer. */
  hasFound: boolean;
}

/** A file or directory that a client has open: the handle in the store, and what only SMB knows of it. */
export class FileOpen extends OpenBase {
  readonly kind = "file";
  readonly isDirectory: boolean;
  readonly granted: number;
  readonly share: bigint;
  /** What the service knows the handle by. */
  readonly asked: HandleAsked;
  readonly cache: Bytes;
  /** Null if it ends with its connection. */
  readonly durability: Durability | null;
  /** Null if its client gave it none. */
  readonly names: OpenNames | null;
  readonly action: number;
  /** Of locks that the client numbered, so that they can be sent again: the last for each place. */
  readonly lockSequences = new Map<number, number>();
  /** Null until its client comes back, after a restart of the server. */
  session: Session | null;
  mode: number;
  position = 0n;
  scan: Scan | null = null;
  /** Since the client asked for the first time what changes in this directory. */
  watch: Watch | null = null;
  /** What became of it, once it is closed. */
  closed: CloseHandleDone | null = null;
  readonly writeTime: WriteTime;
  /** What its client is likely to read next. */
  readonly ahead: ReadAhead;
  #channelSequence = 0;
  readonly #server: SmbServer;

  constructor(parts: FileOpenParts) {
    super(parts.fileId, parts.treeId);
    this.#server = parts.server;
    this.isDirectory = parts.isDirectory;
    this.granted = parts.granted;
    this.share = parts.share;
    this.mode = parts.mode;
    this.session = parts.session;
    this.cache = parts.cache;
    this.durability = parts.durability;
    this.names = parts.names;
    this.action = parts.action;
    this.asked = { at: parts.at, item: parts.item, handle: parts.handle };
    this.ahead = new ReadAhead(parts.server.options.limits.readAheadMs);
    this.writeTime = new WriteTime(async () => {
      await setOpenItem(parts.server.options.files, { ...this.asked, settings: WRITTEN_NOW });
    }, parts.server.options.limits.writeTimeMs);
  }

  /** False for what was sent before the client lost a connection. */
  follow(channelSequence: number): boolean {
    const ahead = (channelSequence - this.#channelSequence) & 0xffff;
    if (ahead > SEQUENCE_AHEAD_MAX) return false;
    this.#channelSequence = channelSequence;
    return true;
  }

  get hasLease(): boolean {
    return this.cache.length > HANDLE_OWNER_BYTES;
  }

  /** Refuses what was not granted when it was opened. Of several bits one suffices. */
  expect(access: number): void {
    if ((this.granted & access) === 0) throw new StatusError(STATUS.ACCESS_DENIED);
  }

  /** Its client is back, in another session. */
  attach(session: Session, treeId: number): void {
    this.session = session;
    this.treeId = treeId;
  }

  /** Where it lies now, which may be elsewhere than where it was opened; null if it was closed meanwhile. */
  async path(): Promise<string | null> {
    try {
      return (await getOpenItem(this.#server.options.files, this.asked)).path;
    } catch (error) {
      if (error instanceof Fault) return null;
      throw error;
    }
  }

  async close(): Promise<void> {
    this.watch?.stop();
    this.ahead.drop();
    this.#server.breakNotices.delete(this);
    this.#server.namedOpens.delete(this);
    // What a snapshot shows is open without a handle.
    if (this.asked.at.snapshot !== null) return;
    const { files } = this.#server.options;
    this.closed = await closeHandle(files, this.asked, this.writeTime.end());
  }
}
