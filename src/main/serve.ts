import type { Health } from "../front/health.ts";
import type { AdminQuestion } from "../front/rest/http/admin.ts";
import { restReadMemory } from "../front/rest/http/own-server.ts";
import { SliceQuota } from "../front/rest/http/slice-quota.ts";
import { wholeBodyBudget } from "../front/rest/http/whole-body.ts";
import { SendBudget } from "../front/send-budget.ts";
import { WaitingWork } from "../front/waiting-work.ts";
import { type FailStop, StoreError } from "../store/store.ts";
import type { ServiceOf, StoreOf } from "./console/credentials.ts";
import { Databases } from "./databases.ts";
import { doorsOf } from "./doors.ts";
import type { ServiceName } from "./flags.ts";
import { Listeners } from "./listeners.ts";
import { type Log, openLog } from "./log.ts";
import type { OpenDatabase, SmbClients } from "./open-database.ts";
import { type ReloadDone, Reloading } from "./reload.ts";
import { applySeed } from "./seed/apply-seed.ts";
import { lineOf, readSeedFile } from "./seed/seed-command.ts";
import type { ServedLab } from "./served-lab.ts";
import type { Settings } from "./settings.ts";
import { thisProcess } from "./shared-place.ts";
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
  let current = settings;
  let listeners: Listeners | null = null;
  const clients: SmbClients = {
    adopt: async (shares, runs) => listeners?.adopt(shares, runs),
    drop: (shares) => listeners?.drop(shares),
  };
  const onChange = () => listeners?.change(current);
  const opening = { settings, around: process, log, lab, clients, failStop, onChange, reload };
  const databases = await Databases.open(settings.places, opening, undo);
  // Leases, signatures and expiry go by one clock, whichever front end judges them.
  const { clock: sharedClock } = databases;
  const around = sharedClock === null ? process : { ...process, clock: sharedClock };
  const load = sharedLoad(undo);
  const health = (): Health => ({ isServing, isStopping, ...healthOf(databases) });
  const views = new Views(settings, log);
  const shared = { ...load, health, outcomes: views.outcomes };
  const { adminToken: token } = around;
  const doors = () => doorsOf(databases.only.data, around, () => current, reload, undo);
  const admin =
    token === undefined
      ? null
      : { token, doors: doors(), answer: (question: AdminQuestion) => views.answer(question) };
  await seedData(settings, databases, log);
  const setup = { around, log, shared, databases, admin, lab: lab?.lab ?? null };
  listeners = await Listeners.open(setup, settings, undo, (name, listener) =>
    views.watch(name, listener),
  );
  const { origins } = listeners;
  const [address = ""] = origins.values();
  databases.start({ name: thisProcess(), address });
  const clock = lab?.clock ?? around.clock;
  const { stores, engine } = databases;
  const serviceOf: ServiceOf = (name) => listeners.serviceOf(name);
  const storeOf: StoreOf = (account, now) => databases.storeOf(account, now);
  const members = () => databases.members();
  const sessions = () => listeners.sessions();
  const shown = { origins, serviceOf, storeOf, members, sessions, scenes: lab?.scenes ?? null };
  const sharedRecords = () => databases.shared;
  const measured = { ...around, clock, ...load, health, stores, engine, sharedRecords, ...shown };
  const addresses = await views.open(settings, measured, log, undo);
  const labOrigin = lab === null ? null : await openLab(lab, databases.only, origins, log, undo);
  const apply = (changed: Settings) => {
    logKeyFailures(changed, log);
    lab?.change(changed);
    current = changed;
    listeners?.change(changed);
    views.change(changed);
  };
  const retire = async () => {
    if (settings.stopDelayMs === 0) return;
    isStopping = true;
    listeners?.retire();
    await new Promise<void>((resolve) => around.schedule(resolve, settings.stopDelayMs));
  };
  return { origins, ...addresses, labOrigin, apply, retire };
}

/** Why requests would fail: all of them, or those of one database. */
function healthOf({ all }: Databases): Pick<Health, "outage" | "outages" | "isFull"> {
  const reasons = all.map(({ outage }) => outage);
  const isAllOut = reasons.every((reason) => reason !== null);
  const named = all.flatMap(({ name, outage }) => (name === null ? [] : [[name, outage] as const]));
  return {
    outage: isAllOut ? reasons.join("; ") : null,
    outages: new Map(named),
    isFull: all.some(({ current }) => !(current instanceof StoreError) && current.isFull),
  };
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

function openLab(
  lab: ServedLab,
  { stored, background }: OpenDatabase,
  origins: Serving["origins"],
  log: Log,
  undo: Undo,
): Promise<string> {
  return lab.open(stored, background, origins, log, undo);
}

/** Applies the seed before the first request, so that no client sees a part of it. */
async function seedData(settings: Settings, databases: Databases, log: Log): Promise<void> {
  const { seedFile, seed } = settings;
  const source = seed ?? (seedFile === null ? null : await readSeedFile(seedFile));
  if (source === null) return;
  const dataOf = (account: string) => databases.of(account, settings).opened.data;
  const work = applySeed(source, dataOf, settings);
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
