import assert from "node:assert/strict";
import { type Bytes, wholeBody } from "../../base/bytes.ts";
import { HandClock } from "../../base/clock.ts";
import { Fault, type FaultCode } from "../../base/fault.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { SHARE_QUOTA_GIB_DEFAULT } from "../../base/limits.ts";
import { MemoryExtents } from "../../engine/memory/extents.ts";
import { MemoryStore } from "../../engine/memory/store.ts";
import { OWNER } from "../../rules/access.ts";
import { DELETE, READ, WRITE } from "../../rules/share-mode.ts";
import { StoredContents } from "../../store/stored-contents.ts";
import type { HandleAsked } from "./admit-handle.ts";
import { CacheBreaks } from "./cache-breaks.ts";
import { closeHandle } from "./close-handle.ts";
import type { FileAsked, FileContext, PathAddress } from "./context.ts";
import { createDirectory } from "./create-directory.ts";
import { createFile } from "./create-file.ts";
import { createShare } from "./create-share.ts";
import { getFile } from "./get-file.ts";
import { NO_SETTINGS } from "./item-settings.ts";
import { NO_PROPERTIES, type OpenFile, type OpenFileDone, openFile } from "./open-file.ts";
import { putRange } from "./put-range.ts";
import { setDeletePending } from "./set-delete-pending.ts";
import { WatchedStore } from "./watched-store.ts";

export const ALL = READ | WRITE | DELETE;
export const EPOCH = 7n;

const SHARE = { account: "account", share: "share", snapshot: null };

/** A share in a store of its own, and short words for what tests do with it. */
export class Files {
  readonly clock = new HandClock(1_700_000_000_000);
  readonly store = new WatchedStore(new MemoryStore(this.clock));
  readonly context: FileContext;

  private constructor(breaks: CacheBreaks) {
    const contents = new StoredContents(this.store, new MemoryExtents());
    this.context = { store: this.store, contents, breaks };
  }

  static async open(breaks = new CacheBreaks()): Promise<Files> {
    const files = new Files(breaks);
    await createShare(files.context, {
      at: SHARE,
      access: OWNER,
      metadata: [],
      quotaGib: SHARE_QUOTA_GIB_DEFAULT,
      tier: "TransactionOptimized",
    });
    return files;
  }

  /** `dir/file`; "" for the root. */
  use(path: string): FileAsked {
    const at: PathAddress = {
      ...SHARE,
      path: path.split("/").filter((name) => name !== ""),
      trailingDots: false,
    };
    return { at, access: OWNER, leaseId: null };
  }

  async create(path: string, length = 0, attributes: number | null = null) {
    const { file } = await createFile(this.context, {
      ...this.use(path),
      length,
      settings: { ...NO_SETTINGS, attributes },
      properties: NO_PROPERTIES,
      metadata: [],
      body: null,
      digests: { md5: null, crc64: null },
    });
    return file;
  }

  createDirectory(path: string) {
    return createDirectory(this.context, {
      ...this.use(path),
      settings: NO_SETTINGS,
      metadata: [],
    });
  }

  write(path: string, from: number, text: string) {
    const body = wholeBody(Buffer.from(text));
    return putRange(this.context, {
      ...this.use(path),
      from,
      until: from + body.length,
      preservesWritten: false,
      body,
      digests: { md5: null, crc64: null },
    });
  }

  async read(path: string): Promise<Bytes> {
    const { reading } = await getFile(this.context, {
      ...this.use(path),
      range: null,
      md5: false,
    });
    const parts: Bytes[] = [];
    for await (const part of reading.parts()) parts.push(Buffer.from(part));
    reading.close();
    return Buffer.concat(parts);
  }

  /** To read, sharing everything, if nothing else is said. */
  openDone(path: string, more: Partial<OpenFile> = {}): Promise<OpenFileDone> {
    return openFile(this.context, {
      ...this.use(path),
      disposition: "open",
      kind: null,
      mode: { access: READ, share: ALL },
      deletesOnClose: false,
      settings: NO_SETTINGS,
      opener: { epoch: EPOCH, sessionId: 1n, clientIp: "127.0.0.1" },
      caching: null,
      looksAt: "contents",
      ...more,
    });
  }

  async open(path: string, more: Partial<OpenFile> = {}): Promise<HandleAsked> {
    const { handle, item } = await this.openDone(path, more);
    return { at: SHARE, item: item.id, handle };
  }

  async close(handle: HandleAsked): Promise<void> {
    await closeHandle(this.context, handle);
  }

  mark(handle: HandleAsked, isPending: boolean): Promise<void> {
    return setDeletePending(this.context, { ...handle, isPending });
  }

  /** What is stored of handles and locks. */
  async recordsOfOpens(): Promise<number> {
    const { opens, handle, rangeLock, deletePending, cache, leasedFile } = SPACE;
    const spaces = [opens, handle, rangeLock, deletePending, cache, leasedFile];
    return this.store.read((view) =>
      spaces.reduce((sum, space) => {
        const all = key(space);
        return sum + view.range(all, keyAfter(all), { limit: 1_000 }).length;
      }, 0),
    );
  }
}

export function refused(code: FaultCode): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code);
    return true;
  };
}
