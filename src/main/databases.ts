import type { Clock } from "../base/clock.ts";
import type { AboutFrontEnd, FrontEndSeen } from "../cluster/front-end.ts";
import { type AccountHome, Contexts } from "../front/rest/contexts.ts";
import type { ShareStores } from "../front/smb/smb-server.ts";
import { type Store, StoreError } from "../store/store.ts";
import { DEFAULT_DATABASE } from "./configured-databases.ts";
import { Database, type ReopenedSetup } from "./database.ts";
import type { SeenEngine } from "./metrics/engine-metrics.ts";
import type { SeenDatabase } from "./metrics/records-metrics.ts";
import type { OpenDatabase } from "./open-database.ts";
import type { NamedPlace } from "./places.ts";
import type { Settings } from "./settings.ts";
import { OutOfReach, StartError } from "./start-error.ts";
import type { Undo } from "./undo.ts";

/** How the settings spread accounts over databases. */
type Spread = Pick<Settings, "statedAccounts" | "placeOfAccount">;

/** A front end of one of several databases. */
export interface DatabaseMember extends Omit<FrontEndSeen, "epoch"> {
  /** Null if there is one database only. */
  readonly database: string | null;
}

/** The databases of a server: a data folder or memory is one, too. */
export class Databases {
  readonly all: readonly Database[];

  private constructor(places: readonly NamedPlace[], setup: Omit<ReopenedSetup, "requireOther">) {
    const isOne = places.length === 1 && places[0]?.name === null;
    const requireOther = (cluster: string) => this.#requireOther(cluster);
    this.all = places.map((place) => {
      const name = isOne ? null : (place.name ?? DEFAULT_DATABASE);
      return new Database(name, place, { ...setup, requireOther });
    });
  }

  /**
   * Opens all of them. Of several, those that cannot be reached are opened later, unless that is
   * all of them. Throws a `StartError`.
   */
  static async open(
    places: readonly NamedPlace[],
    setup: Omit<ReopenedSetup, "requireOther">,
    undo: Undo,
  ): Promise<Databases> {
    const databases = new Databases(places, setup);
    const late: [Database, OutOfReach][] = [];
    for (const database of databases.all) {
      undo.add(() => database.close());
      try {
        await database.open();
      } catch (error) {
        if (!(error instanceof OutOfReach)) throw named(error, database);
        late.push([database, error]);
      }
    }
    const [first] = late;
    if (first !== undefined && late.length === databases.all.length)
      throw named(first[1], first[0]);
    for (const [database, why] of late) database.openLater(why);
    return databases;
  }

  /** The only one. For what works with a data folder, or in memory. */
  get only(): OpenDatabase {
    return (this.all[0] as Database).opened;
  }

  /** The time of requests whose account is not known yet; null for that of this machine. */
  get clock(): Clock | null {
    const isOfMachine = this.all.every(
      ({ current }) => !(current instanceof StoreError) && current.clock === null,
    );
    if (isOfMachine) return null;
    // The clock of the first one that is open, or was: it goes on by itself during an outage.
    const first = () => this.all.find(({ hasClock }) => hasClock) ?? (this.all[0] as Database);
    return { now: () => first().clock.now(), elapsedMs: () => first().clock.elapsedMs() };
  }

  /** The database of an account. */
  of(account: string, { placeOfAccount }: Pick<Spread, "placeOfAccount">): Database {
    const name = placeOfAccount.get(account) ?? DEFAULT_DATABASE;
    const [first] = this.all;
    const found = this.all.find((one) => one.name === name || one.name === null) ?? first;
    return found as Database;
  }

  /** A context for each of them. */
  contexts<C>(spread: Spread, make: (opened: OpenDatabase) => C): Contexts<C> {
    const [only] = this.all;
    const made = new Map(this.all.map((one) => [one, contextOn(one, make)]));
    if (only?.name === null) return Contexts.one<C>(made.get(only) as C | StoreError);
    const homes = spread.statedAccounts.map(({ name }): [string, AccountHome<C>] => {
      const database = this.of(name, spread);
      const context = made.get(database) as C | StoreError;
      return [name, { context, clock: database.clock }];
    });
    return Contexts.byAccount<C>(new Map(homes));
  }

  /** The places of SMB shares. */
  shares(spread: Spread): ShareStores {
    const all = this.all.flatMap(({ current }) =>
      current instanceof StoreError ? [] : [current.shares],
    );
    return { all, of: (account) => this.of(account, spread).opened.shares };
  }

  /** The records of each, for those who only read. They reject while it cannot be reached. */
  get stores(): Pick<Store, "read">[] {
    return this.all.map(readStore);
  }

  /** The same of the database of an account. */
  storeOf(account: string, spread: Pick<Spread, "placeOfAccount">): Pick<Store, "read"> {
    return readStore(this.of(account, spread));
  }

  /** For metrics. Null for data in memory, or in a database. */
  get engine(): SeenEngine | null {
    const [first] = this.all;
    return first === undefined || first.current instanceof StoreError
      ? null
      : first.current.data.engine;
  }

  /** Databases that other front ends serve, too. */
  get shared(): SeenDatabase[] {
    return this.all
      .filter(({ isShared }) => isShared)
      .map(({ name, outage, current }) => ({
        name: name ?? DEFAULT_DATABASE,
        outage,
        records: current instanceof StoreError ? null : (current.stored.member?.records ?? null),
      }));
  }

  /** The front ends of each database that several share; null if there is none. */
  async members(): Promise<DatabaseMember[] | null> {
    const shared = this.all.filter(({ isShared }) => isShared);
    if (shared.length === 0) return null;
    const lists = shared.map(async ({ name, opened }) => {
      const seen = (await opened.stored.member?.frontEnd.members()) ?? [];
      // Only front ends need the epochs, and JSON has no numbers as large.
      return seen.map(({ epoch: _, ...one }) => ({ ...one, database: name }));
    });
    return (await Promise.all(lists)).flat();
  }

  /** Begins the work in the background, and tells other front ends who this is. */
  start(about: AboutFrontEnd): void {
    for (const database of this.all) database.start(about);
  }

  #requireOther(cluster: string): void {
    for (const { current, title } of this.all) {
      if (current instanceof StoreError || current.stored.member?.cluster !== cluster) continue;
      throw new StartError(
        `It has the same records as ${title}. Name them once in "databases", for all of their accounts.`,
      );
    }
  }
}

function readStore(database: Database): Pick<Store, "read"> {
  return { read: async (body) => database.opened.data.store.read(body) };
}

function contextOn<C>({ current }: Database, make: (opened: OpenDatabase) => C): C | StoreError {
  return current instanceof StoreError ? current : make(current);
}

/** Says which of several databases an error is about. */
function named(error: unknown, { name, title }: Database): unknown {
  if (name === null || !(error instanceof StartError)) return error;
  const about = `${title[0]?.toUpperCase()}${title.slice(1)}: ${error.message}`;
  return error instanceof OutOfReach ? new OutOfReach(about) : new StartError(about);
}
