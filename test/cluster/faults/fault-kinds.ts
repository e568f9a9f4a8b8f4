// tidy-allow sleep: a fault lasts for a while, and load goes on meanwhile
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../../sim/random.ts";
import type { BedFrontEnd, FaultBed } from "./fault-bed.ts";

/** How long something stays stopped or away, if its duration is ours to choose. */
const LASTS_MS = 12_000;
/** Longer than the database lets a front end hold up others. */
const STOPPED_MS = 9_000;

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
      await wait(STOPPED_MS);
      await one.start();
    },
  },
  "front-end-stopped": {
    what: "a front end is stopped while it holds the commit order",
    reason: "the database ends its transaction after 5 s",
    async happen(bed, random) {
      const one = random.pick(bed.frontEnds);
      await stopWithOrder(bed, one);
      await wait(STOPPED_MS);
      one.signal("SIGCONT");
      await wait(STOPPED_MS / 3);
    },
  },
  "front-end-cut-off": {
    what: "a front end's cable is pulled",
    reason: "if it held the commit order, the database ends its transaction after 5 s",
    async happen({ frontEnds }, random) {
      const { host } = random.pick(frontEnds);
      host.cut();
      await wait(LASTS_MS);
      host.mend();
    },
  },
  "clocks-off": {
    what: "two front ends' clocks are an hour off, in both directions",
    reason: "none: time is the database's",
    async happen({ frontEnds }) {
      const [fast, slow] = frontEnds as [BedFrontEnd, BedFrontEnd];
      await restart(fast, clock("+3600"));
      await restart(slow, clock("-3600"));
      await wait(LASTS_MS);
      await restart(fast, {});
      await restart(slow, {});
    },
  },
  "gateway-killed": {
    what: "radosgw is killed, and started again",
    reason: "bodies above 16 KiB wait for it",
    needsObjects: true,
    async happen({ objects }) {
      await objects?.killGateway();
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
      await wait(LASTS_MS);
      await objects?.startOsd(osd);
    },
  },
};

/** Resolves when another server than this one is the primary. */
async function untilAnother(database: FaultBed["database"], name: string): Promise<void> {
  for (;;) {
    const primary = await database.primary().catch(() => null);
    if (primary !== null && primary.name !== name) return;
    await wait(250);
  }
}

/** Stops a front end at a moment when it has the row that orders commits. */
async function stopWithOrder({ database }: FaultBed, frontEnd: BedFrontEnd): Promise<void> {
  const holds =
    "select count(*) from pg_stat_activity where application_name = 'lazuli' and " +
    `state like 'idle in transaction%' and client_addr = '${frontEnd.host.address}'`;
  for (;;) {
    frontEnd.signal("SIGSTOP");
    if ((await database.query(holds)) !== "0") return;
    frontEnd.signal("SIGCONT");
    await wait(20);
  }
}

async function restart(frontEnd: BedFrontEnd, env: Record<string, string>): Promise<void> {
  frontEnd.signal("SIGTERM");
  await frontEnd.ended();
  await frontEnd.start(env);
}

const FAKE_TIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1";

/** A clock that is off by so many seconds; timers are not. */
function clock(seconds: string): Record<string, string> {
  return { LD_PRELOAD: FAKE_TIME, FAKETIME: seconds, FAKETIME_DONT_FAKE_MONOTONIC: "1" };
}
