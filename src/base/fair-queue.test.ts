import assert from "node:assert/strict";
import { test } from "node:test";
import { FairQueue, SLICE_MS } from "./fair-queue.ts";

interface Work {
  readonly name: string;
  readonly pieces: number;
  readonly pieceMs: number;
}

/** Workers on a clock that only their work moves, and a list of who did what. */
class Workshop {
  readonly done: string[] = [];
  #nowMs = 0;
  readonly #queue = new FairQueue(() => this.#nowMs);

  /** Starts all works in one turn of the event loop, and notes each turn until they are done. */
  async run(works: readonly Work[]): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    let working = true;
    const note = () => {
      this.done.push("|");
      if (working) setImmediate(note);
    };
    setImmediate(note);
    await Promise.all(works.map((work) => this.#work(work)));
    working = false;
  }

  async #work({ name, pieces, pieceMs }: Work): Promise<void> {
    for (let piece = 0; piece < pieces; piece++) {
      await undefined;
      const wait = this.#queue.next();
      if (wait !== undefined) await wait;
      this.#nowMs += pieceMs;
      this.done.push(name);
    }
  }

  /** What was done in each turn. */
  get turns(): string[] {
    return this.done
      .join("")
      .split("|")
      .filter((turn) => turn !== "");
  }
}

test("long work lets others run after each slice, and small pieces share a slice", async () => {
  const shop = new Workshop();
  await shop.run([{ name: "a", pieces: 10, pieceMs: SLICE_MS / 2 }]);
  assert.deepEqual(shop.turns, ["aa", "aa", "aa", "aa", "aa"]);
});

test("several long works take turns: all together have one slice in a turn of the event loop", async () => {
  const shop = new Workshop();
  await shop.run(["a", "b", "c"].map((name) => ({ name, pieces: 3, pieceMs: SLICE_MS })));
  assert.deepEqual(shop.turns, ["a", "b", "c", "a", "b", "c", "a", "b", "c"]);
});

test("works that need little time go on together in one turn", async () => {
  const shop = new Workshop();
  const small = ["a", "b", "c", "d"].map((name) => ({ name, pieces: 1, pieceMs: SLICE_MS / 2 }));
  await shop.run([{ name: "x", pieces: 1, pieceMs: SLICE_MS }, ...small]);
  assert.deepEqual(shop.turns, ["x", "ab", "cd"]);
});

test("many workers all come to their end", async () => {
  const shop = new Workshop();
  await shop.run(
    Array.from({ length: 200 }, () => ({ name: "a", pieces: 5, pieceMs: SLICE_MS / 4 })),
  );
  assert.equal(shop.done.filter((one) => one === "a").length, 1_000);
  assert.ok(shop.turns.every((turn) => turn.length <= 4));
});
