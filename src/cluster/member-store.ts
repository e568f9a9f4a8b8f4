import type { Store, Transaction, View } from "../store/store.ts";
import { StoreDecorator } from "../store/store-decorator.ts";
import { type FrontEnd, FrontEndEnded } from "./front-end.ts";

/**
 * The store of a front end. It writes only while the front end runs, and knows which states of the
 * store are read.
 */
export class MemberStore extends StoreDecorator {
  readonly #frontEnd: FrontEnd;

  constructor(store: Store, frontEnd: FrontEnd) {
    super(store);
    this.#frontEnd = frontEnd;
  }

  override read<T>(body: (view: View) => T): Promise<T> {
    return this.#frontEnd.during((inBody) => this.inner.read(inBody(body)));
  }

  override async transact<T>(body: (tx: Transaction) => T): Promise<T> {
    const whileRunning = (tx: Transaction) => {
      this.#frontEnd.requireRunning(tx);
      return body(tx);
    };
    try {
      return await this.#frontEnd.during((inBody) => this.inner.transact(inBody(whileRunning)));
    } catch (error) {
      if (error instanceof FrontEndEnded) this.#frontEnd.end(error);
      throw error;
    }
  }
}

/** The store for the leader's work. Writes fail with `NotLeader` once another front end leads. */
export class LeaderStore extends StoreDecorator {
  readonly #frontEnd: FrontEnd;

  constructor(store: Store, frontEnd: FrontEnd) {
    super(store);
    this.#frontEnd = frontEnd;
  }

  override transact<T>(body: (tx: Transaction) => T): Promise<T> {
    return this.inner.transact((tx) => {
      this.#frontEnd.requireLeader(tx);
      return body(tx);
    });
  }
}
