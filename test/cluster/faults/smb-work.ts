import type { ShareFileClient } from "@azure/storage-file-share";
import { ntStatusName, STATUS } from "../../../src/front/smb/nt-status.ts";
import type { SmbHandle } from "../../smb/smb-files.ts";
import type { Clients, FrontEndState } from "./clients.ts";
import { type FrontEndSeen, type Hold, Holds } from "./holds.ts";
import type { Outcome } from "./outcome.ts";
import { headIn, SharedLines } from "./shared-lines.ts";
import { SmbSession } from "./smb-session.ts";
import { ask, askUntilDone, pause, type Round, type Work } from "./work.ts";

const HOLDERS = 3;
const LINES_PER_OPEN = 2;
/** Between the lines of a client that keeps the file open. */
const LINE_PAUSE_MS = 400;
const REST_PAUSE_MS = 150;
/** A dead leader is followed after 30 s; the next one gives everybody 30 s more. */
const FREE_MS_MAX = 90_000;
const CONFLICT = 409;
const REFUSED: readonly number[] = [
  STATUS.SHARING_VIOLATION,
  STATUS.LOCK_NOT_GRANTED,
  // To a lock: the front end has ended its handles since the open.
  STATUS.FILE_CLOSED,
];

export interface SmbPlan {
  readonly name: string;
  /** What keeps others away: a share mode that denies everything, or a lock of the whole file. */
  readonly guard: "share" | "lock";
  /** The front end at which one client keeps the file; null if all of them open it briefly. */
  readonly home: number | null;
}

/** Files that clients open briefly, and one that a client keeps open at each front end. */
export function smbPlans(seed: number, frontEnds: number): readonly SmbPlan[] {
  const open = Array.from({ length: frontEnds }, (_, home): SmbPlan => {
    return { name: `open-${home}`, guard: (seed + home) % 2 === 0 ? "share" : "lock", home };
  });
  const briefly = (["share", "lock"] as const).map((guard): SmbPlan => {
    return { name: `brief-by-${guard}`, guard, home: null };
  });
  return [...briefly, ...open];
}

/**
 * SMB clients append lines to a file that each of them has to itself. REST clients read it, and
 * write its head. While one client has the file, all others are refused at every front end; who
 * gets it sees everything that was acknowledged.
 */
export class SmbFile implements Work {
  readonly holds: Holds;
  readonly #round: Round;
  readonly #plan: SmbPlan;
  readonly #lines: SharedLines;

  constructor(round: Round, plan: SmbPlan) {
    const object = (what: string) => round.object(`${plan.name}: ${what}`);
    this.#round = round;
    this.#plan = plan;
    this.#lines = new SharedLines(plan.name, object);
    this.holds = new Holds({
      nowMs: () => performance.now(),
      object,
    });
  }

  async prepare(): Promise<void> {
    const share = (to: Clients) => to.shares.getShareClient(this.#share);
    await askUntilDone(this.#round, (to, abortSignal) => share(to).create({ abortSignal }), true);
    const first = this.#lines.nextHead();
    await askUntilDone(this.#round, (to, abortSignal) =>
      this.#file(to).create(first.text.length, { abortSignal }),
    );
    await askUntilDone(this.#round, (to, abortSignal) =>
      this.#file(to).uploadRange(first.text, 0, first.text.length, { abortSignal }),
    );
    first.done();
  }

  get workers() {
    const holders = Array.from({ length: HOLDERS }, (_, at) => () => this.#work(at === 0));
    return [...holders, () => this.#useByRest()];
  }

  /** Whether a client has had the file to itself. */
  get isInUse(): boolean {
    return this.#lines.count > 0;
  }

  /** The file must come free, whoever died with it, and have all that was acknowledged. */
  async check(): Promise<void> {
    const sessions = new Sessions(this.#round, this.#share);
    const untilMs = performance.now() + FREE_MS_MAX;
    while (!(await this.#useAlone(await sessions.at(this.#round.clients.any), () => false))) {
      if (performance.now() > untilMs) {
        this.#round.object(`${this.#plan.name}: nobody can have the file any more`);
        break;
      }
      await pause(REST_PAUSE_MS);
    }
    sessions.end();
  }

  async #work(isFirst: boolean): Promise<void> {
    const sessions = new Sessions(this.#round, this.#share);
    const waits = this.#plan.home !== null && !isFirst;
    while (waits && this.#lines.count === 0 && !this.#round.isOver) await pause();
    while (!this.#round.isOver) {
      let lines = 0;
      const goesOn = () =>
        !this.#round.isOver && (this.#plan.home !== null || ++lines <= LINES_PER_OPEN);
      await this.#useAlone(await sessions.at(this.#choose(isFirst)), goesOn);
      await pause(this.#plan.home === null ? undefined : REST_PAUSE_MS);
    }
    sessions.end();
  }

  #choose(isFirst: boolean): Clients {
    const { all, any } = this.#round.clients;
    const home = this.#plan.home === null || !isFirst ? undefined : all[this.#plan.home];
    return home?.state.trouble === "none" ? home : any;
  }

  /** Gets the file, appends lines, and gives it up. False if it did not get the file, or lost it. */
  async #useAlone(session: SmbSession | null, goesOn: () => boolean): Promise<boolean> {
    const held = session === null ? null : await this.#get(session);
    if (session === null || held === null) return false;
    if (!(await this.#append(held, goesOn))) {
      if (held.isGivenUp) held.hold.ending();
      else this.holds.lost(held.hold, held.why);
      session.end();
      return false;
    }
    held.hold.ending();
    if (this.#plan.guard === "lock" && this.#lines.count % 2 === 0) {
      await session.unlock(held.handle);
    }
    await session.close(held.handle);
    return true;
  }

  async #get(session: SmbSession): Promise<Held | null> {
    const isLock = this.#plan.guard === "lock";
    const opened = await session.open(this.#plan.name, isLock ? "all" : "none");
    if (opened.kind !== "done") return this.#notGot(session, opened);
    const waits = this.#plan.home === null && this.#lines.count % 2 === 0;
    const locked = isLock ? await session.lock(opened.value, waits) : opened;
    if (locked.kind !== "done") {
      await session.close(opened.value);
      return this.#notGot(session, locked);
    }
    const { state } = session.to;
    const by = `an exclusive ${isLock ? "lock" : "open"} at ${state.name}`;
    return new Held(
      session,
      opened.value,
      this.holds.begin(by, () => seen(state), session.sentMs),
    );
  }

  #notGot(session: SmbSession, outcome: Outcome<unknown>): null {
    if (outcome.kind === "refused" && !REFUSED.includes(outcome.status)) {
      this.#round.object(`${this.#plan.name}: ${ntStatusName(outcome.status)} to an open or lock`);
    }
    // The file may be open after all, until the connection is closed.
    if (outcome.kind === "unknown") session.end();
    return null;
  }

  /** False if it lost the file meanwhile. */
  async #append(held: Held, goesOn: () => boolean): Promise<boolean> {
    const floor = this.#lines.floor();
    const whole = await held.use((session, handle) => session.readAll(handle));
    if (whole.kind !== "done") return false;
    this.#lines.see(whole.value, floor, `an SMB read at ${held.at}`);
    for (let end = whole.value.length; goesOn(); ) {
      const line = this.#lines.nextLine();
      const written = await held.use((session, handle) => session.write(handle, end, line.text));
      if (written.kind === "refused") line.refused();
      if (written.kind !== "done") return false;
      const flushed = await held.use((session, handle) => session.flush(handle));
      if (flushed.kind !== "done") return false;
      line.done();
      end += line.text.length;
      await pause(this.#plan.home === null ? undefined : LINE_PAUSE_MS);
    }
    const last = await held.use((session, handle) => session.readAll(handle));
    if (last.kind !== "done") return false;
    // The file was not free, so no other client may have written since the first read.
    if (headIn(last.value) !== headIn(whole.value)) {
      this.#round.object(
        `${this.#plan.name}: a REST write took effect while a client had the file`,
      );
    }
    return true;
  }

  /** REST requests at all front ends, which are refused while a client has the file. */
  async #useByRest(): Promise<void> {
    while (!this.#round.isOver) {
      await this.#readByRest();
      await pause(REST_PAUSE_MS);
      await this.#writeByRest();
      await pause(REST_PAUSE_MS);
    }
  }

  async #readByRest(): Promise<void> {
    let sentMs = 0;
    let floor = this.#lines.floor();
    const read = await ask(this.#round, (to, abortSignal) => {
      sentMs = performance.now();
      floor = this.#lines.floor();
      return this.#file(to).downloadToBuffer(0, undefined, { abortSignal });
    });
    if (read.kind === "refused") this.#expectConflict(read.status, "read");
    if (read.kind !== "done") return;
    this.holds.used("a REST read", sentMs);
    this.#lines.see(read.value, floor, "a REST read");
  }

  async #writeByRest(): Promise<void> {
    const head = this.#lines.nextHead();
    let sentMs = 0;
    const written = await ask(this.#round, (to, abortSignal) => {
      sentMs = performance.now();
      return this.#file(to).uploadRange(head.text, 0, head.text.length, { abortSignal });
    });
    if (written.kind === "refused") {
      head.refused();
      this.#expectConflict(written.status, "write");
    }
    if (written.kind !== "done") return;
    head.done();
    this.holds.used("a REST write", sentMs);
  }

  #expectConflict(status: number, what: string): void {
    if (status !== CONFLICT) this.#round.object(`${this.#plan.name}: ${status} to a REST ${what}`);
  }

  get #share(): string {
    return `smb-${this.#round.name}`;
  }

  #file(to: Clients): ShareFileClient {
    const share = to.shares.getShareClient(this.#share);
    return share.rootDirectoryClient.getFileClient(this.#plan.name);
  }
}

function seen({ trouble, gaps }: FrontEndState): FrontEndSeen {
  return { trouble, outageMs: gaps.longestMs };
}

/** A file that one client has to itself. */
class Held {
  readonly session: SmbSession;
  readonly handle: SmbHandle;
  readonly hold: Hold;
  /** How it was lost. */
  why = "";
  /** It may be good, but a write has no known outcome. */
  isGivenUp = false;

  constructor(session: SmbSession, handle: SmbHandle, hold: Hold) {
    this.session = session;
    this.handle = handle;
    this.hold = hold;
  }

  /** The name of the front end. */
  get at(): string {
    return this.session.to.state.name;
  }

  /** Sends a request by it. What did not take effect is sent again, until the connection ends. */
  async use<T>(
    call: (session: SmbSession, handle: SmbHandle) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    for (;;) {
      const outcome = await call(this.session, this.handle);
      if (outcome.kind === "done") this.hold.succeeded(this.session.sentMs);
      if (outcome.kind === "refused") this.why = ntStatusName(outcome.status);
      this.isGivenUp = outcome.kind === "unknown" && this.session.isOpen;
      if (outcome.kind === "unknown") this.why = `the end of a connection to ${this.at}`;
      if (outcome.kind !== "busy") return outcome;
      await pause();
    }
  }
}

/** The connections of one worker. */
class Sessions {
  readonly #round: Round;
  readonly #share: string;
  readonly #open = new Map<Clients, SmbSession>();

  constructor(round: Round, share: string) {
    this.#round = round;
    this.#share = share;
  }

  /** Null if the front end takes none. */
  async at(to: Clients): Promise<SmbSession | null> {
    const open = this.#open.get(to);
    if (open?.isOpen) return open;
    const session = await SmbSession.connect(to, this.#share, () => {
      this.#round.gaps.succeeded("SMB");
      to.state.gaps.succeeded("SMB");
    }).catch(() => null);
    if (session !== null) this.#open.set(to, session);
    return session;
  }

  end(): void {
    for (const session of this.#open.values()) session.end();
  }
}
