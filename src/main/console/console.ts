import type { Instant } from "../../base/clock.ts";
import type {
  ConsoleAccount,
  ConsoleFacts,
  CredentialsAsked,
  MemberFacts,
  SceneFacts,
} from "../../front/console/console-facts.ts";
import {
  type ConsoleListener,
  type ConsoleOptions,
  openConsoleListener,
} from "../../front/console/console-listener.ts";
import { PageFiles } from "../../front/console/page-files.ts";
import { DEFAULT_LIMITS } from "../../front/rest/http/limits.ts";
import { tlsSettings } from "../../front/rest/http/tls-settings.ts";
import { placeOf } from "../announcements.ts";
import { accountUrls, connectionString, reachableUrls } from "../connection-string.ts";
import type { ServiceName } from "../flags.ts";
import { listenError } from "../listen-error.ts";
import { isLoopback } from "../network-guard.ts";
import type { Settings } from "../settings.ts";
import type { ConsoleAt } from "../side-addresses.ts";
import { measureAll } from "../usage.ts";
import { judgedCredentials, type ServiceOf, type StoreOf } from "./credentials.ts";
import { FigureReader, type FigureSetup } from "./figure-reader.ts";
import { Holders } from "./holders.ts";
import { pageFolder } from "./page-folder.ts";
import { UsageReader } from "./usage-reader.ts";

interface ConsoleSetup extends FigureSetup {
  readonly origins: ReadonlyMap<ServiceName, string>;
  readonly serviceOf: ServiceOf;
  readonly storeOf: StoreOf;
  /** Null without a lab. */
  readonly scenes: SceneFacts | null;
  /** Null for a server alone. */
  members(): Promise<readonly MemberFacts[] | null>;
}

/** The web console of a server. */
export class Console {
  /** With the token that signs in once. */
  readonly address: string;
  readonly close: () => Promise<void>;
  readonly #listener: ConsoleListener;
  readonly #facts: Facts;

  private constructor(listener: ConsoleListener, facts: Facts) {
    this.#listener = listener;
    this.#facts = facts;
    this.address = listener.address;
    this.close = async () => {
      await listener.drain();
      await facts.end();
    };
  }

  /** Throws a `StartError` if it cannot listen. */
  static async open(settings: Settings, setup: ConsoleSetup): Promise<Console> {
    const { tls, console: at } = settings;
    if (at === null) throw new Error("the settings have no console");
    const facts = new Facts(settings, setup);
    const { clock, outcomes, onError } = setup;
    const options = {
      ...at,
      tls: tls === null ? null : tlsSettings(tls, DEFAULT_LIMITS),
      isLoopback: isLoopback(at.host),
      clock,
      outcomes,
      files: new PageFiles(pageFolder()),
      facts,
      onError,
    };
    const listener = await openAt(at, options).catch(async (error) => {
      await facts.end();
      throw listenError("console", at, error);
    });
    return new Console(listener, facts);
  }

  /** Shows other settings from the next request on. */
  change(settings: Settings): void {
    const { tls } = settings;
    if (tls !== null) this.#listener.changeTls(tlsSettings(tls, DEFAULT_LIMITS));
    this.#facts.settings = settings;
  }
}

/** Takes any port if the usual one is taken, so that a second server starts beside the first. */
async function openAt(at: ConsoleAt, options: ConsoleOptions): Promise<ConsoleListener> {
  try {
    return await openConsoleListener(options);
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
    if (!isTaken || !at.isAnyPort) throw error;
    return openConsoleListener({ ...options, port: 0 });
  }
}

class Facts implements ConsoleFacts {
  settings: Settings;
  readonly version: string;
  readonly startedMs: Instant;
  readonly place: string;
  readonly urls: Readonly<Record<string, string>>;
  readonly scenes: SceneFacts | null;
  readonly #holders: Holders;
  readonly #figures: FigureReader;
  readonly #setup: ConsoleSetup;
  readonly #usage: UsageReader;

  constructor(settings: Settings, setup: ConsoleSetup) {
    const { software, clock, stores, engine, origins } = setup;
    this.#setup = setup;
    this.settings = settings;
    this.version = software.slice(software.indexOf("/") + 1);
    this.startedMs = clock.now();
    this.place = settings.places.map(placeOf).join("; ");
    this.scenes = setup.scenes;
    this.urls = reachableUrls(origins, settings.listen);
    this.#holders = new Holders(stores);
    this.#figures = new FigureReader(setup);
    this.#usage = new UsageReader(() => measureAll(stores, engine), clock);
  }

  accounts(): readonly ConsoleAccount[] {
    return this.settings.statedAccounts.map(({ name, keys }) => {
      const urls = accountUrls(name, this.urls);
      const [key = ""] = keys;
      return { name, keys, urls, connectionString: connectionString(name, key, urls) };
    });
  }

  takesTokens(): boolean {
    return this.settings.oauth !== null;
  }

  holders() {
    return this.#holders.list();
  }

  figures() {
    return this.#figures.read();
  }

  members() {
    return this.#setup.members();
  }

  judge(asked: CredentialsAsked) {
    const { storeOf, serviceOf } = this.#setup;
    return judgedCredentials(asked, this.settings, storeOf, serviceOf);
  }

  usage(again: boolean) {
    return this.#usage.read(again);
  }

  begin(): void {
    this.#figures.begin();
  }

  end(): Promise<void> {
    this.#usage.clear();
    return this.#figures.end();
  }
}
