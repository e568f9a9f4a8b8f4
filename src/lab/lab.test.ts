import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../base/fault.ts";
import type { RestResponse } from "../front/rest/http/exchange.ts";
import { ForgettingStore } from "../store/forgetting-store.fixture.ts";
import type { Store } from "../store/store.ts";
import { ended, labUnderTest, settled } from "./lab.fixture.ts";
import type { Lab } from "./lab.ts";

const DONE: RestResponse = { status: 201, headers: [], body: null };

/** Whether a promise is settled by now. */
async function isOver(work: Promise<unknown>): Promise<boolean> {
  let over = false;
  work.finally(() => {
    over = true;
  });
  await settled();
  return over;
}

/** Reads all of an answer's body. */
async function bytesOf({ body }: RestResponse): Promise<number> {
  assert.ok(body !== null && typeof body === "object" && "borrow" in body);
  let bytes = 0;
  for (let one = await body.borrow(64); one !== null; one = await body.borrow(64)) {
    bytes += one.parts.reduce((sum, part) => sum + part.length, 0);
    one.release();
  }
  return bytes;
}

test("a delayed request goes on when its time is over, and not before", async () => {
  const { lab, time, put } = labUnderTest();
  lab.addRule({ operation: "PutBlob", delay: "20s" });
  let isBegun = false;
  const delayed = put(async () => {
    isBegun = true;
    return DONE;
  });
  await time.pass(19_999);
  assert.equal(isBegun, false);
  await time.pass(1);
  assert.equal(isBegun, true);
  assert.equal((await delayed).status, 201);
  assert.deepEqual(time.leftMs, []);
});

for (const [what, end] of [
  ["a stop", "close"],
  ["clearing the rules", "clearRules"],
  ["removing the rule", "removeRule"],
] as const) {
  test(`${what} ends a delay, and the rest of a slow body comes at once`, async () => {
    for (const wait of [{ delay: "1h" }, { hold: true, at: "arrival", timeout: "1h" }]) {
      const { lab, time, put } = labUnderTest();
      const { id } = lab.addRule({ ...wait, times: "always" });
      const waiting = put(async () => DONE);
      await settled();
      assert.deepEqual(time.leftMs, [3_600_000]);
      lab[end](id);
      await ended(waiting);
      assert.deepEqual(time.leftMs, []);
      // The rule is gone for others, too.
      await ended(put(async () => DONE));
    }

    const other = labUnderTest();
    const slow = other.lab.addRule({ slow: 1 });
    const answer = await other.put(async () => ({ ...DONE, body: "a long body" }));
    const bytes = bytesOf(answer);
    await other.time.pass(1_000);
    assert.equal(await isOver(bytes), false);
    other.lab[end](slow.id);
    assert.equal(await ended(bytes), "a long body".length);
    assert.deepEqual(other.time.leftMs, []);
  });
}

test("rules that come while the server stops hold up nobody", async () => {
  const { lab, time, put } = labUnderTest();
  lab.close();
  lab.addRule({ delay: "1h" });
  lab.addRule({ hold: true, at: "arrival" });
  assert.equal((await ended(put(async () => DONE))).status, 201);
  assert.deepEqual(time.leftMs, []);
});

test("rules act no more once the server stops", async () => {
  const { lab, put } = labUnderTest();
  lab.addRule({ answer: 503, times: "always" });
  assert.equal((await put(async () => DONE)).status, 400);
  lab.close();
  assert.equal((await put(async () => DONE)).status, 201);
});

test("going back to a state, and a seed, let go whom rules hold", async () => {
  for (const clear of [
    (lab: Lab) => lab.restore("now"),
    (lab: Lab) => lab.reset(),
    async (lab: Lab) => lab.seed(7),
  ]) {
    const { lab, put } = labUnderTest();
    lab.open({
      save: () => ({ restore: () => {}, forget: () => {} }),
      catchUp: async () => {},
      replace: async (work) => work(),
    });
    lab.save("now");
    lab.addRule({ hold: true, at: "arrival", times: "always" });
    const held = put(async () => DONE);
    await settled();
    assert.equal(lab.room.shown.length, 1);
    await clear(lab);
    await ended(held);
    assert.deepEqual(lab.shownRules, []);
  }
});

test("requests of the lab itself meet no rules", async () => {
  const { lab, put } = labUnderTest();
  lab.addRule({ answer: 503, times: "always" });
  const headers = { "x-lazuli-lab": "token" };
  assert.equal((await put(async () => DONE, { headers })).status, 201);
  assert.equal((await put(async () => DONE, { headers: { "x-lazuli-lab": "guess" } })).status, 400);
});

test("what a request has left to do when it is answered meets no rules", async () => {
  const { lab, put, store } = labUnderTest();
  let goOn = () => {};
  let later: Promise<unknown> | null = null;
  await put(async () => {
    const answered = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    later = answered.then(() => store.transact((tx) => tx.set(Buffer.from("key"), Buffer.of(1))));
    return DONE;
  });
  const rule = lab.addRule({ hold: true, at: "commit", times: "always" });
  goOn();
  assert.ok(later !== null);
  await ended(later);
  assert.equal(lab.shownRules.find(({ id }) => id === rule.id)?.matched, 0);
});

test("an answer that a rule replaces is closed, and what a read had pinned is released", async () => {
  const { lab, put, store } = labUnderTest();
  let closed = 0;
  const body = { length: 1, borrow: async () => null, close: () => void closed++ };
  lab.addRule({ answer: 503, at: "answer" });
  const { status } = await put(async () => ({ ...DONE, body }));
  assert.deepEqual([status, closed], [400, 1]);
  lab.addRule({ answer: 503, at: "read" });
  let released = 0;
  await put(async () => {
    await store.read((view) => view.onDiscard(() => void released++));
    return DONE;
  });
  assert.equal(released, 1);
});

test("a body that is tried before its commit leaves nothing behind", async () => {
  const { lab, put, store, memory } = labUnderTest();
  const key = Buffer.from("key");
  const barrier = lab.addRule({ hold: true, at: "commit" });
  const held = put(async () => {
    await store.transact((tx) => tx.set(key, Buffer.of(1)));
    return DONE;
  });
  await settled();
  assert.equal(lab.room.shown.length, 1);
  assert.equal(await memory.read((view) => view.get(key)), undefined);
  lab.room.release({ rule: barrier.id });
  await held;
  assert.deepEqual(await memory.read((view) => view.get(key)), Buffer.of(1));
});

test("bodies see the time of their account, and stamps go by the server's clock", async () => {
  const { lab, put, store, memory, clock } = labUnderTest();
  await lab.changeClock({ freeze: true, account: "near" });
  await lab.changeClock({ move: "1d", account: "near" });
  const hours = async (of: typeof store) => {
    const ticks = await of.transact((tx) => tx.stamp());
    const nowMs = await of.read((view) => view.now());
    return [Number(ticks / 10_000n), nowMs].map((ms) => Math.round(ms / 3_600_000));
  };
  const here = Math.round(clock.now() / 3_600_000);
  const stampHere = (await hours(memory))[0] ?? 0;
  await put(async () => {
    assert.deepEqual(await hours(store), [stampHere, here + 24]);
    return DONE;
  });
  assert.deepEqual(await hours(store), [stampHere, here]);
});

test("the store of background work goes by the clock that is furthest behind", async () => {
  const { lab, memory, clock } = labUnderTest();
  const behind = lab.behind(memory);
  const at = clock.now();
  await lab.changeClock({ move: "-1h", account: "near" });
  assert.equal(await behind.read((view) => view.now()), at - 3_600_000);
  assert.equal(await behind.transact((tx) => tx.now()), at - 3_600_000);
  await lab.changeClock({ move: "2h", account: "near" });
  assert.equal(await behind.read((view) => view.now()), at);
});

test("a change of a clock is answered when the background work that is due then is done", async () => {
  const { lab } = labUnderTest();
  let caughtUp = 0;
  let finish = () => {};
  lab.open({
    save: null,
    catchUp: () => {
      caughtUp++;
      return new Promise((resolve) => {
        finish = resolve;
      });
    },
    replace: async (work) => work(),
  });
  const changed = lab.changeClock({ move: "1h" });
  assert.equal(await isOver(changed), false);
  assert.equal(caughtUp, 1);
  finish();
  await changed;
});

/** The points that the accesses of one request to the store get to, as rules at each of them see it. */
async function pointsOf(handler: (store: Store) => Promise<unknown>): Promise<string[]> {
  const { lab, put, store } = labUnderTest();
  const seen: string[] = [];
  for (const at of ["read", "commit"] as const) lab.addRule({ hold: true, at, times: "always" });
  const done = put(async () => {
    await handler(store);
    return DONE;
  });
  for (let round = 0; round < 6; round++) {
    await settled();
    seen.push(...lab.room.shown.map(({ at }) => at));
    lab.room.release();
  }
  await done;
  return seen;
}

test("only the first read, and the first write, of a request are points for rules", async () => {
  const read = (store: Store) => store.read(() => {});
  const write = (store: Store) => store.transact(() => {});
  assert.deepEqual(await pointsOf(read), ["read"]);
  assert.deepEqual(await pointsOf(write), ["read", "commit"]);
  assert.deepEqual(
    await pointsOf(async (store) => {
      await read(store);
      await read(store);
      await write(store);
      await write(store);
      await read(store);
    }),
    ["read", "commit"],
  );
});

test("a rule that comes after the first read, or the first write, finds the next point only", async () => {
  const { lab, put, store } = labUnderTest();
  const late = () => lab.addRule({ answer: 503, at: "read" });
  const done = await put(async () => {
    await store.read(() => {});
    late();
    await store.read(() => {});
    await store.transact(() => {});
    return DONE;
  });
  assert.equal(done.status, 201);
  lab.clearRules();
  const other = await put(async () => {
    await store.transact(() => {});
    late();
    await store.read(() => {});
    await store.transact(() => {});
    return DONE;
  });
  assert.equal(other.status, 201);
});

test("a write is tried before each point, and a body that fails is not held", async () => {
  for (const at of ["read", "commit"] as const) {
    const { lab, put, store } = labUnderTest();
    lab.addRule({ hold: true, at, times: "always" });
    let runs = 0;
    const fails = put(() =>
      store.transact(() => {
        runs++;
        throw new Error("caches must be broken first");
      }),
    );
    await assert.rejects(ended(fails), /caches must be broken first/);
    assert.equal(runs, 1);
    // The next attempt meets the rule: so does one that is refused, which is an outcome.
    let tries = 0;
    const refused = put(() =>
      store
        .transact(() => {
          if (tries++ === 0) throw new Error("caches must be broken first");
          throw new Fault("LeaseIdMissing");
        })
        .catch((error) => {
          if (error instanceof Fault) throw error;
          return store.transact(() => {
            tries++;
            throw new Fault("LeaseIdMissing");
          });
        }),
    );
    await settled();
    assert.deepEqual([lab.room.shown.length, tries], [1, 2], at);
    lab.room.release();
    await assert.rejects(ended(refused), { code: "LeaseIdMissing" });
    assert.equal(tries, 3);
  }
});

test("what a read pinned in an attempt that ran again is not released twice", async () => {
  const { lab, put, memory } = labUnderTest();
  const store = lab.around(new ForgettingStore(memory));
  lab.addRule({ answer: 503, at: "read" });
  const released: number[] = [];
  let runs = 0;
  await put(async () => {
    await store.read((view) => {
      const run = ++runs;
      view.onDiscard(() => void released.push(run));
      view.get(Buffer.from("key"));
    });
    return DONE;
  });
  assert.ok(runs > 1, "the store ran the body again");
  assert.equal(new Set(released).size, released.length, `${released}`);
  assert.ok(released.includes(runs));
});

test("after a stamp, a body still sees the time of its account", async () => {
  const { lab, put, store, clock } = labUnderTest();
  await lab.changeClock({ move: "1d", account: "near" });
  const nowMs = await new Promise((resolve) => {
    void put(async () => {
      await store.transact((tx) => {
        tx.stamp();
        resolve(tx.now());
      });
      return DONE;
    });
  });
  assert.equal(nowMs, clock.now() + 86_400_000);
});

test("a write of several transactions is stopped at the first that a rule is about", async () => {
  const { lab, put, store } = labUnderTest();
  lab.addRule({ hold: true, at: "commit" });
  const done = put(async () => {
    await store.transact(() => {});
    lab.addRule({ answer: 503, at: "commit" });
    await store.transact(() => {});
    return DONE;
  });
  await settled();
  lab.room.release();
  assert.equal((await done).status, 201);
});

test("a request that a rule answered on its way meets no rule at its answer", async () => {
  const { lab, put, store } = labUnderTest();
  lab.addRule({ answer: 412, at: "commit" });
  const last = lab.addRule({ drop: true, at: "answer" });
  const { headers } = await put(async () => {
    await store.transact(() => {});
    return DONE;
  });
  assert.equal(headers[1], "ConditionNotMet");
  assert.equal(lab.shownRules.find(({ id }) => id === last.id)?.matched, 0);
});
