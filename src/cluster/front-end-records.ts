import type { Bytes } from "../base/bytes.ts";
import type { Instant } from "../base/clock.ts";
import { added, count, format, type RecordOf, text, u64 } from "../base/fields.ts";
import { KeyReader, key, keyAfter, SPACE } from "../base/keys.ts";
import type { Transaction, View } from "../store/store.ts";

/** The records of front ends: the processes that serve the same records. */

const frontEndShape = {
  /** Marks the SMB handles of this front end. It changes if clients lost their handles meanwhile. */
  epoch: u64,
  /** The end of its lease. Others may end it some time later. */
  untilMs: count,
  /** It reads no state from before this stamp was given. */
  readsFrom: u64,
  /** For people: the machine and process, and where it listens. "" until it does. */
  name: added(text, ""),
  address: added(text, ""),
};

const leaderShape = { frontEnd: count, sinceMs: count, untilMs: count };

export type FrontEndRecord = Readonly<RecordOf<typeof frontEndShape>>;
export type LeaderRecord = Readonly<RecordOf<typeof leaderShape>>;

const frontEndFormat = format(1, frontEndShape);
const leaderFormat = format(1, leaderShape);
const endedFormat = format(1, {});

const leaderKey = () => key(SPACE.leader);

export function frontEndKey(number: number): Bytes {
  return key(SPACE.frontEnd, number);
}

/** Null if it does not run: it never began, or others have ended it. */
export function readFrontEnd(view: View, number: number): FrontEndRecord | null {
  const found = view.get(frontEndKey(number));
  return found === undefined ? null : frontEndFormat.decode(found);
}

export function writeFrontEnd(tx: Transaction, number: number, value: FrontEndRecord): void {
  tx.set(frontEndKey(number), frontEndFormat.encode(value));
}

/** All front ends that run, or that nobody has ended yet. */
export function listFrontEnds(view: View): (FrontEndRecord & { readonly number: number })[] {
  const all = key(SPACE.frontEnd);
  return view.range(all, keyAfter(all), { limit: Number.POSITIVE_INFINITY }).map((entry) => ({
    number: new KeyReader(entry.key).number(),
    ...frontEndFormat.decode(entry.value),
  }));
}

/** Ends a front end: from this commit on it can write nothing. The leader cleans up after it. */
export function endFrontEnd(tx: Transaction, number: number): void {
  tx.delete(frontEndKey(number));
  tx.set(key(SPACE.endedFrontEnd, number), endedFormat.encode({}));
}

/** Front ends that have ended, and may have left something behind. */
export function listEnded(view: View): number[] {
  const all = key(SPACE.endedFrontEnd);
  return view
    .range(all, keyAfter(all), { limit: Number.POSITIVE_INFINITY })
    .map((entry) => new KeyReader(entry.key).number());
}

/** Notes that nothing is left of an ended front end. */
export function forgetEnded(tx: Transaction, number: number): void {
  tx.delete(key(SPACE.endedFrontEnd, number));
}

export function readLeader(view: View): LeaderRecord | null {
  const found = view.get(leaderKey());
  return found === undefined ? null : leaderFormat.decode(found);
}

/** A leader that has not renewed its lease for longer may have met an outage, as everybody else. */
const LATE_MS = 10_000;

/** Takes or renews the leader's lease, if it is free. Returns who leads. */
export function renewLeader(
  tx: Transaction,
  frontEnd: number,
  nowMs: Instant,
  untilMs: Instant,
): LeaderRecord {
  const old = readLeader(tx);
  const isOver = old === null || old.untilMs <= nowMs;
  if (!isOver && old.frontEnd !== frontEnd) return old;
  // A leader that is late starts a new term, which gives the others time to come back, too: their
  // leases may be over some seconds before its own.
  const isLate = isOver || old.untilMs < untilMs - LATE_MS;
  const leader = { frontEnd, sinceMs: isLate ? nowMs : old.sinceMs, untilMs };
  tx.set(leaderKey(), leaderFormat.encode(leader));
  return leader;
}

/** Lets another front end lead at once. */
export function resignLeader(tx: Transaction, frontEnd: number): void {
  if (readLeader(tx)?.frontEnd === frontEnd) tx.delete(leaderKey());
}
