import { writesOf } from "./entity-model.ts";
import type { EntityAnswer, EntityAsked, EntityWrite } from "./entity-words.ts";
import type { Random } from "./random.ts";
import type { Chosen, Workload } from "./simulate.ts";

export const PARTITIONS = ["p0", "p1"];
const ROWS = ["r0", "r1", "r2"];

const OPERATIONS = { write: 40, batch: 18, get: 25, query: 17 };
const WRITES = { insert: 12, update: 12, merge: 14, replaceAny: 6, mergeAny: 8, delete: 7 };

/** Generates the requests of clients to a few entities so that they conflict. */
export class EntityWorkload implements Workload<EntityAsked, EntityAnswer> {
  readonly #random: Random;
  /** The last ETag of each entity that any client got: two that use it are in a race. */
  readonly #etags = new Map<string, string>();
  #writes = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  choose(): Chosen<EntityAsked> {
    const key = this.#random.pick(PARTITIONS);
    return { key, asked: this.#ask(key) };
  }

  learn(_client: number, { key, asked }: Chosen<EntityAsked>, answer: EntityAnswer | null): void {
    if (answer === null || answer.refused !== null) return;
    for (const [row, { etag }] of Object.entries(answer.found)) this.#etags.set(key + row, etag);
    for (const [at, { row }] of writesOf(asked).entries()) {
      const etag = answer.etags[at] ?? null;
      if (etag !== null) this.#etags.set(key + row, etag);
    }
  }

  #ask(key: string): EntityAsked {
    const operation = this.#random.weighted(OPERATIONS);
    switch (operation) {
      case "get":
        return { operation, row: this.#random.pick(ROWS) };
      case "query":
        return { operation };
      case "write":
        return { operation, write: this.#write(key, this.#random.pick(ROWS)) };
      case "batch": {
        const rows = ROWS.filter(() => this.#random.chance(0.8));
        const chosen = rows.length < 2 ? ROWS : rows;
        return { operation, writes: chosen.map((row) => this.#batched(key, row)) };
      }
    }
  }

  /** Mostly a write with which a batch of several can succeed. */
  #batched(key: string, row: string): EntityWrite {
    const write = this.#write(key, row);
    if (this.#random.chance(0.7)) return { ...write, kind: "mergeAny", ifMatch: null };
    // The official client sends no ETag with a delete in a batch.
    return write.kind === "delete" ? { ...write, ifMatch: "*" } : write;
  }

  #write(key: string, row: string): EntityWrite {
    const kind = this.#random.weighted(WRITES);
    const isGuarded = kind === "update" || kind === "merge" || kind === "delete";
    const etag = this.#random.chance(0.15) ? "*" : (this.#etags.get(key + row) ?? "*");
    return {
      kind,
      row,
      name: `w${++this.#writes}`,
      property: this.#random.pick(["a", "b"] as const),
      ifMatch: isGuarded ? etag : null,
    };
  }
}
