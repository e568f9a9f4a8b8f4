import type { FileChange } from "../../service/file/file-changes.ts";
import type { WatchedStore } from "../../service/file/watched-store.ts";
import { NOTICE, type Notice, noticeBytes } from "./codec/change-notify.ts";
import { NOTICES_BYTES_MAX } from "./limits.ts";
import { noticesOf, type Watching } from "./notices.ts";

/**
 * The result of a wait for changes:
 * - notices: the changes since the last response; null if there were too many.
 * - doomed: the directory is about to be deleted.
 * - closed: the handle was closed elsewhere, or deleted with its share.
 * - aborted: the request was cancelled.
 */
export type News =
  | { readonly kind: "notices"; readonly notices: readonly Notice[] | null }
  | { readonly kind: "doomed" }
  | { readonly kind: "closed" }
  | { readonly kind: "aborted" };

/** The open directory that is watched. */
interface WatchedOpen {
  /** The share's id. */
  readonly share: bigint;
  readonly asked: { readonly handle: bigint };
}

/** Collects the changes in a directory, from a client's first CHANGE_NOTIFY until it closes it. */
export class Watch {
  readonly #watching: Watching;
  readonly #handle: bigint;
  readonly #bytesMax: number;
  readonly #waiting = new Set<(news: News) => void>();
  #notices: Notice[] = [];
  #bytes = 0;
  #isTooMuch = false;
  /** The final result, for all further requests. */
  #end: News | null = null;
  readonly stop: () => void;

  constructor(changes: WatchedStore, open: WatchedOpen, watching: Watching, bytesMax: number) {
    this.#watching = watching;
    this.#handle = open.asked.handle;
    this.#bytesMax = Math.min(bytesMax, NOTICES_BYTES_MAX);
    this.stop = changes.watch(open.share, (happened) => this.#note(happened));
  }

  /** The news so far; null if there are none, or if another request waits for them. */
  now(): News | null {
    if (this.#end !== null) return this.#end;
    return this.#waiting.size === 0 && this.#hasNews ? this.#take() : null;
  }

  /** Waits for news, after all requests that wait already. */
  next(signals: readonly AbortSignal[]): Promise<News> {
    return new Promise((resolve) => {
      const done = (news: News) => {
        this.#waiting.delete(done);
        for (const signal of signals) signal.removeEventListener("abort", abort);
        resolve(news);
      };
      const abort = () => done({ kind: "aborted" });
      this.#waiting.add(done);
      for (const signal of signals) {
        if (signal.aborted) abort();
        else signal.addEventListener("abort", abort);
      }
    });
  }

  get #hasNews(): boolean {
    return this.#isTooMuch || this.#notices.length > 0;
  }

  #note(happened: readonly FileChange[]): void {
    for (const change of happened) {
      this.#end ??= this.#endBy(change);
      for (const notice of noticesOf(this.#watching, change)) this.#add(notice);
    }
    if (this.#end !== null) {
      for (const done of [...this.#waiting]) done(this.#end);
      return;
    }
    const [first] = this.#waiting;
    if (first !== undefined && this.#hasNews) first(this.#take());
  }

  #endBy(change: FileChange): News | null {
    if (change.kind === "shareRemoved") return { kind: "closed" };
    if (!("id" in change) || change.id !== this.#watching.directory) return null;
    if (change.kind === "doomed") return { kind: "doomed" };
    return change.kind === "closed" && change.handle === this.#handle ? { kind: "closed" } : null;
  }

  #add(notice: Notice): void {
    const last = this.#notices.at(-1);
    const isSaid = notice.action === NOTICE.modified && last?.action === NOTICE.modified;
    if (this.#isTooMuch || (isSaid && last.name === notice.name)) return;
    this.#notices.push(notice);
    this.#bytes += noticeBytes(notice);
    if (this.#bytes <= this.#bytesMax) return;
    this.#notices = [];
    this.#isTooMuch = true;
  }

  #take(): News {
    const notices = this.#isTooMuch ? null : this.#notices;
    this.#notices = [];
    this.#bytes = 0;
    this.#isTooMuch = false;
    return { kind: "notices", notices };
  }
}
