import assert from "node:assert/strict";
import { Fault, type FaultCode } from "../../base/fault.ts";
import { SPACE } from "../../base/keys.ts";
import { MemoryStore } from "../../engine/memory/store.ts";
import { DELETE, READ, WRITE } from "../../rules/share-mode.ts";
import { ForgettingStore } from "../../store/forgetting-store.fixture.ts";
import type { HandleAsked } from "./admit-handle.ts";
import { CacheBreaks } from "./cache-breaks.ts";
import { closeHandle } from "./close-handle.ts";
import { Files as ClosedFiles } from "./files.fixture.ts";
import { NO_SETTINGS } from "./item-settings.ts";
import { type OpenFile, type OpenFileDone, openFile } from "./open-file.ts";
import { EPHEMERAL_SPACES } from "./open-records.ts";
import { setDeletePending } from "./set-delete-pending.ts";
import { WatchedStore } from "./watched-store.ts";

export const ALL = READ | WRITE | DELETE;
export const EPOCH = 7n;

/** A share in its own store, for tests of open files. */
export class Files extends ClosedFiles {
  declare readonly store: WatchedStore;

  private constructor(breaks: CacheBreaks, runsTwice: boolean) {
    super((clock) => {
      const store = new MemoryStore(clock);
      return new WatchedStore(runsTwice ? new ForgettingStore(store) : store);
    }, breaks);
  }

  /** Every body runs twice, except in tests that count what it does. */
  static override async open(breaks = new CacheBreaks(), runsTwice = true): Promise<Files> {
    const files = new Files(breaks, runsTwice);
    await files.createShare();
    return files;
  }

  /** Opens for reading, with all sharing, unless `more` says otherwise. */
  openDone(path: string, more: Partial<OpenFile> = {}): Promise<OpenFileDone> {
    return openFile(this.context, {
      ...this.at(path),
      disposition: "open",
      kind: null,
      mode: { access: READ, share: ALL },
      deletesOnClose: false,
      settings: NO_SETTINGS,
      opener: { epoch: EPOCH, sessionId: 1n, clientIp: "127.0.0.1" },
      caching: null,
      persistent: null,
      looksAt: "contents",
      ...more,
    });
  }

  async open(path: string, more: Partial<OpenFile> = {}): Promise<HandleAsked> {
    const { handle, item } = await this.openDone(path, more);
    return { at: this.share().at, item: item.id, handle };
  }

  async close(handle: HandleAsked): Promise<void> {
    await closeHandle(this.context, handle);
  }

  mark(handle: HandleAsked, isPending: boolean): Promise<void> {
    return setDeletePending(this.context, { ...handle, isPending });
  }

  /** Counts the records of handles and locks. */
  recordsOfOpens(): Promise<number> {
    return this.records([...EPHEMERAL_SPACES, SPACE.persistentHandle]);
  }
}

export function refused(code: FaultCode): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code);
    return true;
  };
}
