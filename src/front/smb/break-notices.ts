import type { Bytes } from "../../base/bytes.ts";
import type { BreakNotice } from "../../service/file/caches.ts";
import { COMMAND, unaskedHeader } from "./codec/header.ts";
import { writeLeaseBreak, writeOplockBreak } from "./codec/oplock-break.ts";
import type { DurableOpens } from "./durable-opens.ts";
import type { FileOpen } from "./file-open.ts";
import { leaseKeyOf, oplockLevelOf } from "./oplock-level.ts";

const EARLY_MAX = 1_024;

/** Sends oplock and lease breaks to the clients that cache a file. */
export class BreakNotices {
  readonly #cachingOpens = new Map<string, Set<FileOpen>>();
  readonly #durables: DurableOpens;
  /** Breaks for clients whose grant has not been sent yet. */
  readonly #early = new Map<string, BreakNotice>();

  constructor(durables: DurableOpens) {
    this.#durables = durables;
  }

  add(open: FileOpen): void {
    const owner = nameOf(open.cache);
    if (owner === null) return;
    const opens = this.#cachingOpens.get(owner) ?? new Set();
    this.#cachingOpens.set(owner, opens.add(open));
    const early = this.#early.get(owner);
    if (early === undefined) return;
    this.#early.delete(owner);
    // After the response that grants the caching.
    setImmediate(() => this.notify(early));
  }

  delete(open: FileOpen): void {
    const owner = nameOf(open.cache);
    if (owner === null) return;
    const opens = this.#cachingOpens.get(owner);
    if (opens === undefined) this.#early.delete(owner);
    if (!opens?.delete(open)) return;
    if (opens.size === 0) this.#cachingOpens.delete(owner);
  }

  notify(notice: BreakNotice): void {
    const owner = notice.owner.toString("hex");
    const opens = [...(this.#cachingOpens.get(owner) ?? [])];
    const reached = opens.find(({ session }) => session?.isValid);
    if (reached?.session) reached.session.notify(messageOf(notice, reached));
    else if (opens.length === 0) this.#rememberEarly(owner, notice);
    // A client that has lost its connection has lost its cache, too.
    else for (const open of opens) this.#durables.yield(open);
  }

  /** Forgets the oldest ones: clients whose open fails after the grant never register. */
  #rememberEarly(owner: string, notice: BreakNotice): void {
    this.#early.set(owner, notice);
    const [oldest] = this.#early.keys();
    if (this.#early.size > EARLY_MAX && oldest !== undefined) this.#early.delete(oldest);
  }
}

function nameOf(cache: Bytes): string | null {
  return cache.length === 0 ? null : cache.toString("hex");
}

function messageOf(notice: BreakNotice, open: FileOpen): Bytes {
  return Buffer.concat([unaskedHeader(COMMAND.oplockBreak), bodyOf(notice, open)]);
}

function bodyOf({ kind, owner, from, to, mustAnswer, epoch }: BreakNotice, open: FileOpen): Bytes {
  if (kind === "oplock") return writeOplockBreak(oplockLevelOf(to), open.fileId);
  return writeLeaseBreak({ key: leaseKeyOf(owner), from, to, mustAnswer, epoch });
}
