// tidy-allow sleep: load runs before, during and after a fault
import { setTimeout as wait } from "node:timers/promises";
import { Random } from "../../sim/random.ts";
import { Counter, Ledger } from "./blob-work.ts";
import { Balancer } from "./clients.ts";
import { DatabaseWatch } from "./database-watch.ts";
import { Entities } from "./entity-work.ts";
import type { FaultBed } from "./fault-bed.ts";
import type { FaultKind } from "./fault-kinds.ts";
import { Probe } from "./probe-work.ts";
import { Messages } from "./queue-work.ts";
import { ServiceGaps } from "./service-gaps.ts";
import { SmbFile, smbPlans } from "./smb-work.ts";
import type { Round, Work } from "./work.ts";

const BEFORE_MS = 3_000;
const AFTER_MS = 3_000;
const BEGUN_MS_MAX = 60_000;
const LOOK_AGAIN_MS = 100;

export interface RoundDone {
  /** Requests that succeeded or were refused. */
  readonly answers: Readonly<Record<"REST" | "SMB", number>>;
  readonly awayMs: number;
  /** The longest time for which a lost open or lock kept others away, since its last use. */
  readonly lostMs: number;
  readonly objections: readonly string[];
  /** What happened to the database meanwhile. */
  readonly database: readonly string[];
  /** Histories without a verdict. */
  readonly undecided: number;
}

/** Lets one thing go wrong under load, then looks whether any promise was broken. */
export async function runRound(
  bed: FaultBed,
  kind: FaultKind,
  name: string,
  seed: number,
): Promise<RoundDone> {
  const objections: string[] = [];
  const random = new Random(seed);
  const all = bed.frontEnds.map(({ clients }) => clients);
  const balancer = new Balancer(all, new Random(seed + 1));
  const state = { isOver: false, gaps: new ServiceGaps() };
  const round: Round = {
    clients: balancer,
    name,
    get gaps() {
      return state.gaps;
    },
    get isOver() {
      return state.isOver;
    },
    object: (what) => void objections.push(what),
  };
  const entities = new Entities(round, seed);
  const files = smbPlans(seed, all.length).map((plan) => new SmbFile(round, plan));
  const works: Work[] = [
    ...[new Ledger(round), new Counter(round), new Messages(round), new Probe(round)],
    ...[entities, ...files],
  ];
  for (const work of works) await work.prepare();
  state.gaps = new ServiceGaps();
  for (const frontEnd of bed.frontEnds) frontEnd.recovered();
  const watch = new DatabaseWatch(bed.database, () => state.gaps);
  const working = works.flatMap(({ workers }) => workers.map((worker) => worker()));
  const failed = Promise.all(working);
  const begun = async () => {
    await wait(BEFORE_MS);
    const untilMs = performance.now() + BEGUN_MS_MAX;
    while (!files.every(({ isInUse }) => isInUse)) {
      if (performance.now() > untilMs) throw new Error("the load does not begin");
      await wait(LOOK_AGAIN_MS);
    }
  };
  await Promise.race([failed, begun()]);
  await Promise.race([failed, kind.happen(bed, random)]);
  // Faults start again what they have killed.
  for (const wrong of await bed.heal()) round.object(wrong);
  await wait(AFTER_MS);
  state.isOver = true;
  const { longestMs: awayMs } = state.gaps;
  const answers = { ...state.gaps.successes };
  await failed;
  await Promise.all(works.map((work) => work.check()));
  balancer.close();
  const database = await watch.end();
  const lostMs = Math.max(...files.map(({ holds }) => holds.longestLostMs));
  return { answers, awayMs, lostMs, objections, database, undecided: entities.undecided };
}
