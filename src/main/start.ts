import { systemClock } from "../base/clock.ts";
import { systemSchedule } from "./background.ts";
import { accountUrls, connectionString, reachableUrls } from "./connection-string.ts";
import { type Serving, serve } from "./serve.ts";
import type { Settings } from "./settings.ts";
import type { StartOptions, StartService } from "./start-options.ts";
import { readStartOptions } from "./start-settings.ts";
import { version } from "./version.ts";

export type {
  StartAccount,
  StartHosts,
  StartKeepAliveTimeouts,
  StartOptions,
  StartPorts,
  StartService,
} from "./start-options.ts";

/** URLs by service. */
export type ServiceUrls = { readonly [Service in StartService]?: string };

/** An account of a running server, for clients. */
export interface RunningAccount {
  readonly name: string;
  /** Its first key, in Base64. */
  readonly key: string;
  /** By REST service: `http://127.0.0.1:49152/devstoreaccount1`. */
  readonly urls: ServiceUrls;
  readonly connectionString: string;
}

/** A running server. */
export interface RunningServer {
  /** By service: `http://127.0.0.1:49152`, `smb://127.0.0.1:49153`. */
  readonly urls: ServiceUrls;
  /** All accounts, by name. */
  readonly accounts: Readonly<Record<string, RunningAccount>>;
  /** The connection string of the first account. */
  readonly connectionString: string;
  /** `http://127.0.0.1:49154/metrics`; null without `metricsPort`. */
  readonly metricsUrl: string | null;
  /** `http://127.0.0.1:49155/#token=…`, which signs in once; null without `consolePort`. */
  readonly consoleUrl: string | null;
  /** `http://127.0.0.1:49155`, for `lazuli/lab`; null without `lab`. */
  readonly labUrl: string | null;
  /**
   * Answers running requests, then releases ports, folder and threads. Rejects if the disk failed
   * while the server ran: it answered no more requests from then on.
   */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a server in this process, by default in memory and on free ports. It prints nothing and
 * leaves signals and the exit of the process to its caller. Rejects with an Error that says what to
 * do, and leaves nothing open then.
 */
export async function start(options: StartOptions = {}): Promise<RunningServer> {
  const settings = readStartOptions(options);
  const { onLine = () => {} } = options;
  let failure: Error | null = null;
  const serving = await serve(settings, {
    clock: systemClock,
    schedule: systemSchedule,
    software: `Lazuli/${version()}`,
    out: onLine,
    err: onLine,
    failStop: (error) => {
      failure ??= error;
      onLine(`Lazuli serves no more, because it cannot be sure of its data: ${error.message}.`);
    },
  });
  let stopped: Promise<void> | null = null;
  const stop = () => {
    stopped ??= serving.stop().then(() => {
      if (failure !== null) throw failure;
    });
    return stopped;
  };
  return { ...addressesOf(settings, serving), stop, [Symbol.asyncDispose]: stop };
}

function addressesOf(
  settings: Settings,
  { origins, metricsOrigin, consoleAddress, labOrigin }: Serving,
): Omit<RunningServer, "stop" | typeof Symbol.asyncDispose> {
  const urls = reachableUrls(origins, settings.listen);
  const all = settings.statedAccounts.map(({ name, keys: [key = ""] }): RunningAccount => {
    const own = accountUrls(name, urls);
    return { name, key, urls: own, connectionString: connectionString(name, key, own) };
  });
  return {
    urls,
    accounts: Object.fromEntries(all.map((account) => [account.name, account])),
    connectionString: all[0]?.connectionString ?? "",
    consoleUrl: consoleAddress,
    metricsUrl: metricsOrigin === null ? null : `${metricsOrigin}/metrics`,
    labUrl: labOrigin,
  };
}
