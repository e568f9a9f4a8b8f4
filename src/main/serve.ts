import type { Clock } from "../base/clock.ts";
import { outcomesTo } from "../front/outcome.ts";
import { BlobRestService } from "../front/rest/blob/blob-rest-service.ts";
import { BLOB_SOURCES } from "../front/rest/blob/blob-source.ts";
import { FileRestService } from "../front/rest/file/file-rest-service.ts";
import { FILE_SOURCES } from "../front/rest/file/file-source.ts";
import type { Admin } from "../front/rest/http/admin.ts";
import type { RestService } from "../front/rest/http/exchange.ts";
import { DEFAULT_LIMITS } from "../front/rest/http/limits.ts";
import type { ListenerOptions } from "../front/rest/http/listener-options.ts";
import { restReadMemory } from "../front/rest/http/own-server.ts";
import { type Listener, openListener } from "../front/rest/http/server.ts";
import { SliceQuota } from "../front/rest/http/slice-quota.ts";
import { wholeBodyBudget } from "../front/rest/http/whole-body.ts";
import { QueueRestService } from "../front/rest/queue/queue-rest-service.ts";
import { CopySources } from "../front/rest/source/copy-sources.ts";
import { OwnEndpoints } from "../front/rest/source/own-endpoints.ts";
import { TableRestService } from "../front/rest/table/table-rest-service.ts";
import { SendBudget } from "../front/send-budget.ts";
import type { SmbListener } from "../front/smb/transport.ts";
import { WaitingWork } from "../front/waiting-work.ts";
import { DEFAULT_BLOB_SETTINGS } from "../service/blob/context.ts";
import type { CopyContext } from "../service/blob/fetch-copy.ts";
import { BlobSweep } from "../service/blob/sweep.ts";
import { DEFAULT_FILE_SETTINGS } from "../service/file/context.ts";
import { FileSweep } from "../service/file/sweep.ts";
import { type WatchedFiles, WatchedStore } from "../service/file/watched-store.ts";
import { QueueSweep } from "../service/queue/sweep.ts";
import { RunningCopies } from "../service/shared/running-copies.ts";
import { TableSweep } from "../service/table/sweep.ts";
import { type FailStop, isFullError } from "../store/store.ts";
import { requireNoAzuriteData } from "./azurite-data.ts";
import { Background, type Schedule } from "./background.ts";
import type { ListenAt } from "./command-line.ts";
import { connectionLimits } from "./connection-limits.ts";
import { DamageReports } from "./damage-reports.ts";
import { endEarlierRun } from "./end-earlier-run.ts";
import { SERVICES, type ServiceName } from "./flags.ts";
import { listenSmb } from "./listen-smb.ts";
import { type Log, openLog, type Terminal } from "./log.ts";
import { Metrics } from "./metrics/metrics.ts";
import { isLoopback } from "./network-guard.ts";
import { type Data, openData } from "./open-data.ts";
import { type ReloadDone, Reloading } from "./reload.ts";
import { Scrub } from "./scrub.ts";
import type { Settings } from "./settings.ts";
import { StartError } from "./start-error.ts";
import { Undo } from "./undo.ts";

/** What the server needs from its process; tests bring their own. */
export interface Surroundings extends Terminal {
  readonly clock: Clock;
  readonly schedule: Schedule;
  /** The value of the `Server` header. */
  readonly software: string;
  /** Called when the engine has failed and serves nothing any more: the process must end. */
  readonly failStop: FailStop;
  /** For requests to the server itself; without it there are none. */
  readonly admin?: Admin;
}

/** A running server. */
export interface Serving {
  /** `http://127.0.0.1:10000`, by service. */
  readonly origins: ReadonlyMap<ServiceName, string>;
  /** `http://127.0.0.1:9464`; null if metrics are off. */
  readonly metricsOrigin: string | null;
  /** Opens the log files again by their names, after somebody has renamed them. */
  reopenLogs(): Promise<void>;
  /**
   * Reads the configuration file and the certificate again, and serves by them from the next
   * request on. What cannot be used is refused as a whole, and the old settings stay. Never rejects.
   */
  reload(): Promise<ReloadDone>;
  /** Answers running requests, then releases everything. */
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
    const { apply, ...opened } = await open(settings, around, log, undo);
    const reloading = new Reloading(settings, apply, log, around.clock);
    return {
      ...opened,
      reopenLogs: () => log.reopen(),
      reload: () => reloading.reload(),
      stop: () => undo.run(),
    };
  } catch (error) {
    await undo.run();
    throw error;
  }
}

interface Opened extends Pick<Serving, "origins" | "metricsOrigin"> {
  /** Makes the listeners serve by other settings. */
  apply(settings: Settings): void;
}

/** Opens everything. Each step that succeeds adds its reversal to `undo`. */
async function open(
  settings: Settings,
  around: Surroundings,
  log: Log,
  undo: Undo,
): Promise<Opened> {
  let isHealthy = true;
  const failStop: FailStop = (error) => {
    isHealthy = false;
    around.failStop(error);
  };
  for (const warning of settings.warnings) log.warn("warning", warning);
  logKeyFailures(settings, log);
  const { services, location, azuriteLocation } = settings;
  if (location !== null) await requireNoAzuriteData(location, azuriteLocation);
  const reports = new DamageReports((name) => log.tell(`damaged: the record of ${name}`));
  const { onDamage } = reports;
  const data = await openData(settings, around.clock, failStop, { tell: log.tell, onDamage });
  undo.add(() => data.close());
  reports.lookIn(data.store);
  for (const warning of data.warnings) log.warn("data folder", warning);
  const epoch = await endEarlierRun(data);
  const copies = new RunningCopies();
  undo.add(() => copies.stop());
  const background = sweeping(data, around, log);
  undo.add(() => background.stop());
  data.space?.onSpace((isShort) => {
    log.tell(isShort ? FULL : NO_LONGER_FULL);
    background.spaceIs(isShort);
  });

  // REST and SMB share one watched store, so that each is notified of the other's changes.
  const { contents, breaks } = data;
  const files = { store: new WatchedStore(data.store), contents, breaks, copies };
  const origins = new Map<ServiceName, string>();
  const load = {
    budget: new SendBudget(),
    slices: new SliceQuota(),
    work: new WaitingWork(),
    readMemory: restReadMemory(),
    wholeBodies: wholeBodyBudget(),
  };
  undo.add(async () => load.readMemory.close());
  const health = { healthy: () => isHealthy, isFull: () => data.space?.isShort === true };
  const metrics = settings.metrics === null ? null : new Metrics(services);
  const onOutcome = outcomesTo(log.onOutcome, metrics?.onOutcome);
  const listeners = new Map<RestServiceName, Listener>();
  const endpoints = new OwnEndpoints(settings.accounts);
  for (const [name, service] of servicesOn({ ...data, copies }, files, settings, endpoints)) {
    if (!services.includes(name)) continue;
    const listener = await listen(name, service, settings, around, log, {
      ...load,
      ...health,
      onOutcome,
    });
    undo.add(() => listener.drain());
    listeners.set(name, listener);
    metrics?.watch(name, listener);
    origins.set(name, listener.origin);
    endpoints.add(name, listener.origin);
  }
  let smb: SmbListener | null = null;
  if (services.includes("smb")) {
    const { clock } = around;
    const opened = await listenSmb(
      settings,
      files,
      epoch,
      clock,
      log,
      load.budget,
      onOutcome,
    ).catch((error) => {
      throw listenError("smb", settings.listen.smb, error);
    });
    undo.add(() => opened.drain());
    metrics?.watch("smb", opened);
    origins.set("smb", opened.origin);
    smb = opened;
  }
  background.start();
  if (settings.scrub !== null) {
    const scrub = scrubbing(data, around, log, settings.scrub);
    scrub.start();
    undo.add(() => scrub.stop());
  }
  const apply = (changed: Settings) => {
    logKeyFailures(changed, log);
    const limits = connectionLimits(changed);
    const own = new OwnEndpoints(changed.accounts);
    for (const [name, { origin }] of listeners) own.add(name, origin);
    for (const [name, service] of servicesOn({ ...data, copies }, files, changed, own)) {
      listeners.get(name)?.change({ service, tls: changed.tls, limits });
    }
    smb?.change({ accounts: changed.smb.accounts, limits });
  };
  const { metrics: at } = settings;
  if (at === null || metrics === null) return { origins, metricsOrigin: null, apply };
  const onError = (error: unknown) => log.warn("metrics", error);
  const seen = { ...around, ...load, ...health, data, onError };
  const metricsOrigin = await metrics.open(at, seen).catch((error) => {
    throw listenError("metrics", at, error);
  });
  undo.add(() => metrics.close());
  return { origins, metricsOrigin, apply };
}

function logKeyFailures({ oauth }: Settings, log: Log): void {
  if (oauth?.mode !== "issuer") return;
  oauth.keys.onFailure = (error) => log.warn("keys of the issuer", error.message);
}

type RestServiceName = Exclude<ServiceName, "smb">;

function servicesOn(
  data: Data & Pick<CopyContext, "copies">,
  files: WatchedFiles & Pick<CopyContext, "copies">,
  settings: Settings,
  endpoints: OwnEndpoints,
): [RestServiceName, RestService][] {
  const { oauth, pathStyleOnly, blobSettings, fileSettings, foreignSources: foreign } = settings;
  const accounts = { ...settings.accounts, pathStyleOnly };
  const settingsOf = (account: string) => blobSettings.get(account) ?? DEFAULT_BLOB_SETTINGS;
  const fileSettingsOf = (account: string) => fileSettings.get(account) ?? DEFAULT_FILE_SETTINGS;
  const names = [...accounts.byName.keys()];
  const authOf = (name: ServiceName) =>
    isLoopback(settings.listen[name].host) ? { oauth, shownAccounts: names } : { oauth };
  const protocols = { blob: BLOB_SOURCES, file: FILE_SOURCES };
  const sources = new CopySources({ accounts, auth: { oauth }, endpoints, protocols, foreign });
  return [
    ["blob", new BlobRestService({ ...data, settingsOf, sources }, accounts, authOf("blob"))],
    ["queue", new QueueRestService(data, accounts, authOf("queue"))],
    ["table", new TableRestService(data, accounts, authOf("table"))],
    [
      "file",
      new FileRestService(
        { ...files, settingsOf: fileSettingsOf, sources },
        accounts,
        authOf("file"),
      ),
    ],
  ];
}

function sweeping(data: Data, { schedule }: Surroundings, log: Log): Background {
  const blobs = new BlobSweep(data);
  const queues = new QueueSweep(data);
  const tables = new TableSweep(data);
  const files = new FileSweep(data);
  const sweeps = [blobs, queues, tables, files, data.contents].map((part) => () => part.sweep());
  return new Background([...sweeps, () => lookForSpace(data)], schedule, (error) => {
    // A full disk was reported when it became full.
    if (!isFullError(error)) log.warn("sweeping failed", error);
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

type SharedOptions = Pick<
  ListenerOptions,
  "budget" | "slices" | "work" | "readMemory" | "wholeBodies" | "healthy" | "isFull" | "onOutcome"
>;

async function listen(
  name: ServiceName,
  service: RestService,
  settings: Settings,
  { clock, software, admin }: Surroundings,
  log: Log,
  shared: SharedOptions,
): Promise<Listener> {
  const { host, port, keepAliveMs } = settings.listen[name];
  const limits = {
    ...DEFAULT_LIMITS,
    ...connectionLimits(settings),
    keepAliveMs: keepAliveMs ?? DEFAULT_LIMITS.keepAliveMs,
  };
  const { tls, listener: kind } = settings;
  try {
    const own = { kind, service, host, port, tls, limits };
    const common = { clock, log, software, ...(admin === undefined ? {} : { admin }) };
    return await openListener({ ...own, ...shared, ...common });
  } catch (error) {
    throw listenError(name, { host, port }, error as NodeJS.ErrnoException);
  }
}

function listenError(
  name: ServiceName | "metrics",
  { host, port }: Pick<ListenAt, "host" | "port">,
  error: NodeJS.ErrnoException,
): StartError {
  const who = name === "metrics" ? "Metrics" : `The ${SERVICES[name].title} service`;
  const what = `${who} cannot listen on ${host}, port ${port}`;
  switch (error.code) {
    case "EADDRINUSE":
      return new StartError(
        `${what}: the port is in use. Stop the other program, or choose a port with --${name}Port.`,
      );
    case "EACCES":
      return new StartError(
        `${what}: the system does not permit it. Choose a port above 1023 with --${name}Port.`,
      );
    default:
      return new StartError(
        `${what} (${error.message}). Give an address of this machine with --${name}Host.`,
      );
  }
}
