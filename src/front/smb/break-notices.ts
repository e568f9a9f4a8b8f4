import { unowned } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";
import type { BreakNotice } from "../../service/file/caches.ts";
import { COMMAND, unaskedHeader } from "./codec/header.ts";
import { writeLeaseBreak, writeOplockBreak } from "./codec/oplock-break.ts";
import type { DurableOpens } from "./durable-opens.ts";
import type { FileOpen } from "./file-open.ts";
import { leaseKeyOf, oplockLevelOf } from "./oplock-level.ts";
import { sealFrame } from "./seal-frame.ts";
import type { Session } from "./session.ts";

const EARLY_MAX = 1_024;

/** Who keeps something of a file, so that they can be told to give it up. */
export class BreakNotices {
  readonly #keepers = new Map<string, Set<FileOpen>>();
  readonly #durables: DurableOpens;
  /** For those who are about to hear that they may keep something. */
  readonly #early = new Map<string, BreakNotice>();

  constructor(durables: DurableOpens) {
    this.#durables = durables;
  }

  add(open: FileOpen): void {
    const owner = nameOf(open.cache);
    if (owner === null) return;
    const keepers = this.#keepers.get(owner) ?? new Set();
    this.#keepers.set(owner, keepers.add(open));
    const early = this.#early.get(owner);
    if (early === undefined) return;
    this.#early.delete(owner);
    // Behind the answer that says what it may keep.
    setImmediate(() => this.tell(early));
  }

  delete(open: FileOpen): void {
    const owner = nameOf(open.cache);
    if (owner === null) return;
    const keepers = this.#keepers.get(owner);
    if (keepers === undefined) this.#early.delete(owner);
    if (!keepers?.delete(open)) return;
    if (keepers.size === 0) this.#keepers.delete(owner);
  }

  tell(notice: BreakNotice): void {
    const owner = notice.owner.toString("hex");
    const keepers = [...(this.#keepers.get(owner) ?? [])];
    const reached = keepers.find(({ session }) => session?.isValid);
    if (reached?.session) send(reached.session, bodyOf(notice, reached));
    else if (keepers.length === 0) this.#keepEarly(owner, notice);
    // Who has lost the connection has lost what it kept, too.
    else for (const open of keepers) this.#durables.yield(open);
  }

  /** Some never come, because opening fails behind the grant: the oldest are forgotten. */
  #keepEarly(owner: string, notice: BreakNotice): void {
    this.#early.set(owner, notice);
    const [oldest] = this.#early.keys();
    if (this.#early.size > EARLY_MAX && oldest !== undefined) this.#early.delete(oldest);
  }
}

function nameOf(cache: Bytes): string | null {
  return cache.length === 0 ? null : cache.toString("hex");
}

function bodyOf({ kind, owner, from, to, mustAnswer, epoch }: BreakNotice, open: FileOpen): Bytes {
  if (kind === "oplock") return writeOplockBreak(oplockLevelOf(to), open.fileId);
  return writeLeaseBreak({ key: leaseKeyOf(owner), from, to, mustAnswer, epoch });
}

/** Nobody asked for it, so nobody would know whether to expect a signature. */
function send(session: Session, body: Bytes): void {
  const message = Buffer.concat([unaskedHeader(COMMAND.oplockBreak), body]);
  const { wire } = session.connection;
  if (session.sealer !== null && (session.isSealing || session.encryptionRequired)) {
    wire.send(sealFrame(session, unowned([message])));
  } else {
    wire.send(unowned([message]));
  }
}
