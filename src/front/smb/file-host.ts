import type { MemoryBudget } from "../../base/memory-budget.ts";
import type { WatchedFiles } from "../../service/file/watched-store.ts";
import { BreakNotices } from "./break-notices.ts";
import { DurableOpens } from "./durable-opens.ts";
import type { FileOpen, FileOpenHost } from "./file-open.ts";
import type { SmbLimits } from "./limits.ts";
import { NamedOpens } from "./named-opens.ts";
import type { SmbLog } from "./smb-log.ts";
import { UnclosedHandles } from "./unclosed-handles.ts";

/** Where the shares of some accounts are stored. */
export interface StoredShares {
  readonly files: WatchedFiles;
  /** The number of this process, with which handles are marked that it opens now. */
  readonly epoch: () => bigint;
  /** Whether other front ends serve the same shares. */
  readonly isShared: boolean;
}

interface HostParts {
  readonly limits: SmbLimits;
  readonly log: SmbLog;
  readonly readAheadBudget: MemoryBudget;
}

/** Small enough for clients that use only 32 bits of an id. */
const TICKS_OF_FILE_ID = 1_000n;

/** The shares of some accounts, and what SMB clients have open in them. */
export class FileHost implements FileOpenHost {
  readonly files: WatchedFiles;
  readonly epoch: () => bigint;
  readonly isShared: boolean;
  readonly limits: SmbLimits;
  readonly readAheadBudget: MemoryBudget;
  readonly breakNotices: BreakNotices;
  readonly durables: DurableOpens;
  readonly namedOpens = new NamedOpens();
  readonly unclosed: UnclosedHandles;
  #fileIds: number;

  constructor(
    { files, epoch, isShared }: StoredShares,
    { limits, log, readAheadBudget }: HostParts,
  ) {
    this.files = files;
    this.epoch = epoch;
    this.isShared = isShared;
    this.limits = limits;
    this.readAheadBudget = readAheadBudget;
    // Far beyond the ids of the process before, with which clients may reconnect.
    this.#fileIds = Number(epoch() / TICKS_OF_FILE_ID);
    this.unclosed = new UnclosedHandles(files);
    this.durables = new DurableOpens(files, limits.durableOpensMax, log);
    this.breakNotices = new BreakNotices(this.durables);
    files.breaks.listen((notice) => this.breakNotices.notify(notice));
  }

  newFileId(): number {
    return ++this.#fileIds;
  }

  /** Adds an open to the lists in which others find it. */
  register(open: FileOpen): void {
    this.breakNotices.add(open);
    this.namedOpens.add(open);
  }

  unregister(open: FileOpen): void {
    this.breakNotices.delete(open);
    this.namedOpens.delete(open);
  }
}
