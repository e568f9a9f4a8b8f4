import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Fault } from "../base/fault.ts";
import { MIB } from "../base/limits.ts";
import { type Stamp, stampOf } from "../base/stamp.ts";
import { appendsInPlace } from "./appends-in-place.contract.ts";
import { changes } from "./changes.contract.ts";
import { derivedRanges } from "./derived-ranges.contract.ts";
import {
  assertRising,
  k,
  list,
  type OpenStore,
  opened,
  put,
  read,
  render,
  START_MS,
  v,
} from "./opened-store.contract.ts";
import { rounds } from "./rounds.contract.ts";
import { type Store, StoreError, type Transaction, type View } from "./store.ts";
import { storeAgreesWithModel } from "./store-model.contract.ts";
import { ranges, values } from "./store-values.contract.ts";

export interface StoreContractOptions {
  /**
   * False for the test engine that runs every body twice. Three promises are left to plain engines:
   * each run takes a stamp and the time, so neither can be predicted, and the second run of a body
   * begins after a close.
   */
  readonly runsBodiesOnce?: boolean;
  /** False for several front ends: one hears of the commits of others soon, but not at once. */
  readonly hearsAtOnce?: boolean;
}

/** Registers tests of everything that `store.ts` promises. */
export function storeContract(
  engine: string,
  open: OpenStore,
  { runsBodiesOnce = true, hearsAtOnce = true }: StoreContractOptions = {},
): void {
  describe(`${engine} store`, () => {
    values(open);
    ranges(open);
    derivedRanges(open);
    appendsInPlace(open);
    transactions(open);
    isolation(open);
    risingStamps(open);
    rounds(open);
    if (hearsAtOnce) changes(open);
    if (runsBodiesOnce) {
      time(open);
      exactStamps(open);
      closing(open);
    }
    discarding(open);
    test("random transactions agree with a sorted map", async (t) => {
      const { store } = await opened(t, open);
      await storeAgreesWithModel(store);
    });
  });
}

function isStoreError(kind: string): (error: unknown) => boolean {
  return (error) => error instanceof StoreError && error.kind === kind;
}

function transactions(open: OpenStore): void {
  test("transact returns the result of its body", async (t) => {
    const { store } = await opened(t, open);
    const answer = await store.transact((tx) => {
      tx.set(k(1), v("x"));
      return { some: "answer" };
    });
    assert.deepEqual(answer, { some: "answer" });
  });

  test("a body that throws writes nothing, and its error reaches the caller", async (t) => {
    const { store } = await opened(t, open);
    await put(store, k(1), v("kept"));
    const fault = new Fault("ConditionNotMet");
    const refused = store.transact((tx) => {
      tx.set(k(1), v("lost"));
      tx.delete(k(1));
      tx.set(k(2), v("lost"));
      tx.stamp();
      throw fault;
    });
    await assert.rejects(refused, (error) => error === fault);
    assert.deepEqual(await store.read((view) => list(view)), ["01=kept"]);
    await assert.rejects(
      store.read(() => {
        throw fault;
      }),
      (error) => error === fault,
    );
  });

  test("a body that throws does not affect concurrent transactions", async (t) => {
    const { store } = await opened(t, open);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 30 }, (_, at) =>
        store.transact((tx) => {
          tx.set(k(at), v(`${at}`));
          if (at % 3 === 0) throw new Fault("BlobNotFound");
        }),
      ),
    );
    outcomes.forEach(({ status }, at) => {
      assert.equal(status, at % 3 === 0 ? "rejected" : "fulfilled");
    });
    const stored = await store.read((view) => list(view).map((entry) => entry.split("=")[1]));
    assert.deepEqual(
      stored.map(Number),
      Array.from({ length: 30 }, (_, at) => at).filter((at) => at % 3 !== 0),
    );
  });

  test("a body reads its own writes", async (t) => {
    const { store } = await opened(t, open);
    await put(store, k(1), v("old"));
    await store.transact((tx) => {
      tx.set(k(1), v("new"));
      assert.deepEqual(tx.get(k(1)), v("new"));
      tx.delete(k(1));
      assert.equal(tx.get(k(1)), undefined);
      tx.set(k(1), v("newest"));
      tx.set(k(2), Buffer.alloc(0));
      assert.deepEqual(tx.get(k(1)), v("newest"));
      assert.deepEqual(tx.get(k(2)), Buffer.alloc(0));
    });
    assert.deepEqual(await store.read((view) => list(view)), ["01=newest", "02="]);
  });

  test("a body's ranges include its own writes, in order and within the limit", async (t) => {
    const { store } = await opened(t, open);
    await store.transact((tx) => {
      for (const at of [2, 4, 6, 8]) tx.set(k(at), v("old"));
    });
    await store.transact((tx) => {
      tx.set(k(1), v("new"));
      tx.delete(k(2));
      tx.set(k(3), v("new"));
      tx.set(k(4), v("new"));
      tx.delete(k(5));
      tx.delete(k(8));
      tx.set(k(9), v("new"));
      tx.set(Buffer.from([0x21]), v("beyond"));
      const all = ["01=new", "03=new", "04=new", "06=old", "09=new"];
      for (let limit = 0; limit <= 6; limit++) {
        assert.deepEqual(list(tx, limit), all.slice(0, limit));
        assert.deepEqual(list(tx, limit, true), all.toReversed().slice(0, limit));
      }
      assert.deepEqual(render(tx.range(k(3), k(9), { limit: 9 })), ["03=new", "04=new", "06=old"]);
    });
  });

  test("a body's ranges include its own writes at every step while they become many", async (t) => {
    const { store } = await opened(t, open);
    await store.transact((tx) => {
      for (let at = 0; at < 64; at += 2) tx.set(k(at), v("old"));
    });
    const isWritten = (step: number) => step % 3 > 0;
    const places = Array.from({ length: 100 }, (_, step) => (step * 37) % 64);
    await store.transact((tx) => {
      const model = new Map(Array.from({ length: 32 }, (_, at) => [2 * at, "old"]));
      for (const [step, at] of places.entries()) {
        if (isWritten(step)) tx.set(k(at), v(`${step}`));
        else tx.delete(k(at));
        if (isWritten(step)) model.set(at, `${step}`);
        else model.delete(at);
        for (const [from, until] of [[0, 64] as const, [at, at + 7] as const]) {
          const inside = [...model].filter(([key]) => key >= from && key < until);
          const wanted = inside.sort(([a], [b]) => a - b).map(([key, text]) => [k(key), v(text)]);
          for (const reverse of [false, true]) {
            const found = tx.range(k(from), k(until), { limit: 64, reverse });
            const pairs = found.map(({ key, value }) => [key, value]);
            assert.deepEqual(pairs, reverse ? wanted.toReversed() : wanted);
          }
        }
      }
    });
  });

  test("concurrent increments are serialized: none is lost", async (t) => {
    const { store } = await opened(t, open);
    const increment = (tx: Transaction) => {
      const next = Number(tx.get(k(1)) ?? 0) + 1;
      tx.set(k(1), v(`${next}`));
      return next;
    };
    const results = await Promise.all(Array.from({ length: 500 }, () => store.transact(increment)));
    assert.deepEqual(new Set(results).size, 500);
    assert.deepEqual(await read(store, k(1)), v("500"));
  });

  test("many large concurrent transactions are all committed", async (t) => {
    const { store } = await opened(t, open);
    const value = (at: number) => Buffer.alloc(MIB, at);
    await Promise.all(Array.from({ length: 24 }, (_, at) => put(store, k(at), value(at))));
    for (let at = 0; at < 24; at++) {
      assert.ok(value(at).equals((await read(store, k(at))) ?? v("nothing")));
    }
  });
}

function isolation(open: OpenStore): void {
  test("every later read sees an acknowledged write", async (t) => {
    const { store } = await opened(t, open);
    const writeAndRead = async (at: number) => {
      for (let round = 0; round < 20; round++) {
        await put(store, k(at), v(`${round}`));
        assert.deepEqual(await read(store, k(at)), v(`${round}`));
      }
    };
    await Promise.all(Array.from({ length: 16 }, (_, at) => writeAndRead(at)));
  });

  test("a reader sees all writes of a body or none, and never an older state again", async (t) => {
    const { store } = await opened(t, open);
    let writing = true;
    const write = async () => {
      for (let round = 1; round <= 100; round++) {
        await store.transact((tx) => {
          for (const at of [1, 2, 3]) tx.set(k(at), v(`${round}`));
        });
      }
      writing = false;
    };
    const watch = async () => {
      let last = 0;
      while (writing) {
        const seen = await store.read((view) =>
          [1, 2, 3].map((at) => Number(view.get(k(at)) ?? 0)),
        );
        assert.deepEqual(new Set(seen).size, 1, `half of a transaction: ${seen}`);
        assert.ok((seen[0] as number) >= last, "an older state after a newer one");
        last = seen[0] as number;
        await new Promise(setImmediate);
      }
    };
    await Promise.all([write(), watch(), watch()]);
  });

  test("a read that a body starts does not see the body's uncommitted writes", async (t) => {
    const { store } = await opened(t, open);
    const peeks: Promise<string[]>[] = [];
    const body = (at: number) => (tx: Transaction) => {
      tx.set(k(at), v("x"));
      peeks.push(store.read((view) => list(view)));
      throw new Fault("ConditionNotMet");
    };
    await Promise.allSettled([store.transact(body(1)), store.transact(body(2))]);
    for (const peek of peeks) assert.deepEqual(await peek, []);
  });

  test("a view cannot be used after its body has ended", async (t) => {
    const { store } = await opened(t, open);
    const view = await store.read((it) => it);
    const tx = await store.transact((it) => it);
    const uses = [
      () => view.get(k(1)),
      () => view.range(k(1), k(2), { limit: 1 }),
      () => tx.get(k(1)),
      () => tx.set(k(1), v("x")),
      () => tx.delete(k(1)),
      () => tx.stamp(),
    ];
    for (const use of uses) assert.throws(use, /after its body/);
  });
}

function time(open: OpenStore): void {
  test("now() is the clock's time, and does not change while a body runs", async (t) => {
    const { store, clock } = await opened(t, open);
    const twice = (view: View) => {
      const first = view.now();
      clock.advance(1_000);
      return [first, view.now()];
    };
    assert.deepEqual(await store.read(twice), [START_MS, START_MS]);
    assert.deepEqual(await store.transact(twice), [START_MS + 1_000, START_MS + 1_000]);
    assert.equal(await store.read((view) => view.now()), START_MS + 2_000);
  });
}

function exactStamps(open: OpenStore): void {
  test("a stamp is the clock's time in ticks of 100 ns, if the clock has advanced", async (t) => {
    const { store, clock } = await opened(t, open);
    assert.equal(await oneStamp(store), stampOf(START_MS));
    clock.advance(1);
    assert.equal(await oneStamp(store), stampOf(START_MS + 1));
  });
}

function oneStamp(store: Store): Promise<Stamp> {
  return store.transact((tx) => tx.stamp());
}

function risingStamps(open: OpenStore): void {
  test("stamps rise within a body, from body to body, and when the clock goes back", async (t) => {
    const { store, clock } = await opened(t, open);
    const given: Stamp[] = [];
    // What the last run of a body got: earlier ones may have got the same.
    const takeThree = async () => {
      const taken = await store.transact((tx) => [tx.stamp(), tx.stamp(), tx.stamp()]);
      given.push(...taken);
    };
    await Promise.all([takeThree(), takeThree(), takeThree()]);
    clock.advance(-3_600_000);
    await takeThree();
    let refused: Stamp = 0n;
    await assert.rejects(
      store.transact((tx) => {
        refused = tx.stamp();
        throw new Fault("BlobNotFound");
      }),
    );
    given.push(refused);
    await takeThree();
    assertRising(given);
  });
}

function closing(open: OpenStore): void {
  test("close waits for calls under way, and refuses later ones", async (t) => {
    const { store } = await opened(t, open);
    const underWay = Array.from({ length: 20 }, (_, at) => put(store, k(at), v("x")));
    const reading = store.read((view) => view.now());
    let finished = 0;
    for (const work of underWay) work.then(() => finished++);
    const closed = store.close();
    await assert.rejects(put(store, k(99), v("x")), isStoreError("broken"));
    await assert.rejects(read(store, k(1)), isStoreError("broken"));
    await closed;
    assert.equal(finished, 20);
    assert.equal(await reading, START_MS);
  });
}

/** Counts what bodies have acquired and not released. */
class Acquired {
  count = 0;

  readonly body = (view: View): number => {
    this.count++;
    view.onDiscard(() => this.count--);
    return this.count;
  };
}

function discarding(open: OpenStore): void {
  test("a body acquires something once for its caller, even if it runs again", async (t) => {
    const { store } = await opened(t, open);
    const acquired = new Acquired();
    await store.read(acquired.body);
    assert.equal(acquired.count, 1);
    // Large enough that an engine may have to make room, and run the body again.
    await store.transact((tx) => {
      tx.set(k(1), Buffer.alloc(MIB));
      acquired.body(tx);
    });
    await store.transact(acquired.body);
    assert.equal(acquired.count, 3);
  });

  test("if a body throws, what it acquired is released, the last first", async (t) => {
    const { store } = await opened(t, open);
    const acquired = new Acquired();
    const order: number[] = [];
    const body = (view: View) => {
      acquired.body(view);
      for (const at of [1, 2]) view.onDiscard(() => order.push(at));
      throw new Error("no");
    };
    await assert.rejects(store.read(body), /no/);
    await assert.rejects(store.transact(body), /no/);
    assert.equal(acquired.count, 0);
    assert.deepEqual(order.slice(0, 4), [2, 1, 2, 1]);
  });
}
