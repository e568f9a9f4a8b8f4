import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { AnyOf } from "../../base/any-of.fixture.ts";
import type { Bytes } from "../../base/bytes.ts";
import { type Clock, ManualClock } from "../../base/clock.ts";
import { KEY_BYTES_MAX } from "../../base/keys.ts";
import type { Stamp } from "../../base/stamp.ts";
import { assertRising, k, list, put, read, v } from "../../store/opened-store.contract.ts";
import { storeContract } from "../../store/store.contract.ts";
import type { ChangeListener, Store, Transaction, View } from "../../store/store.ts";
import { readAddress } from "./address.ts";
import { PostgresServer, skipWithoutPostgres } from "./postgres-server.fixture.ts";
import { rows, SCHEMA_LOCK } from "./schema.ts";
import { CHANGES_MAX } from "./statements.ts";
import { openPostgresStore, type PostgresStoreOptions } from "./store.ts";

const skip = skipWithoutPostgres();
const NOON = Date.UTC(2024, 0, 1, 12);

/** Sends each call to another of several front ends. */
class AnyFrontEnd implements Store {
  readonly keyBytesMax = KEY_BYTES_MAX;
  readonly #stores: AnyOf<Store>;

  constructor(stores: readonly Store[]) {
    this.#stores = new AnyOf(stores);
  }

  read<T>(body: (view: View) => T): Promise<T> {
    return this.#stores.next().read(body);
  }

  transact<T>(body: (tx: Transaction) => T): Promise<T> {
    return this.#stores.next().transact(body);
  }

  /** Any of them hears of all commits. */
  changes(listener: ChangeListener): () => void {
    return this.#stores.next().changes(listener);
  }

  async close(): Promise<void> {
    await Promise.all(this.#stores.all.map((store) => store.close()));
  }
}

describe("several front ends on one database", { skip: skip ?? false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.remove());

  const openStores = (count: number, options: PostgresStoreOptions = {}, url = server.url()) =>
    Promise.all(Array.from({ length: count }, () => openPostgresStore(readAddress(url), options)));

  test("front ends that start together make one schema", async () => {
    const url = server.url();
    await server.withClient(url, async (client) => {
      await client.query(`begin; select pg_advisory_xact_lock(${SCHEMA_LOCK})`);
      const opening = openStores(2, {}, url);
      const waiting = "select from pg_locks where locktype = 'advisory' and not granted";
      // Both have found nothing when the first of them begins to make it.
      while ((await rows(client, waiting)).length < 2);
      await client.query("rollback");
      const stores = await opening;
      assert.deepEqual(stores.map(({ frontEnd }) => frontEnd).sort(), [1, 2]);
      await Promise.all(stores.map((store) => store.close()));
    });
  });

  test("a store that cannot be opened leaves no connection behind", async () => {
    const url = server.url();
    const { schema } = readAddress(url);
    const [store] = await openStores(1, {}, url);
    await store?.close();
    await server.withClient(url, async (client) => {
      await client.query(`drop table ${schema}.last_commit`);
      await assert.rejects(openStores(1, {}, url), /last_commit/);
      const ours = "select from pg_stat_activity where application_name = 'lazuli'";
      // The server ends them in its own time.
      while ((await rows(client, ours)).length > 0);
    });
  });

  async function opened(t: TestContext, count: number, options?: PostgresStoreOptions) {
    const url = server.url();
    const stores = await openStores(count, options, url);
    t.after(() => Promise.all(stores.map((store) => store.close())));
    const [a, b] = stores as readonly Store[];
    return { stores, a: a as Store, b: b as Store, url };
  }

  storeContract(
    "postgres, where each call goes to another of three front ends,",
    async (clock: Clock) => {
      const store = new AnyFrontEnd(await openStores(3, { clock }));
      return { store, dispose: () => store.close() };
    },
    { runsBodiesOnce: false, hearsAtOnce: false },
  );

  test("a write at one front end is seen by the next read at every other", async (t) => {
    const { stores } = await opened(t, 3);
    for (let round = 0; round < 100; round++) {
      const from = stores[round % 3] as Store;
      await put(from, k(round % 5), v(`${round}`));
      for (const store of stores) {
        assert.equal(`${await read(store, k(round % 5))}`, `${round}`);
        const all = await store.read((view) => list(view));
        assert.ok(all.includes(`${hex(round % 5)}=${round}`), `${all}`);
      }
    }
  });

  test("a body that is only tried gets no stamp that another front end has given", async (t) => {
    const { a, b } = await opened(t, 2, { clock: new ManualClock(NOON) });
    const begin = (tx: Transaction) => tx.set(k(1), v(`${tx.stamp()}`));
    await b.transact(begin);
    for (let count = 0; count < 5; count++) await a.transact(begin);
    await read(b, k(1));
    let isRepeated = false;
    await b.transact((tx) => {
      if (tx.stamp() <= BigInt(`${tx.get(k(1))}`)) isRepeated = true;
    });
    assert.equal(isRepeated, false);
  });

  test("large values that another front end changed are fetched again", async (t) => {
    const { a, b } = await opened(t, 2);
    for (const letter of "abc") {
      const value = Buffer.alloc(100_000, letter);
      await put(a, k(1), value);
      assert.ok((await read(b, k(1)))?.equals(value));
      const ranged = await b.read((view) => view.range(k(), k(9), { limit: 5 })[0]?.value);
      assert.ok(ranged?.equals(value));
    }
  });

  test("increments at all front ends are serialized: none is lost or doubled", async (t) => {
    const { stores } = await opened(t, 3);
    const increment = (tx: Transaction) => {
      const next = Number(tx.get(k(1)) ?? 0) + 1;
      tx.set(k(1), v(`${next}`));
      return next;
    };
    const calls = Array.from({ length: 300 }, (_, at) => stores[at % 3]?.transact(increment));
    assert.equal(new Set(await Promise.all(calls)).size, 300);
    for (const store of stores) assert.equal(`${await read(store, k(1))}`, "300");
  });

  test("stamps rise from front end to front end, in the order of the commits", async (t) => {
    const { stores } = await opened(t, 3);
    const given: { at: number; stamp: Stamp }[] = [];
    const take = async (store: Store) => {
      for (let count = 0; count < 20; count++) {
        const taken = await store.transact((tx) => {
          const at = Number(tx.get(k(1)) ?? 0) + 1;
          tx.set(k(1), v(`${at}`));
          return { at, stamp: tx.stamp() };
        });
        given.push(taken);
      }
    };
    await Promise.all(stores.map(take));
    given.sort((one, other) => one.at - other.at);
    assertRising(given.map(({ stamp }) => stamp));
  });

  test("time is the database's, whatever the clocks of the front ends say", async (t) => {
    const { stores } = await opened(t, 2);
    const real = Date.now();
    t.mock.method(Date, "now", () => real - 3_600_000);
    const times: number[] = [];
    for (let count = 0; count < 10; count++) {
      for (const store of stores) {
        times.push(await store.read((view) => view.now()));
        times.push(await store.transact((tx) => tx.now()));
      }
    }
    for (const time of times) assert.ok(Math.abs(time - real) < 600_000, `${time - real}`);
    assert.deepEqual(times, times.toSorted());
  });

  test("a front end that missed commits of which nothing is known forgets its cache", async (t) => {
    const { a, b, url } = await opened(t, 2);
    await put(a, k(1), v("old"));
    assert.equal(`${await read(b, k(1))}`, "old");
    const { schema } = readAddress(url);
    const forget = (which: string) =>
      server.withClient(url, (client) => client.query(`delete from ${schema}.change ${which}`));
    for (const which of ["", "where number = (select min(number) from change)"]) {
      await put(a, k(1), v(`new ${which}`));
      await put(a, k(2), v("other"));
      await forget(which.replace("change)", `${schema}.change)`));
      assert.equal(`${await read(b, k(1))}`, `new ${which}`);
    }
    await put(b, k(2), v("x"));
    assert.equal(`${await read(a, k(2))}`, "x");
  });

  test("the log of changes has the last commits, and no earlier ones", async (t) => {
    const { a, url } = await opened(t, 1);
    const { schema } = readAddress(url);
    const last = CHANGES_MAX + 100;
    await server.withClient(url, async (client) => {
      await client.query(`set search_path = ${schema};
        insert into change select number, array[]::bytea[] from generate_series(1, ${last}) number;
        update last_commit set number = ${last}`);
      for (let count = 0; count < 3; count++) await put(a, k(count), v("x"));
      const dropped = `select number from change where number between 98 and 106 order by number`;
      const left = (await rows(client, dropped)).map(({ number }) => Number(number));
      assert.deepEqual(left, [98, 99, 100, 104, 105, 106]);
    });
  });

  test("a commit of so many keys that they are not noted is seen by others, too", async (t) => {
    const { a, b } = await opened(t, 2);
    const long = (at: number) => Buffer.concat([k(at >> 8, at & 0xff), Buffer.alloc(2_000)]);
    await put(a, long(7), v("old"));
    assert.equal(`${await read(b, long(7))}`, "old");
    await a.transact((tx) => {
      for (let at = 0; at < 600; at++) tx.set(long(at), v("new"));
    });
    assert.equal(`${await read(b, long(7))}`, "new");
  });

  test("keys of any length are in the order of their bytes, and can be told apart", async (t) => {
    const { a, b } = await opened(t, 2);
    const keys = [2_559, 2_560, 2_561, 3_000, 3_500].flatMap((length) =>
      [0, 1, 255].map((last) =>
        Buffer.concat([Buffer.alloc(length - 1, 0x20), Buffer.from([last])]),
      ),
    );
    const sorted = keys.toSorted(Buffer.compare);
    await a.transact((tx) => {
      for (const key of keys.toReversed()) tx.set(key, key.subarray(-2));
    });
    for (const reverse of [false, true]) {
      for (const limit of [1, 4, 100]) {
        const found = await b.read((view) =>
          view.range(Buffer.from([0x20]), Buffer.from([0x21]), { limit, reverse }),
        );
        const expected = (reverse ? sorted.toReversed() : sorted).slice(0, limit);
        assert.deepEqual(
          found.map(({ key }) => key),
          expected,
        );
      }
    }
    for (const key of keys) assert.deepEqual(await read(b, key), key.subarray(-2));
    await b.transact((tx) => tx.delete(keys.at(-1) as Bytes));
    assert.equal(await read(a, keys.at(-1) as Bytes), undefined);
    assert.equal((await read(a, keys.at(-2) as Bytes))?.length, 2);
  });
});

function hex(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
