import type { Clock, Instant } from "../../base/clock.ts";
import { StoreError } from "../../store/store.ts";

/** The context of an account's requests, or why there is none at the moment. */
export interface AccountHome<Context> {
  readonly context: Context | StoreError;
  /** The time by which credentials are judged. */
  readonly clock: Clock;
}

/** What a service works on: its accounts may be in different databases. */
export class Contexts<Context> {
  readonly #only: Context | StoreError | null;
  readonly #homes: ReadonlyMap<string, AccountHome<Context>>;

  private constructor(
    only: Context | StoreError | null,
    homes: ReadonlyMap<string, AccountHome<Context>>,
  ) {
    this.#only = only;
    this.#homes = homes;
  }

  /** The same context for all accounts. */
  static one<Context>(context: Context | StoreError): Contexts<Context> {
    return new Contexts<Context>(context, new Map());
  }

  /** `given` itself, or a context for all accounts. */
  static of<Context>(given: Context | Contexts<Context>): Contexts<Context> {
    return given instanceof Contexts ? given : Contexts.one(given);
  }

  static byAccount<Context>(homes: ReadonlyMap<string, AccountHome<Context>>): Contexts<Context> {
    return new Contexts(null, homes);
  }

  /** Accounts in one database have the same context. Throws while it cannot be reached. */
  of(account: string): Context {
    const found = this.#only ?? this.#homes.get(account)?.context;
    if (found === undefined) throw new Error(`the account ${account} is in no database`);
    if (found instanceof StoreError) throw found;
    return found;
  }

  /** The time of the account's database; null if all accounts have the time of the server. */
  now(account: string): Instant | null {
    return this.#only === null ? (this.#homes.get(account)?.clock.now() ?? null) : null;
  }

  /** Other contexts, one for each of these. */
  map<Other>(change: (context: Context) => Other): Contexts<Other> {
    const made = new Map<Context | StoreError, Other | StoreError>();
    const changed = (context: Context | StoreError) => {
      const known = made.get(context);
      if (known !== undefined) return known;
      const other = context instanceof StoreError ? context : change(context);
      made.set(context, other);
      return other;
    };
    if (this.#only !== null) return Contexts.one<Other>(changed(this.#only));
    const homes = [...this.#homes].map(
      ([account, { context, clock }]) => [account, { context: changed(context), clock }] as const,
    );
    return Contexts.byAccount<Other>(new Map(homes));
  }
}
