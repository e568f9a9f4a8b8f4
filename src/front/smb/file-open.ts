import type { HandleAsked } from "../../service/file/admit-handle.ts";
import { closeHandle } from "../../service/file/close-handle.ts";
import type { ShareAddress } from "../../service/file/context.ts";
import type { FileId } from "./codec/file-id.ts";
import { STATUS, StatusError } from "./nt-status.ts";
import { OpenBase } from "./open.ts";
import type { SmbServer } from "./smb-server.ts";

export interface FileOpenParts {
  readonly server: SmbServer;
  readonly fileId: FileId;
  readonly treeId: number;
  readonly at: ShareAddress;
  readonly item: bigint;
  readonly handle: bigint;
  readonly isDirectory: boolean;
  readonly granted: number;
  readonly mode: number;
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
  /** What the service knows the handle by. */
  readonly asked: HandleAsked;
  mode: number;
  position = 0n;
  scan: Scan | null = null;
  /** Whether the client sets the time of the last write itself, so that writes leave it alone. */
  preservesWritten = false;
  readonly #server: SmbServer;

  constructor(parts: FileOpenParts) {
    super(parts.fileId, parts.treeId);
    this.#server = parts.server;
    this.isDirectory = parts.isDirectory;
    this.granted = parts.granted;
    this.mode = parts.mode;
    this.asked = { at: parts.at, item: parts.item, handle: parts.handle };
  }

  /** The same for all opens of one file. */
  get file(): string {
    const { at, item } = this.asked;
    return `${at.account}/${at.share}/${item}`;
  }

  /** Refuses what was not granted when it was opened. Of several bits one suffices. */
  expect(access: number): void {
    if ((this.granted & access) === 0) throw new StatusError(STATUS.ACCESS_DENIED);
  }

  async close(): Promise<void> {
    await closeHandle(this.#server.options.files, this.asked);
    this.#server.lockWaits.wake(this.file);
  }
}
