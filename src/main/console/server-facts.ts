import type { Instant } from "../../base/clock.ts";
import type {
  ConsoleAccount,
  ConsoleFacts,
  CredentialsAsked,
  MemberFacts,
  SceneFacts,
} from "../../front/console/console-facts.ts";
import type { Holder, HolderList } from "../../service/shared/holder.ts";
import { placeOf } from "../announcements.ts";
import { accountUrls, connectionString, reachableUrls } from "../connection-string.ts";
import type { ServiceName } from "../flags.ts";
import type { Settings } from "../settings.ts";
import { measureAll } from "../usage.ts";
import { judgedCredentials, type ServiceOf, type StoreOf } from "./credentials.ts";
import { FigureReader, type FigureSetup } from "./figure-reader.ts";
import { Holders } from "./holders.ts";
import { UsageReader } from "./usage-reader.ts";

export interface FactsSetup extends FigureSetup {
  readonly origins: ReadonlyMap<ServiceName, string>;
  readonly serviceOf: ServiceOf;
  readonly storeOf: StoreOf;
  /** Null without a lab. */
  readonly scenes: SceneFacts | null;
  /** Null for a server alone. */
  members(): Promise<readonly MemberFacts[] | null>;
  /** The SMB clients that are logged on to this server. */
  sessions(): readonly Holder[];
}

/** What the console and commands can ask of a server. */
export class ServerFacts implements ConsoleFacts {
  /** The settings in force; a reload replaces them. */
  settings: Settings;
  readonly version: string;
  readonly startedMs: Instant;
  readonly place: string;
  readonly urls: Readonly<Record<string, string>>;
  readonly scenes: SceneFacts | null;
  readonly #holders: Holders;
  readonly #figures: FigureReader;
  readonly #setup: FactsSetup;
  readonly #usage: UsageReader;

  constructor(settings: Settings, setup: FactsSetup) {
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

  async holders(): Promise<HolderList> {
    const list = await this.#holders.list();
    return { ...list, holders: [...this.#setup.sessions(), ...list.holders] };
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
