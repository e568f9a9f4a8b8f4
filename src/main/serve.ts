import type { Clock } from "../base/clock.ts";
import { NotLeader } from "../cluster/front-end.ts";
import type { Health } from "../front/health.ts";
import { restReadMemory } from "../front/rest/http/own-server.ts";
import { SliceQuota } from "../front/rest/http/slice-quota.ts";
import { wholeBodyBudget } from "../front/rest/http/whole-body.ts";
import { SendBudget } from "../front/send-budget.ts";
import { WaitingWork } from "../front/waiting-work.ts";
import { BlobSweep } from "../service/blob/sweep.ts";
import { FileSweep } from "../service/file/sweep.ts";
import { QueueSweep } from "../service/queue/sweep.ts";
import { RunningCopies } from "../service/shared/running-copies.ts";
import { TableSweep } from "../service/table/sweep.ts";
import { type FailStop, isFullError } from "../store/store.ts";
import { requireNoAzuriteData } from "./azurite-data.ts";
import { Background } from "./background.ts";
import { DamageReports } from "./damage-reports.ts";
import { doorsOf } from "./doors.ts";
import { endEarlierRun } from "./end-earlier-run.ts";
import type { ServiceName } from "./flags.ts";
import { LeaderWork } from "./leader-work.ts";
import { Listeners } from "./listeners.ts";
import { type Log, openLog } from "./log.ts";
import { type Data, openData } from "./open-data.ts";
import { Readiness } from "./readiness.ts";
import { type ReloadDone, Reloading } from "./reload.ts";
import { Scrub } from "./scrub.ts";
import { applySeed } from "./seed/apply-seed.ts";
import { lineOf, readSeedFile } from "./seed/seed-command.ts";
import type { ServedLab } from "./served-lab.ts";
import type { Settings } from "./settings.ts";
import type { Surroundings } from "./surroundings.ts";
import { Undo } from "./undo.ts";
import { Views } from "./views.ts";

/** A running server. */
export interface Serving {
  /** `http://127.0.0.1:10000`, by service. */
  readonly origins: ReadonlyMap<ServiceName, string>;
  /** `http://127.0.0.1:9464`; null if metrics are off. */
  readonly metricsOrigin: string | null;
  /** `http://127.0.0.1:10005/#token=…`, which signs in once; null if there is no console. */
  readonly consoleAddress: string | null;
  /** `http://127.0.0.1:10006`; null without a lab. */
  readonly labOrigin: string | null;
  /** Opens the log files again by their names, after somebody has renamed them. */
  reopenLogs(): Promise<void>;
  /**
   * Reads the configuration file and the certificate again, and serves by them from the next
   * request on. What cannot be used is refused as a whole, and the old settings stay. Never rejects.
   */
  reload(): Promise<ReloadDone>;
  /**
   * Serves on for the delay of `--stopDelay`, while it asks clients to go elsewhere. Then it answers
   * running requests, and releases everything.
   */
  stop(): Promise<void>;
}

const FULL =
  "The disk of the data folder is full: reads, deletes, leases and receipts go on, and writes that need space get 507. " +
  "Delete what is not needed, or make the volume larger; writes go on by themselves then";
const NO_LONGER_FULL = "The disk of the data folder has space again: all writes are taken";

/** Opens the data and the listeners. Throws a `StartError`, with nothing left open. */
export async function serve(settings: Settings, around: Surroundings): Promise<Serving> {
  const undo = new Undo();
  try {
    const log = await openLog(settings, around, around.clock);
    undo.add(() => log.close());
    const reload = () => reloading.reload();
    const { apply, retire, ...opened } = await open(settings, around, log, undo, reload);
    let stopped: Promise<void> | null = null;
    const reloading: Reloading = new Reloading(settings, apply, log, around.clock);
    return {
      ...opened,
      reopenLogs: () => log.reopen(),
      reload,
      stop: () => {
        stopped ??= retire().then(() => undo.run());
        return stopped;
      },
    };
  } catch (error) {
    await undo.run();
    throw error;
  }
}

interface Opened
  extends Pick<Serving, "origins" | "metricsOrigin" | "consoleAddress" | "labOrigin"> {
  /** Makes the listeners serve by other settings. */
  apply(settings: Settings): void;
  /** Asks clients to go elsewhere, and resolves when they had the time to. */
  retire(): Promise<void>;
}

/** Opens everything. Each step that succeeds adds its reversal to `undo`. */
async function open(
  settings: Settings,
  process: Surroundings,
  log: Log,
  undo: Undo,
  reload: Serving["reload"],
): Promise<Opened> {
  let isServing = true;
  let isStopping = false;
  const failStop: FailStop = (error) => {
    isServing = false;
    process.failStop(error);
  };
  for (const warning of settings.warnings) log.warn("warning", warning);
  logKeyFailures(settings, log);
  const lab = settings.lab === null ? null : await prepareLab(settings, process);
  const engineClock = lab?.clock ?? process.clock;
  const stored = await openLoggedData(settings, process, engineClock, log, failStop);
  undo.add(() => stored.close());
  const data = lab === null ? stored : { ...stored, store: lab.around(stored.store) };
  // Leases, signatures and expiry go by one clock, whichever front end judges them.
  const around = data.clock === null ? process : { ...process, clock: data.clock };
  const { member } = data;
  const ownEpoch = member === null ? await endEarlierRun(data) : null;
  const epoch = () => ownEpoch ?? member?.frontEnd.epoch ?? 0n;
  const copies = new RunningCopies(member?.frontEnd.number);
  undo.add(() => copies.stop());
  const leading = member === null ? null : new LeaderWork(member, data);
  const background = sweeping(lab?.behind(stored) ?? stored, leading, around, log);
  undo.add(() => background.stop());
  data.space?.onSpace((isShort) => {
    log.tell(isShort ? FULL : NO_LONGER_FULL);
    background.spaceIs(isShort);
  });
  const load = sharedLoad(undo);
  const readiness = new Readiness(data.dependencies, around.schedule);
  undo.add(async () => readiness.stop());
  const health = (): Health => ({
    isServing,
    isStopping,
    outage: readiness.outage,
    isFull: data.space?.isShort === true,
  });
  const views = new Views(settings, log);
  const shared = { ...load, health, outcomes: views.outcomes };
  const { adminToken: token } = around;
  let current = settings;
  const doors = () => doorsOf(data, around, () => current, reload, undo);
  const admin = token === undefined ? null : { token, doors: doors() };
  await seedData(settings, data, log);
  const served = { data: { ...data, copies }, epoch, admin, lab: lab?.lab ?? null };
  const setup = { around, log, shared, ...served };
  const listeners = await Listeners.open(setup, settings, undo, (name, listener) =>
    views.watch(name, listener),
  );
  const { origins } = listeners;
  if (leading !== null) leading.adopt = (runs) => listeners.adopt(runs);
  background.start();
  readiness.start();
  if (settings.scrub !== null) {
    const scrub = scrubbing(data, around, log, settings.scrub);
    scrub.start();
    undo.add(() => scrub.stop());
  }
  const clock = lab?.clock ?? around.clock;
  const measured = { ...around, clock, ...load, health, data, origins };
  const addresses = await views.open(settings, measured, log, undo);
  const labOrigin = (await lab?.open(stored, background, origins, log, undo)) ?? null;
  const apply = (changed: Settings) => {
    logKeyFailures(changed, log);
    lab?.change(changed);
    listeners.change(changed);
    current = changed;
    views.change(changed);
  };
  const retire = async () => {
    if (settings.stopDelayMs === 0) return;
    isStopping = true;
    listeners.retire();
    await new Promise<void>((resolve) => around.schedule(resolve, settings.stopDelayMs));
  };
  return { origins, ...addresses, labOrigin, apply, retire };
}

/** Memory and slices of time that all listeners share. */
function sharedLoad(undo: Undo) {
  const readMemory = restReadMemory();
  undo.add(async () => readMemory.close());
  return {
    budget: new SendBudget(),
    slices: new SliceQuota(),
    work: new WaitingWork(),
    readMemory,
    wholeBodies: wholeBodyBudget(),
  };
}

/** Makes the lab, which is loaded only when it is asked for. */
async function prepareLab(settings: Settings, around: Surroundings): Promise<ServedLab> {
  const { ServedLab } = await import("./served-lab.ts");
  return new ServedLab(settings, around);
}

/** Opens the data; the log names its damage. */
async function openLoggedData(
  settings: Settings,
  { schedule, sharedClock }: Surroundings,
  clock: Clock,
  log: Log,
  failStop: FailStop,
): Promise<Data> {
  const { location, azuriteLocation } = settings;
  if (location !== null) await requireNoAzuriteData(location, azuriteLocation);
  const reports = new DamageReports((name) => log.tell(`damaged: the record of ${name}`));
  const { onDamage } = reports;
  const options = { tell: log.tell, onDamage, schedule, sharedClock };
  const data = await openData(settings, clock, failStop, options);
  reports.lookIn(data.store);
  for (const warning of data.warnings) log.warn("data folder", warning);
  return data;
}

/** Applies the seed before the first request, so that no client sees a part of it. */
async function seedData(settings: Settings, data: Data, log: Log): Promise<void> {
  const { seedFile, seed } = settings;
  const source = seed ?? (seedFile === null ? null : await readSeedFile(seedFile));
  if (source === null) return;
  const work = applySeed(source, data, settings);
  for (;;) {
    const step = await work.next();
    if (step.done !== true) continue;
    log.tell(lineOf(source.name, step.value).slice(0, -1));
    return;
  }
}

function logKeyFailures({ oauth }: Settings, log: Log): void {
  if (oauth?.mode !== "issuer") return;
  oauth.keys.onFailure = (error) => log.warn("keys of the issuer", error.message);
}

function sweeping(
  data: Data,
  leading: LeaderWork | null,
  { schedule }: Surroundings,
  log: Log,
): Background {
  const { member, contents } = data;
  const swept = member === null ? data : { ...data, store: member.leaderStore };
  const parts = [new BlobSweep(swept), new QueueSweep(swept), new TableSweep(swept)];
  const isSweeper = () => member === null || member.frontEnd.isSweeper;
  const sweeps = [...parts, new FileSweep(swept)].map(
    (part) => async () => isSweeper() && (await part.sweep()),
  );
  const collect = data.collect === null ? [] : [data.collect];
  if (leading !== null) collect.push(() => leading.round());
  const rounds = [...sweeps, () => contents.sweep(), ...collect, () => lookForSpace(data)];
  return new Background(rounds, schedule, (error) => {
    // A full disk was reported when it became full. Another leader goes on with what this one did.
    if (!isFullError(error) && !(error instanceof NotLeader)) log.warn("sweeping failed", error);
  });
}

/** Looks for free space. Resolves to false, because there is no more to do in this round. */
async function lookForSpace({ space }: Data): Promise<false> {
  if (space?.isShort) await space.look();
  return false;
}

function scrubbing(data: Data, around: Surroundings, log: Log, mibPerSecond: number): Scrub {
  const { store, contents } = data;
  const { schedule } = around;
  const onError = (error: unknown) => log.warn("scrubbing failed", error);
  return new Scrub({ store, contents, schedule, mibPerSecond, tell: log.tell, onError });
}
