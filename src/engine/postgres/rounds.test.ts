import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import type { Histogram } from "../../base/histogram.ts";
import { key, SPACE } from "../../base/keys.ts";
import { prefetch } from "../../store/accelerated.ts";
import { ALL, k, put, read, v } from "../../store/opened-store.contract.ts";
import type { Store, Transaction, View } from "../../store/store.ts";
import { readAddress } from "./address.ts";
import { PostgresServer, skipWithoutPostgres } from "./postgres-server.fixture.ts";
import { openTestStore } from "./postgres-store.fixture.ts";
import { openPostgresStore } from "./store.ts";

const skip = skipWithoutPostgres();

describe("bodies on records that must be fetched", { skip: skip ?? false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.remove());

  /** A store whose cache is empty, on records of its own. */
  async function cold(t: TestContext): Promise<Store> {
    const { store, reopen, dispose } = await openTestStore(server);
    t.after(dispose);
    await store.transact((tx) => {
      for (let at = 0; at < 200; at++) tx.set(k(at), v(`${at}`));
    });
    return reopen();
  }

  test("calls that arrive together share one commit, and reads one round trip", async (t) => {
    const store = await openPostgresStore(readAddress(server.url()));
    t.after(() => store.close());
    const { commits, groupSizes, reads } = store.figures;
    const together = (call: (at: number) => Promise<unknown>) =>
      Promise.all(Array.from({ length: 100 }, (_, at) => call(at)));
    // The first one also finds out that nobody else commits: after it, no write lock is taken.
    for (let round = 0; round < 2; round++) {
      const [groups, calls] = [countOf(commits), groupSizes.sum];
      await together((at) => put(store, k(at), v("x")));
      assert.deepEqual([countOf(commits) - groups, groupSizes.sum - calls], [1, 100]);
    }
    // Another round trip may be under way, which tells others of the commit.
    const trips = countOf(reads);
    await together((at) => read(store, k(at)));
    assert.ok(countOf(reads) - trips <= 2, `${countOf(reads) - trips} round trips`);
  });

  test("keys without a value are found in one round, however many", async (t) => {
    const store = await cold(t);
    let runs = 0;
    await store.read((view) => {
      runs++;
      for (let at = 0; at < 100; at++) assert.equal(view.get(k(1, at)), undefined);
    });
    assert.equal(runs, 2);
  });

  test("a body may read keys that are made of its own stamps", async (t) => {
    const store = await cold(t);
    let runs = 0;
    const stamps = await store.transact((tx) => {
      runs++;
      return Array.from({ length: 50 }, () => {
        const stamp = tx.stamp();
        const at = key(SPACE.container, stamp);
        assert.equal(tx.get(at), undefined);
        tx.set(at, v("new"));
        return stamp;
      });
    });
    assert.equal(new Set(stamps).size, 50);
    assert.ok(runs <= 4, `${runs} runs`);
  });

  test("what a body names beforehand is fetched in one round", async (t) => {
    const store = await cold(t);
    let runs = 0;
    const body = (view: View) => {
      runs++;
      const range = { from: k(100), until: k(200), options: { limit: 100 } };
      prefetch(view, () => [k(1), k(2), range]);
      const found = view.range(k(100), k(200), range.options).length;
      return [`${view.get(k(1))}`, `${view.get(k(2))}`, found];
    };
    assert.deepEqual(await store.read(body), ["1", "2", 100]);
    assert.equal(runs, 2);
  });

  test("a long range takes few rounds, forwards and backwards", async (t) => {
    const store = await cold(t);
    for (const reverse of [false, true]) {
      let runs = 0;
      const found = await store.read((view) => {
        runs++;
        return view.range(ALL.from, ALL.until, { limit: 1_000, reverse }).length;
      });
      assert.equal(found, 200);
      assert.ok(runs <= 2, `${runs} runs`);
    }
  });

  test("a body that catches what ends its run, or guesses wrong, does not write it", async (t) => {
    const store = await cold(t);
    const sum = (tx: Transaction) => {
      let total = 0;
      try {
        for (const { value } of tx.range(k(0), k(5), { limit: 9 })) total += Number(value);
      } catch {
        total = -1;
      }
      total += Number(tx.get(k(7)) ?? 1_000);
      tx.set(k(250), v(`${total}`));
      return total;
    };
    assert.equal(await store.transact(sum), 0 + 1 + 2 + 3 + 4 + 7);
    await put(store, k(7), v("8"));
    assert.equal(await store.transact(sum), 18);
  });

  test("what later bodies will read comes along, if something is fetched anyway", async (t) => {
    const store = await cold(t);
    let named = 0;
    const body = (at: number) => (view: View) => {
      const next = () => {
        named++;
        return [k(at + 1)];
      };
      prefetch(view, () => [k(at)], next);
      return `${view.get(k(at))}`;
    };
    assert.equal(await store.read(body(1)), "1");
    assert.equal(named, 1);
    let runs = 0;
    const second = (view: View) => {
      runs++;
      return body(2)(view);
    };
    assert.equal(await store.read(second), "2");
    assert.deepEqual({ runs, named }, { runs: 1, named: 1 });
  });

  test("of bodies that lack the same, one names what the next ones will read", async (t) => {
    const store = await cold(t);
    let named = 0;
    const next = () => {
      named++;
      return [k(2)];
    };
    const body = (tx: Transaction) => {
      prefetch(tx, () => [k(1)], next);
      return `${tx.get(k(1))}`;
    };
    const read = await Promise.all(Array.from({ length: 10 }, () => store.transact(body)));
    assert.deepEqual(new Set(read), new Set(["1"]));
    assert.equal(named, 1);
  });

  test("bodies that read on fetch more each time", async (t) => {
    const store = await cold(t);
    let runs = 0;
    for (let at = 0; at < 200; at++) {
      const taken = await store.transact((tx) => {
        runs++;
        return takeFirst(tx);
      });
      assert.equal(taken, `${at}`);
    }
    const fetches = runs - 2 * 200;
    assert.ok(fetches <= 3, `${fetches} fetches`);
  });

  test("bodies of one commit take the first record, also one that was put in front", async (t) => {
    const store = await cold(t);
    await store.read((view) => view.range(ALL.from, ALL.until, { limit: 300 }));
    const putFirst = (tx: Transaction) => {
      tx.set(k(0), v("first"));
      return null;
    };
    const bodies = [takeFirst, takeFirst, takeFirst, putFirst, takeFirst, takeFirst];
    const taken = await Promise.all(bodies.map((body) => store.transact<string | null>(body)));
    assert.deepEqual(taken, ["0", "1", "2", null, "first", "3"]);
  });

  test("listeners hear of commits at other front ends, without a call at their own", async (t) => {
    const url = server.url();
    const [here, there] = await Promise.all([
      openPostgresStore(readAddress(url)),
      openPostgresStore(readAddress(url)),
    ]);
    t.after(() => Promise.all([here.close(), there.close()]));
    const heard = new Promise<string[]>((resolve) => {
      const end = here.changes((keys) => {
        if (keys === null) return;
        end();
        resolve(keys.map((each) => each.toString("hex")));
      });
    });
    await put(there, k(7), v("x"));
    assert.deepEqual(await heard, ["2007"]);
  });

  /** Resolves with the keys of the next commit that a store hears of. */
  function heardBy(store: Store): Promise<string[]> {
    return new Promise((resolve) => {
      const end = store.changes((keys) => {
        if (keys === null) return;
        end();
        resolve(keys.map((each) => each.toString("hex")));
      });
    });
  }

  test("a front end is told of commits at others, and need not look for them", async (t) => {
    const address = readAddress(server.url());
    const here = await openPostgresStore(address, { times: { pollMs: 2 ** 31 - 1 } });
    const there = await openPostgresStore(address);
    t.after(() => Promise.all([here.close(), there.close()]));
    for (let at = 1; at < 20; at++) {
      const heard = heardBy(here);
      await put(there, k(at), v("x"));
      assert.deepEqual(await heard, [k(at).toString("hex")]);
    }
  });

  test("a commit of which nobody tells is heard of, too", async (t) => {
    const url = server.url();
    const { schema } = readAddress(url);
    const store = await openPostgresStore(readAddress(url));
    t.after(() => store.close());
    const heard = heardBy(store);
    await server.withClient(url, (client) =>
      client.query(`begin; set local search_path = ${schema};
        insert into change select number + 1, array['\\x2007'::bytea] from last_commit;
        update last_commit set number = number + 1; commit`),
    );
    assert.deepEqual(await heard, ["2007"]);
  });
});

function countOf({ counts }: Histogram): number {
  return counts.reduce((sum, count) => sum + count, 0);
}

function takeFirst(tx: Transaction): string {
  const [first] = tx.range(ALL.from, ALL.until, { limit: 1 });
  if (first === undefined) throw new Error("nothing is left");
  tx.delete(first.key);
  return `${first.value}`;
}
