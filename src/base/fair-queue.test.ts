import assert from "node:assert/strict";
import { test } from "node:test";
import { FairQueue, SLICE_MS } from "./fair-queue.ts";

interface Work {
  readonly name: string;
  readonly pieces: number;
  readonly pieceMs: number;
}

/** Workers on a clock that only their work advances, and a log of their work. */
class Workshop {
  readonly done: string[] = [];
  #nowMs = 0;
  readonly #queue = new FairQueue(() => this.#nowMs);

  /** Starts all works in one iteration of the event loop, and logs iterations until they end. */
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

  /** The work done in each iteration. */
  get iterations(): string[] {
    return this.done
      .join("")
      .split("|")
      .filter((iteration) => iteration !== "");
  }
}

test("long work lets others run after each slice, and small pieces share a slice", async () => {
  const shop = new Workshop();
  await shop.run([{ name: "a", pieces: 10, pieceMs: SLICE_MS / 2 }]);
  assert.deepEqual(shop.iterations, ["aa", "aa", "aa", "aa", "aa"]);
});

test("several long works alternate: together they get one slice per iteration of the event loop", async () => {
  const shop = new Workshop();
  await shop.run(["a", "b", "c"].map((name) => ({ name, pieces: 3, pieceMs: SLICE_MS })));
  assert.deepEqual(shop.iterations, ["a", "b", "c", "a", "b", "c", "a", "b", "c"]);
});

test("short works share one iteration", async () => {
  const shop = new Workshop();
  const small = ["a", "b", "c", "d"].map((name) => ({ name, pieces: 1, pieceMs: SLICE_MS / 2 }));
  await shop.run([{ name: "x", pieces: 1, pieceMs: SLICE_MS }, ...small]);
  assert.deepEqual(shop.iterations, ["x", "ab", "cd"]);
});

test("all of many workers finish", async () => {
  const shop = new Workshop();
  await shop.run(
    Array.from({ length: 200 }, () => ({ name: "a", pieces: 5, pieceMs: SLICE_MS / 4 })),
  );
  assert.equal(shop.done.filter((one) => one === "a").length, 1_000);
  assert.ok(shop.iterations.every((iteration) => iteration.length <= 4));
});
