// tidy-allow sleep: a fault lasts for a while, and load goes on meanwhile
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../../sim/random.ts";
import type { BedFrontEnd, FaultBed } from "./fault-bed.ts";

/** How long something stays stopped or away, if its duration is ours to choose. */
const LASTS_MS = 6_000;
/** Longer than the database lets a front end hold up others; and longer than its lease. */
const FRONT_END_MS = [8_000, 8_000, 37_000];
const HAPPENS_MS_MAX = 4 * 60_000;
const LOOK_AGAIN_MS = 100;
/** All of them together take less time than the database gives a front end. */
const LOOKS_MAX = 10;

/** Something that goes wrong. */
export interface FaultKind {
  readonly what: string;
  /** Why the service is away, for the table. */
  readonly reason: string;
  readonly needsObjects?: true;
  /** Does it. Whatever `FaultBed.heal` does not mend is undone when it resolves. */
  happen(bed: FaultBed, random: Random): Promise<void>;
}

export const FAULT_KINDS: Readonly<Record<string, FaultKind>> = {
  "primary-killed": {
    what: "the primary and its Patroni are killed",
    reason: "Patroni waits for the leader's key to expire (20 s), then promotes the standby",
    async happen({ database }) {
      const primary = await database.primary();
      primary.kill();
      await untilAnother(database, primary.name);
      database.startNode(primary);
    },
  },
  "primary-cut-off": {
    what: "the primary's cable is pulled; it stays alive",
    reason: "as above, and front ends notice after 20 s without an answer",
    async happen({ database }) {
      const primary = await database.primary();
      primary.cut();
      await untilAnother(database, primary.name);
      // It must be on its own for a while, although others have gone on.
      await wait(LASTS_MS);
      primary.mend();
    },
  },
  "front-end-killed": {
    what: "a front end is killed",
    reason: "none: the others go on",
    async happen({ frontEnds }, random) {
      const one = random.pick(frontEnds);
      await one.kill();
      await wait(LASTS_MS);
      await one.start();
    },
  },
  "front-end-stopped": {
    what: "a front end is stopped while it holds the commit order",
    reason: "the database ends its transaction after 5 s",
    async happen(bed, random) {
      const one = random.pick(bed.frontEnds);
      await stopWithOrder(bed, one);
      await wait(random.pick(FRONT_END_MS));
      one.goOn();
    },
  },
  "front-end-cut-off": {
    what: "a front end's cable is pulled",
    reason: "if it held the commit order, the database ends its transaction after 5 s",
    async happen({ frontEnds }, random) {
      const one = random.pick(frontEnds);
      one.cut();
      await wait(random.pick(FRONT_END_MS));
      one.host.mend();
    },
  },
  "clocks-off": {
    what: "two front ends' clocks are an hour off, in both directions",
    reason: "none: time is the database's",
    async happen({ frontEnds }) {
      const [fast, slow] = frontEnds as [BedFrontEnd, BedFrontEnd];
      await Promise.all([restart(fast, clock("+3600")), restart(slow, clock("-3600"))]);
      for (const one of [fast, slow]) if (!one.uses(FAKE_TIME)) throw new Error("no other time");
      await wait(LASTS_MS);
      await Promise.all([restart(fast, {}), restart(slow, {})]);
    },
  },
  "gateway-killed": {
    what: "radosgw is killed, and started again",
    reason: "bodies above 16 KiB wait for it",
    needsObjects: true,
    async happen({ objects }) {
      await objects?.killGateway();
      const answer = await fetch(objects?.endpoint ?? "").catch(() => null);
      if (answer !== null) throw new Error("radosgw still answers");
      await wait(LASTS_MS);
      await objects?.startGateway();
    },
  },
  "osd-killed": {
    what: "one of three OSDs is killed, and started again",
    reason: "Ceph waits until the OSD counts as down",
    needsObjects: true,
    async happen({ objects }, random) {
      const osd = random.below(3);
      await objects?.killOsd(osd);
      await untilSo("the OSD counts as down", async () => (await objects?.osdsUp()) === 2);
      await wait(LASTS_MS / 2);
      objects?.startOsd(osd);
      await untilSo("the OSD is up again", async () => (await objects?.osdsUp()) === 3);
    },
  },
};

/** Resolves when another server than this one is the primary. */
async function untilAnother(database: FaultBed["database"], name: string): Promise<void> {
  await untilSo("there is another primary", async () => {
    const primary = await database.primaryNow();
    return primary !== null && primary.name !== name;
  });
}

/** Stops a front end at a moment when others wait for the row with which it orders commits. */
async function stopWithOrder({ database }: FaultBed, frontEnd: BedFrontEnd): Promise<void> {
  const isInside =
    "one.application_name = 'lazuli' and one.state like 'idle in transaction%' " +
    `and one.client_addr = '${frontEnd.host.address}'`;
  const inside = `select count(*) from pg_stat_activity one where ${isInside}`;
  const waiting =
    "select count(*) from pg_stat_activity one join pg_stat_activity other " +
    `on one.pid = any(pg_blocking_pids(other.pid)) where ${isInside}`;
  await untilSo("a front end is stopped while it holds the commit order", async () => {
    frontEnd.stop();
    if ((await database.query(inside)) !== "0") {
      // Others come soon, and wait for it.
      for (let looks = 0; looks < LOOKS_MAX; looks++) {
        if ((await database.query(waiting)) !== "0") return true;
      }
    }
    frontEnd.goOn();
    return false;
  });
}

async function untilSo(what: string, isSo: () => Promise<boolean>): Promise<void> {
  for (const untilMs = performance.now() + HAPPENS_MS_MAX; !(await isSo()); ) {
    if (performance.now() > untilMs) throw new Error(`it did not happen that ${what}`);
    await wait(LOOK_AGAIN_MS);
  }
}

async function restart(frontEnd: BedFrontEnd, env: Record<string, string>): Promise<void> {
  await frontEnd.end();
  await frontEnd.start(env);
}

const FAKE_TIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

/** A clock that is off by so many seconds; timers are not. */
function clock(seconds: string): Record<string, string> {
  return { LD_PRELOAD: FAKE_TIME, FAKETIME: seconds, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
}
