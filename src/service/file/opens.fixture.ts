import assert from "node:assert/strict";
import { ManualClock } from "../../base/clock.ts";
import { Fault, type FaultCode } from "../../base/fault.ts";
import { SPACE } from "../../base/keys.ts";
import { DELETE, READ, WRITE } from "../../rules/share-mode.ts";
import {
  type DataOptions,
  openServiceData,
  type ServiceData,
} from "../shared/service-data.fixture.ts";
import type { HandleAsked } from "./admit-handle.ts";
import { CacheBreaks, systemTimer } from "./cache-breaks.ts";
import { closeHandle } from "./close-handle.ts";
import type { ShareContext } from "./context.ts";
import { Files as ClosedFiles } from "./files.fixture.ts";
import { NO_SETTINGS } from "./item-settings.ts";
import { type OpenFile, type OpenFileDone, openFile } from "./open-file.ts";
import { EPHEMERAL_SPACES } from "./open-records.ts";
import { setDeletePending } from "./set-delete-pending.ts";
import { type WatchedFiles, WatchedStore } from "./watched-store.ts";

export const ALL = READ | WRITE | DELETE;
export const EPOCH = 7n;

interface WatchedContext extends ShareContext, WatchedFiles {
  readonly store: WatchedStore;
}

/** A share in its own store, for tests of open files. */
export class Files extends ClosedFiles<WatchedContext> {
  static override async open(options?: DataOptions): Promise<Files> {
    const clock = new ManualClock(1_700_000_000_000);
    const { all } = await openServiceData(clock, options);
    return Files.#on(clock, all.map(contextOn));
  }

  /** On one front end, which breaks the caches of its clients in this way. */
  static async openWith(breaks: CacheBreaks): Promise<Files> {
    const clock = new ManualClock(1_700_000_000_000);
    const { store, contents } = (await openServiceData(clock, { alone: true })).next();
    const watched = new WatchedStore(store);
    return Files.#on(clock, [{ store: watched, contents, breaks, settingsByAccount: new Map() }]);
  }

  static async #on(clock: ManualClock, contexts: readonly WatchedContext[]): Promise<Files> {
    const files = new Files(clock, contexts);
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

function contextOn({ store, contents, member }: ServiceData): WatchedContext {
  const peers = member?.messages;
  const breaks = new CacheBreaks(systemTimer, peers);
  const watched = new WatchedStore(store, peers);
  return { store: watched, contents, breaks, settingsByAccount: new Map() };
}

export function refused(code: FaultCode): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof Fault, String(error));
    assert.equal(error.code, code);
    return true;
  };
}
