import type { Outcomes } from "../front/outcome.ts";
import { BLOB_SOURCES } from "../front/rest/blob/blob-source.ts";
import { BlobDoors } from "../front/rest/datalake/blob-doors.ts";
import { FileRestService } from "../front/rest/file/file-rest-service.ts";
import { FILE_SOURCES } from "../front/rest/file/file-source.ts";
import type { Admin } from "../front/rest/http/admin.ts";
import type { RestService } from "../front/rest/http/exchange.ts";
import { DEFAULT_LIMITS } from "../front/rest/http/limits.ts";
import type { ListenerOptions } from "../front/rest/http/listener-options.ts";
import { type Listener, openListener } from "../front/rest/http/server.ts";
import { QueueRestService } from "../front/rest/queue/queue-rest-service.ts";
import { CopySources } from "../front/rest/source/copy-sources.ts";
import { OwnEndpoints } from "../front/rest/source/own-endpoints.ts";
import { TableRestService } from "../front/rest/table/table-rest-service.ts";
import type { StoredShares } from "../front/smb/file-host.ts";
import type { SmbListener } from "../front/smb/transport.ts";
import type { Lab } from "../lab/lab.ts";
import type { Runs } from "../service/file/clear-handles.ts";
import type { Holder } from "../service/shared/holder.ts";
import { connectionLimits } from "./connection-limits.ts";
import type { Databases } from "./databases.ts";
import type { ServiceName } from "./flags.ts";
import { listenError } from "./listen-error.ts";
import { listenSmb } from "./listen-smb.ts";
import type { Log } from "./log.ts";
import { isLoopback } from "./network-guard.ts";
import type { Settings } from "./settings.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Undo } from "./undo.ts";

/** What the listeners of a server work on and with. */
export interface ListenersSetup {
  readonly around: Surroundings;
  readonly log: Log;
  readonly databases: Databases;
  /** For requests to the server itself; null if there are none. */
  readonly admin: Admin | null;
  /** The parts that all listeners share. */
  readonly shared: SharedOptions;
  /** Null without one. */
  readonly lab: Lab | null;
}

type SharedOptions = Pick<
  ListenerOptions,
  "budget" | "slices" | "work" | "readMemory" | "wholeBodies" | "health"
> & { readonly outcomes: Outcomes };

type RestServiceName = Exclude<ServiceName, "smb">;

/** Learns of each listener when it is open. */
type OnListener = (name: ServiceName, listener: Listener | SmbListener) => void;

/** The listeners of a server's services. */
export class Listeners {
  /** `http://127.0.0.1:10000`, by service. */
  readonly origins = new Map<ServiceName, string>();
  readonly #setup: ListenersSetup;
  readonly #rest = new Map<RestServiceName, Listener>();
  /** As they are, without a lab around them. */
  #current: ReadonlyMap<RestServiceName, RestService> = new Map();
  #smb: SmbListener | null = null;

  private constructor(setup: ListenersSetup) {
    this.#setup = setup;
  }

  /** Opens the listeners. Each that is open adds its reversal to `undo`. */
  static async open(
    setup: ListenersSetup,
    settings: Settings,
    undo: Undo,
    onListener: OnListener,
  ): Promise<Listeners> {
    const all = new Listeners(setup);
    const endpoints = new OwnEndpoints(settings.accounts);
    for (const [name, service] of all.#services(settings, endpoints)) {
      if (!settings.services.includes(name)) continue;
      const listener = await all.#listen(name, service, settings);
      undo.add(() => listener.drain());
      onListener(name, listener);
      all.#rest.set(name, listener);
      all.origins.set(name, listener.origin);
      endpoints.add(name, listener.origin);
    }
    if (!settings.services.includes("smb")) return all;
    const smb = await all.#listenSmb(settings);
    undo.add(() => smb.drain());
    onListener("smb", smb);
    all.#smb = smb;
    all.origins.set("smb", smb.origin);
    return all;
  }

  /** Asks clients to go elsewhere, before everything is closed. */
  retire(): void {
    for (const listener of this.#rest.values()) listener.retire();
  }

  /** Returns a service itself, to ask it without a listener; undefined if it is off. */
  serviceOf(name: RestServiceName): RestService | undefined {
    return this.#rest.has(name) ? this.#current.get(name) : undefined;
  }

  /** Takes over persistent handles of front ends that do not run any more. */
  async adopt(shares: StoredShares, runs: Runs): Promise<void> {
    await this.#smb?.adopt(shares, runs);
  }

  /** Ends the connections of SMB clients that have something open there. */
  drop(shares: StoredShares): void {
    void this.#smb?.drop(shares);
  }

  /** The SMB clients that are logged on. */
  sessions(): readonly Holder[] {
    return this.#smb?.sessions ?? [];
  }

  /** Serves by other settings from the next request on. */
  change(settings: Settings): void {
    const limits = connectionLimits(settings);
    const endpoints = new OwnEndpoints(settings.accounts);
    for (const [name, { origin }] of this.#rest) endpoints.add(name, origin);
    for (const [name, service] of this.#services(settings, endpoints)) {
      this.#rest.get(name)?.change({ service, tls: settings.tls, limits });
    }
    const shares = this.#setup.databases.shares(settings);
    this.#smb?.change({ accounts: settings.smb.accounts, limits, shares });
  }

  #services(settings: Settings, endpoints: OwnEndpoints): [RestServiceName, RestService][] {
    const { databases } = this.#setup;
    const { oauth, pathStyleOnly, blobSettings, fileSettings, foreignSources: foreign } = settings;
    const accounts = { ...settings.accounts, pathStyleOnly };
    const names = [...accounts.byName.keys()];
    const authOf = (name: ServiceName) =>
      isLoopback(settings.listen[name].host) ? { oauth, shownAccounts: names } : { oauth };
    const protocols = { blob: BLOB_SOURCES, dfs: BLOB_SOURCES, file: FILE_SOURCES };
    const data = databases.contexts(settings, (one) => one.data);
    const copying = { accounts, auth: { oauth }, endpoints, protocols, foreign };
    const sources = new CopySources({ ...copying, stored: data });
    const blobs = { settingsByAccount: blobSettings, sources };
    const blobContexts = data.map((one) => ({ ...one, ...blobs }));
    const fileContexts = databases.contexts(settings, ({ files }) => {
      return { ...files, settingsByAccount: fileSettings, sources };
    });
    const all: [RestServiceName, RestService][] = [
      ["blob", new BlobDoors("blob", blobContexts, accounts, authOf("blob"))],
      ["queue", new QueueRestService(data, accounts, authOf("queue"))],
      ["table", new TableRestService(data, accounts, authOf("table"))],
      ["file", new FileRestService(fileContexts, accounts, authOf("file"))],
      ["dfs", new BlobDoors("dfs", blobContexts, accounts, authOf("dfs"))],
    ];
    this.#current = new Map(all);
    const { lab } = this.#setup;
    return lab === null ? all : all.map(([name, service]) => [name, lab.gate(service)]);
  }

  async #listen(name: RestServiceName, service: RestService, settings: Settings) {
    const { around, log, admin, shared } = this.#setup;
    const { clock, software } = around;
    const { host, port, keepAliveMs } = settings.listen[name];
    const limits = {
      ...DEFAULT_LIMITS,
      ...connectionLimits(settings),
      keepAliveMs: keepAliveMs ?? DEFAULT_LIMITS.keepAliveMs,
    };
    const { tls, listener: kind } = settings;
    try {
      const own = { kind, service, host, port, tls, limits };
      const common = { clock, log, software, ...(admin === null ? {} : { admin }) };
      return await openListener({ ...own, ...shared, ...common });
    } catch (error) {
      throw listenError(name, { host, port }, error as NodeJS.ErrnoException);
    }
  }

  async #listenSmb(settings: Settings): Promise<SmbListener> {
    const { around, log, shared, databases, lab } = this.#setup;
    const { budget, outcomes } = shared;
    const { clock } = around;
    const gate = lab?.smbGate;
    try {
      const shares = databases.shares(settings);
      return await listenSmb(settings, log, { shares, clock, budget, outcomes, gate });
    } catch (error) {
      throw listenError("smb", settings.listen.smb, error as NodeJS.ErrnoException);
    }
  }
}
