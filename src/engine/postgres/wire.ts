import { StoreError } from "../../store/store.ts";
import type { Client, Connection, Row, Submittable, Value } from "./driver.ts";

/** A statement that each connection prepares once. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export interface Step {
  readonly statement: Statement;
  readonly values: readonly Value[];
}

/** The connection ended, or did not answer in time: whether the last batch took effect is open. */
export class ConnectionLost extends Error {}

const GOODBYE_MS = 1_000;

/** One connection to the database, which runs batches of statements one after another. */
export class Wire {
  readonly #client: Client;
  readonly #answerMsMax: number;
  readonly #prepared = new Set<string>();
  readonly #onLost: (error: Error) => void;
  #lost: Error | null = null;

  /** Calls `onLost` once, when the connection ends without `close`. */
  constructor(client: Client, answerMsMax: number, onLost: (error: Error) => void) {
    this.#client = client;
    this.#answerMsMax = answerMsMax;
    this.#onLost = onLost;
    client.on("error", (error) => this.#lose(error));
    client.on("end", () => this.#lose(new ConnectionLost("the connection ended")));
  }

  /**
   * Sends all steps at once and resolves to their rows: one round trip. Without a `begin` among
   * them, they are one transaction. Rejects with the server's error or `ConnectionLost`; the steps
   * after a failed one are not run.
   */
  run(steps: readonly Step[]): Promise<readonly Row[][]> {
    if (this.#lost !== null) return Promise.reject(this.#lost);
    return new Promise((resolve, reject) => {
      const lateness = setTimeout(() => this.#giveUp(), this.#answerMsMax);
      const settled = () => clearTimeout(lateness);
      const batch = new Batch(steps, this.#prepared, {
        resolve: (rows) => {
          settled();
          resolve(rows);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      });
      this.#client.query(batch);
    });
  }

  async close(): Promise<void> {
    this.#lost ??= new StoreError("broken", "the store is closed");
    // The end waits for the server to close the connection: without a network, for minutes.
    const lateness = setTimeout(() => this.destroy(), GOODBYE_MS);
    await this.#client.end().catch(() => {});
    clearTimeout(lateness);
  }

  /** Ends the connection without a word to the server. */
  destroy(): void {
    this.#client.connection.stream.destroy();
  }

  #giveUp(): void {
    this.#lose(new ConnectionLost(`no answer within ${this.#answerMsMax} ms`));
    this.destroy();
  }

  #lose(error: Error): void {
    if (this.#lost !== null) return;
    this.#lost = error;
    this.#onLost(error);
  }
}

interface Settle {
  resolve(rows: readonly Row[][]): void;
  reject(error: Error): void;
}

/** Statements that are sent with one Sync behind all of them. */
class Batch implements Submittable {
  readonly #steps: readonly Step[];
  readonly #prepared: Set<string>;
  readonly #settle: Settle;
  readonly #answers: Row[][] = [];
  #rows: Row[] = [];

  constructor(steps: readonly Step[], prepared: Set<string>, settle: Settle) {
    this.#steps = steps;
    this.#prepared = prepared;
    this.#settle = settle;
  }

  submit(connection: Connection): void {
    connection.stream.cork();
    for (const { statement, values } of this.#steps) {
      const { name, text } = statement;
      if (!this.#prepared.has(name)) connection.parse({ name, text });
      this.#prepared.add(name);
      connection.bind({ statement: name, values });
      connection.execute();
    }
    connection.sync();
    connection.stream.uncork();
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete(): void {
    this.#answers.push(this.#rows);
    this.#rows = [];
  }

  handleReadyForQuery(): void {
    this.#settle.resolve(this.#answers);
  }

  handleError(error: Error): void {
    this.#settle.reject(error);
  }
}
