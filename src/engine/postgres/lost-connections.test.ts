import assert from "node:assert/strict";
import { after, before, describe, type TestContext, test } from "node:test";
import { k, put, read, v } from "../../store/opened-store.contract.ts";
import {
  type Store,
  StoreError,
  type StoreErrorKind,
  type Transaction,
} from "../../store/store.ts";
import { readAddress } from "./address.ts";
import { CutProxy } from "./cut-proxy.fixture.ts";
import { PostgresServer, skipWithoutOwnPostgres } from "./postgres-server.fixture.ts";
import { SCHEMA_LOCK } from "./schema.ts";
import type { Times } from "./session.ts";
import { openPostgresStore } from "./store.ts";

const skip = skipWithoutOwnPostgres();
/** Far longer than a restart takes on a busy machine. */
const PATIENT: Partial<Times> = { patienceMs: 120_000, answerMs: 120_000 };
/** Answers on a busy machine take less, too. */
const IMPATIENT: Partial<Times> = { patienceMs: 1_000, answerMs: 1_000 };

describe("a front end that loses its database", { skip: skip ?? false }, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.remove());

  /** A front end behind a proxy, and one with a connection of its own, on the same records. */
  async function opened(t: TestContext, times: Partial<Times> = PATIENT) {
    const proxy = await CutProxy.start(server.socketFolder);
    const url = server.url();
    const cutUrl = url.replace(server.socketFolder, proxy.folder);
    const store = await openPostgresStore(readAddress(cutUrl), { times });
    const other = await openPostgresStore(readAddress(url), { times: PATIENT });
    t.after(async () => {
      proxy.open();
      await Promise.all([store.close(), other.close()]);
      await proxy.close();
    });
    return { proxy, store, other, url };
  }

  for (const trap of ["lose the request", "lose the answer"] as const) {
    test(`after a cut in mid-commit (${trap}) each write is there once`, async (t) => {
      const { proxy, store, other } = await opened(t);
      await put(store, k(1), v("0"));
      for (let round = 1; round <= 5; round++) {
        const sprung = proxy.trapNextCommit(trap);
        const results = await Promise.all([store.transact(increment), store.transact(increment)]);
        await sprung;
        assert.deepEqual(results, [2 * round - 1, 2 * round]);
        assert.equal(`${await read(other, k(1))}`, `${2 * round}`);
        assert.equal(`${await read(store, k(1))}`, `${2 * round}`);
      }
    });
  }

  test("a body that was refused in a commit whose answer was lost is refused once", async (t) => {
    const { proxy, store } = await opened(t);
    await put(store, k(1), v("0"));
    const sprung = proxy.trapNextCommit("lose the answer");
    const [first, second] = await Promise.allSettled([
      store.transact(increment),
      store.transact((tx) => {
        if (`${tx.get(k(1))}` === "1") throw new Error("seen");
      }),
    ]);
    await sprung;
    assert.deepEqual(first, { status: "fulfilled", value: 1 });
    assert.equal(second?.status, "rejected");
  });

  test("a front end that stops while it has the write lock is cut off, and goes on", async (t) => {
    const times = { ...PATIENT, idleMs: 100 };
    const { proxy, store, other } = await opened(t, times);
    await put(other, k(1), v("0"));
    // The store has to know of the other's commit: otherwise it would commit without the lock.
    await read(store, k(1));
    const sprung = proxy.trapNextCommit("hold everything");
    const stopped = store.transact(increment);
    await sprung;
    await other.transact(increment);
    assert.equal(await stopped, 2);
    assert.equal(`${await read(other, k(1))}`, "2");
  });

  /** A store that has found out that nobody else commits. */
  async function alone(t: TestContext, times: Partial<Times> = PATIENT) {
    const { proxy, store, other } = await opened(t, times);
    for (let count = 0; count < 3; count++) await put(store, k(1), v("0"));
    return { proxy, store, other };
  }

  test("a front end takes no write lock while nobody else commits", async (t) => {
    const { proxy, store, other } = await alone(t);
    const before = proxy.locks;
    for (let count = 1; count <= 10; count++) await store.transact(increment);
    const refuse = () => {
      throw new Error("refused");
    };
    await assert.rejects(store.transact(refuse), /refused/);
    assert.equal(proxy.locks, before);
    assert.equal(await other.transact(increment), 11);
    assert.equal(await store.transact(increment), 12);
    assert.equal(`${await read(other, k(1))}`, "12");
    assert.equal(proxy.locks, before + 1);
  });

  test("a new session's first commit takes the lock", async (t) => {
    const { proxy, store, other } = await alone(t);
    const before = proxy.locks;
    proxy.cut();
    await read(store, k(1));
    assert.equal(proxy.locks, before);
    assert.equal(await store.transact(increment), 1);
    assert.equal(proxy.locks, before + 1);
    assert.equal(await store.transact(increment), 2);
    assert.equal(proxy.locks, before + 1);
    assert.equal(`${await read(other, k(1))}`, "2");
  });

  test("a commit without the lock takes no effect if another one came first", async (t) => {
    const { proxy, store, other } = await alone(t);
    const sprung = proxy.trapNextCommit("delay");
    const delayed = store.transact(increment);
    await sprung;
    assert.equal(await other.transact(increment), 1);
    await proxy.letPass();
    assert.equal(await delayed, 2);
    assert.equal(`${await read(other, k(1))}`, "2");
  });

  test("a refusal is judged again if another commit came first", async (t) => {
    const { store, other } = await alone(t);
    await put(other, k(1), v("new"));
    const refuse = (tx: Transaction) => {
      throw new Error(`${tx.get(k(1))}`);
    };
    await assert.rejects(store.transact(refuse), /new/);
  });

  test("a commit without the lock takes no effect long after its bodies have run", async (t) => {
    const { proxy, store, url } = await opened(t, { ...PATIENT, idleMs: 500 });
    for (let count = 0; count < 3; count++) await put(store, k(1), v("0"));
    let runs = 0;
    const sprung = proxy.trapNextCommit("delay");
    const delayed = store.transact((tx) => {
      runs++;
      return increment(tx);
    });
    await sprung;
    const before = runs;
    await server.withClient(url, (client) => client.query("select pg_sleep(0.6)"));
    await proxy.letPass();
    assert.equal(await delayed, 1);
    assert.ok(runs > before);
  });

  test("a commit that arrives after it was found to be lost takes no effect", async (t) => {
    const { proxy, store, other } = await alone(t);
    const sprung = proxy.trapNextCommit("arrive late");
    let isLost = false;
    const lost = store.transact((tx) => {
      if (isLost) throw new Error("refused");
      tx.set(k(1), v("late"));
    });
    await sprung;
    isLost = true;
    await assert.rejects(lost, /refused/);
    await proxy.letPass();
    assert.equal(`${await read(other, k(1))}`, "0");
    assert.equal(await store.transact(increment), 1);
  });

  test("a commit that arrives after the next one changes nothing of it", async (t) => {
    const { proxy, store, other } = await alone(t);
    const sprung = proxy.trapNextCommit("arrive late");
    let isLost = false;
    const lost = store.transact((tx) => tx.set(k(1), v(isLost ? "again" : "late")));
    await sprung;
    isLost = true;
    await lost;
    await proxy.letPass();
    assert.equal(`${await read(other, k(1))}`, "again");
  });

  test("a write is not taken for done because an unknown one before it was", async (t) => {
    const { proxy, store, other } = await opened(t, { ...PATIENT, patienceMs: 100 });
    await put(store, k(1), v("0"));
    const sprung = proxy.trapNextCommit("lose the answer");
    const unknown = store.transact(increment);
    await sprung;
    proxy.refuse();
    await untilStored(other, "1");
    await assert.rejects(unknown, isOfKind("unknown"));
    proxy.open();
    await untilReachable(() => read(store, k(1)));
    const sprungAgain = proxy.trapNextCommit("lose the request");
    // The request is lost, so that it may be repeated even if its outcome is called unknown.
    const next = untilReachable(() => store.transact(increment), "unknown");
    await sprungAgain;
    assert.equal(await next, 2);
    assert.equal(`${await read(other, k(1))}`, "2");
  });

  test("reads go on after a cut, and never show what was cached before it", async (t) => {
    const { proxy, store, other } = await opened(t);
    for (let round = 0; round < 10; round++) {
      await put(other, k(1), v(`${round}`));
      const reading = read(store, k(1));
      proxy.cut();
      assert.equal(`${await reading}`, `${round}`);
      await put(other, k(1), v(`${round} again`));
      assert.equal(`${await read(store, k(1))}`, `${round} again`);
    }
  });

  test("after a reconnect nothing is cached: a failover may have taken commits back", async (t) => {
    const { proxy, store, url } = await opened(t);
    await put(store, k(1), v("lost"));
    assert.equal(`${await read(store, k(1))}`, "lost");
    const { schema } = readAddress(url);
    const older = Buffer.from("older").toString("hex");
    const takeBack = `update ${schema}.kv set value = '\\x${older}'`;
    await server.withClient(url, (client) => client.query(takeBack));
    proxy.cut();
    assert.equal(`${await read(store, k(1))}`, "older");
  });

  test("calls fail as unreachable while the database is gone, and go on when it is back", async (t) => {
    const { proxy, store, other } = await opened(t, { ...PATIENT, patienceMs: 100 });
    await put(store, k(1), v("0"));
    proxy.cut({ isShut: true });
    await assert.rejects(store.transact(increment), isOfKind("unreachable"));
    await assert.rejects(read(store, k(1)), isOfKind("unreachable"));
    proxy.open();
    assert.equal(await untilReachable(() => store.transact(increment)), 1);
    assert.equal(`${await read(other, k(1))}`, "1");
  });

  test("a commit whose fate cannot be found out is called unknown", async (t) => {
    const { proxy, store, other } = await opened(t, { ...PATIENT, patienceMs: 100 });
    await put(store, k(1), v("0"));
    const sprung = proxy.trapNextCommit("lose the answer");
    const lost = store.transact(increment);
    await sprung;
    proxy.cut({ isShut: true });
    await assert.rejects(lost, isOfKind("unknown"));
    proxy.open();
    const before = Number(await read(other, k(1)));
    assert.equal(await untilReachable(() => store.transact(increment)), before + 1);
  });

  test("a connection that falls silent while a front end connects is given up", async (t) => {
    const { proxy, store, other } = await opened(t, IMPATIENT);
    await put(other, k(1), v("0"));
    for (const text of ["statement_timeout", "server_version", "from front_end", "listen "]) {
      const silenced = proxy.silenceAt(text);
      proxy.cut();
      await silenced;
      assert.equal(`${await untilReachable(() => read(store, k(1)))}`, "0");
    }
  });

  test("a store that connects to a silent server can be closed", async (t) => {
    const { proxy, store } = await opened(t);
    const silenced = proxy.silenceAt("server_version");
    proxy.cut();
    await silenced;
    await store.close();
  });

  test("a front end that stopped while it made a schema keeps none away from another", async (t) => {
    const { url } = await opened(t);
    await server.withClient(url, async (client) => {
      await client.query(`begin; select pg_advisory_xact_lock(${SCHEMA_LOCK})`);
      await (await openPostgresStore(readAddress(url), { times: IMPATIENT })).close();
      await client.query("rollback");
    });
  });

  test("a new session of the same front end uses up no number", async (t) => {
    const { proxy, store, url } = await opened(t);
    for (let count = 0; count < 3; count++) {
      proxy.cut();
      await read(store, k(1));
    }
    const next = await openPostgresStore(readAddress(url), { times: PATIENT });
    t.after(() => next.close());
    assert.equal(next.frontEnd, 3);
  });

  test("calls end while commits wait for a standby that is gone, and reads go on", async (t) => {
    const { store, other, url } = await opened(t, IMPATIENT);
    await put(other, k(1), v("0"));
    const waitFor = (standby: string) =>
      server.withClient(url, async (client) => {
        await client.query(`alter system set synchronous_standby_names = '${standby}'`);
        await client.query("select pg_reload_conf()");
      });
    t.after(() => waitFor(""));
    await waitFor("nobody");
    assert.ok((await untilRejected(() => store.transact(increment))) instanceof StoreError);
    await assert.rejects(store.transact(increment), isOfKind("unreachable"));
    assert.ok((await untilReachable(() => read(store, k(1)))) !== undefined);
    await assert.rejects(store.reach(), isOfKind("unreachable"));
    await waitFor("");
    const count = await untilReachable(() => store.transact(increment), "unknown");
    await untilReachable(() => store.reach());
    assert.equal(`${await read(other, k(1))}`, `${count}`);
  });

  test("calls end as unreachable while somebody else has the write lock", async (t) => {
    const { store, other, url } = await opened(t, IMPATIENT);
    await put(other, k(1), v("0"));
    await server.withClient(url, async (client) => {
      const { schema } = readAddress(url);
      await client.query(`begin; select * from ${schema}.last_commit for update`);
      const calls = [store.transact(increment), store.transact(increment)];
      for (const call of calls) await assert.rejects(call, isOfKind("unreachable"));
      await client.query("rollback");
    });
    assert.equal(await untilReachable(() => store.transact(increment)), 1);
  });

  test("reads end as unreachable while somebody else has locked the records", async (t) => {
    const { store, url } = await opened(t, IMPATIENT);
    await server.withClient(url, async (client) => {
      await client.query(`begin; lock table ${readAddress(url).schema}.kv`);
      await assert.rejects(read(store, k(2)), isOfKind("unreachable"));
      await client.query("rollback");
    });
    assert.equal(await untilReachable(() => read(store, k(2))), undefined);
  });

  test("terminated connections lose and double nothing", async (t) => {
    const { store, other, url } = await opened(t);
    const { schema } = readAddress(url);
    const terminate = () =>
      server.withClient(url, (client) =>
        client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
          where application_name = 'lazuli' and pid <> pg_backend_pid() and '${schema}' <> ''`,
        ),
      );
    await underLoad([store, other], async (isEnough) => {
      for (let round = 0; round < 5; round++) {
        await isEnough(round);
        await terminate();
      }
    });
  });

  test("a server that is killed in mid-commit and comes back loses and doubles nothing", async (t) => {
    const { store, other } = await opened(t);
    await underLoad([store, other], async (isEnough) => {
      for (let round = 0; round < 3; round++) {
        await isEnough(round);
        await server.kill();
        await server.resume();
      }
    });
  });
});

function increment(tx: Transaction): number {
  const next = Number(tx.get(k(1)) ?? 0) + 1;
  tx.set(k(1), v(`${next}`));
  return next;
}

/**
 * Increments at all stores while `harm` runs, which waits for more of them between its rounds. Every
 * result must come once, and the last one must be stored.
 */
async function underLoad(
  stores: readonly Store[],
  harm: (isEnough: (round: number) => Promise<void>) => Promise<void>,
): Promise<void> {
  const results: number[] = [];
  let isDone = false;
  let onResult: () => void = () => {};
  const work = async (store: Store) => {
    while (!isDone) {
      results.push(await store.transact(increment));
      onResult();
    }
  };
  const working = stores.flatMap((store) => Array.from({ length: 4 }, () => work(store)));
  const isEnough = async (round: number) => {
    while (results.length < (round + 1) * 40) {
      await new Promise<void>((resolve) => {
        onResult = resolve;
      });
    }
  };
  try {
    await harm(isEnough);
  } finally {
    isDone = true;
  }
  await Promise.all(working);
  const count = results.length;
  assert.deepEqual(
    results.toSorted((a, b) => a - b),
    Array.from({ length: count }, (_, at) => at + 1),
  );
  for (const store of stores) assert.equal(Number(await read(store, k(1))), count);
}

function isOfKind(kind: StoreErrorKind): (error: unknown) => boolean {
  return (error) => error instanceof StoreError && error.kind === kind;
}

async function untilStored(store: Store, value: string): Promise<void> {
  while (`${await read(store, k(1))}` !== value) await new Promise(setImmediate);
}

/** The error of the first call that fails. A server takes up new settings when it gets to it. */
async function untilRejected(call: () => Promise<unknown>): Promise<unknown> {
  for (;;) {
    try {
      await call();
    } catch (error) {
      return error;
    }
  }
}

/** Tries again as long as a call fails as unreachable, or as this kind. */
async function untilReachable<T>(call: () => Promise<T>, kind?: StoreErrorKind): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.kind !== "unreachable" && error.kind !== kind) throw error;
      await new Promise(setImmediate);
    }
  }
}
