import type { SceneFacts } from "../front/console/console-facts.ts";
import type { RestServiceName } from "../front/outcome.ts";
import { Lab } from "../lab/lab.ts";
import { openLabListener } from "../lab/lab-listener.ts";
import { clearHandles } from "../service/file/clear-handles.ts";
import type { Store } from "../store/store.ts";
import type { Background } from "./background.ts";
import { reachableUrls } from "./connection-string.ts";
import { sceneFacts } from "./console/scenes.ts";
import { newToken } from "./control-file.ts";
import type { ServiceName } from "./flags.ts";
import { listenError } from "./listen-error.ts";
import type { Log } from "./log.ts";
import { isLoopback } from "./network-guard.ts";
import type { Data } from "./open-data.ts";
import type { Settings } from "./settings.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Undo } from "./undo.ts";

/** The lab of a server, wired to its data and listeners. */
export class ServedLab {
  readonly lab: Lab;
  #settings: Settings;
  #origins: ReadonlyMap<ServiceName, string> = new Map();

  constructor(settings: Settings, { clock, schedule }: Surroundings) {
    this.#settings = settings;
    const origins = () => this.#origins;
    const accounts = () => this.#settings.statedAccounts.map(({ name }) => name);
    this.lab = new Lab({
      get smbOrigin() {
        return origins().get("smb");
      },
      get accounts() {
        return accounts();
      },
      clock,
      schedule,
      token: newToken(),
      originOf: (service) => this.#originOf(service),
      keyOf: (account) =>
        this.#settings.statedAccounts.find(({ name }) => name === account)?.keys[0],
    });
  }

  /** For the console. */
  get scenes(): SceneFacts {
    return sceneFacts(this.lab);
  }

  /** The clock of the engine: the server's, as the lab has set it. */
  get clock() {
    return this.lab.clock;
  }

  /** The store of the services. */
  around(store: Store): Store {
    return this.lab.around(store);
  }

  /** The data as background work sees it. */
  behind(data: Data): Data {
    return { ...data, store: this.lab.behind(data.store) };
  }

  /** Listens. Returns `http://127.0.0.1:10006`. */
  async open(
    data: Data,
    background: Background,
    origins: ReadonlyMap<ServiceName, string>,
    log: Log,
    undo: Undo,
  ): Promise<string> {
    const { lab } = this;
    this.#origins = origins;
    lab.open({
      save: data.save,
      catchUp: () => background.catchUp(),
      replace: (work) =>
        background.alone(async () => {
          work();
          // These handles are closed now, also those of clients that are still connected.
          await clearHandles(data, () => false);
        }),
    });
    const at = this.#settings.lab ?? { host: "", port: 0 };
    const onError = (error: unknown) => log.warn("lab", error);
    const listener = await openLabListener({ ...at, lab, isLoopback, onError }).catch((error) => {
      throw listenError("lab", at, error);
    });
    undo.add(() => listener.close());
    // First of all: a listener waits for the requests that it has begun.
    undo.add(async () => lab.close());
    return listener.origin;
  }

  /** Uses other keys from now on. */
  change(settings: Settings): void {
    this.#settings = settings;
  }

  #originOf(service: RestServiceName): string | undefined {
    return reachableUrls(this.#origins, this.#settings.listen)[service];
  }
}
