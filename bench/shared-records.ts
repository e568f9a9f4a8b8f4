import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bytes } from "../src/base/bytes.ts";
import { systemClock } from "../src/base/clock.ts";
import { key, keyAfter, SPACE } from "../src/base/keys.ts";
import { openEmbeddedStore } from "../src/engine/embedded/store.ts";
import { readAddress } from "../src/engine/postgres/address.ts";
import { PostgresServer } from "../src/engine/postgres/postgres-server.fixture.ts";
import { openPostgresStore } from "../src/engine/postgres/store.ts";
import type { Store, Transaction } from "../src/store/store.ts";

/**
 * Measures records in PostgreSQL against pgbench on the same server, in turns:
 * `node dist/bench/shared-records.js [seconds]`. It takes root, or PostgreSQL's programs.
 */

const CLIENTS = 64;
const KEYS = 10_000;
const VALUE = Buffer.alloc(100, "v");
const PROGRAM = fileURLToPath(import.meta.url);

/** `at` is any key. It is chosen outside of the body, which may run more than once. */
type Work = (store: Store, at: Bytes) => Promise<unknown>;

const rowKey = (at: number) => key(SPACE.container, at);
const anyKey = () => rowKey(Math.floor(Math.random() * KEYS));
const queueOf = (queue: number) => key(SPACE.messageSlot, queue);

/** Receives the first message of a queue and puts it behind all others. */
function receive(tx: Transaction): void {
  const [first] = tx.range(queueOf(1), keyAfter(queueOf(1)), { limit: 1 });
  if (first === undefined) throw new Error("the queue is empty");
  tx.delete(first.key);
  tx.set(key(SPACE.messageSlot, 1, tx.stamp()), first.value);
}

const WORKS: Readonly<Record<string, Work>> = {
  updates: (store, at) => store.transact((tx) => tx.set(at, VALUE)),
  "read and update": (store, at) => store.transact((tx) => tx.set(at, tx.get(at) ?? VALUE)),
  "cached reads": (store, at) => store.read((view) => view.get(at)),
  queue: (store) => store.transact(receive),
};

/** Runs a kind of work with many clients. Sends its rate and CPU to the parent process. */
async function measure(place: string, name: string, seconds: number): Promise<void> {
  const store = await openAt(place);
  const work = WORKS[name] as Work;
  const until = (ms: number) => performance.now() + ms;
  const run = async (end: number) => {
    let done = 0;
    const client = async () => {
      for (; performance.now() < end; done++) await work(store, anyKey());
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    return done;
  };
  await run(until(1_000));
  const before = process.cpuUsage();
  const done = await run(until(seconds * 1_000));
  const { user, system } = process.cpuUsage(before);
  process.send?.({ rate: done / seconds, cpuUs: (user + system) / done });
  await store.close();
  process.disconnect();
}

/** The records of a database, or those of the embedded engine in a folder, with the same rows. */
async function openAt(place: string): Promise<Store> {
  if (place.startsWith("postgres:")) return openPostgresStore(readAddress(place));
  const fail = (error: Error) => {
    throw error;
  };
  const store = await openEmbeddedStore(place, systemClock, fail, EMBEDDED_LOG_BYTES);
  await fill(store);
  return store;
}

const EMBEDDED_LOG_BYTES = 64 * 1024 * 1024;

async function fill(store: Store): Promise<void> {
  await store.transact((tx) => {
    for (let at = 0; at < KEYS; at++) tx.set(rowKey(at), VALUE);
    for (let at = 0; at < 1_000; at++) tx.set(key(SPACE.messageSlot, 1, at), VALUE);
  });
}

interface Measured {
  readonly rate: number;
  readonly cpuUs: number;
}

/** The same work on the embedded engine. */
async function embedded(name: string, seconds: number): Promise<Measured> {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-embedded-"));
  try {
    return await frontEnds(folder, name, seconds, 1);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function frontEnds(url: string, name: string, seconds: number, count: number) {
  const all = await Promise.all(
    Array.from({ length: count }, async () => {
      const child = fork(PROGRAM, ["front-end", url, name, `${seconds}`]);
      const [measured] = (await once(child, "message")) as [Measured];
      return measured;
    }),
  );
  const rate = all.reduce((sum, one) => sum + one.rate, 0);
  const cpuUs = all.reduce((sum, one) => sum + one.cpuUs * one.rate, 0) / rate;
  return { rate, cpuUs };
}

/** Transactions a second of a script of pgbench. */
function pgbench(server: PostgresServer, script: string, seconds: number): number {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-pgbench-"));
  const file = join(folder, "script.sql");
  writeFileSync(file, script);
  const load = ["-n", "-M", "prepared", "-c", `${CLIENTS}`, "-j", "2", "-T", `${seconds}`];
  const done = spawnSync("pgbench", [...load, "-f", file, server.libpqUrl()], { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  const rate = /tps = ([0-9.]+)/.exec(done.stdout)?.[1];
  if (rate === undefined) throw new Error(`pgbench: ${done.error ?? done.stderr}`);
  return Number(rate);
}

const TABLES = `
  drop table if exists row_bench, queue_bench;
  create table row_bench (id integer primary key, value bytea) with (fillfactor = 85);
  insert into row_bench select at, decode(repeat('76', 100), 'hex')
    from generate_series(0, ${KEYS - 1}) as at;
  create table queue_bench (id bigserial primary key, visible bigint, value bytea);
  create index on queue_bench (visible, id);
  insert into queue_bench (visible, value)
    select at, decode(repeat('76', 100), 'hex') from generate_series(1, 1000) as at;
  create sequence if not exists queue_order start 1000000;
  vacuum analyze row_bench; vacuum analyze queue_bench;`;

const UPDATE = `\\set id random(0, ${KEYS - 1})
update row_bench set value = decode(repeat('77', 100), 'hex') where id = :id;`;

const SKIP_LOCKED = `update queue_bench set visible = nextval('queue_order') where id = (
  select id from queue_bench order by visible, id limit 1 for update skip locked);`;

async function compare(seconds: number): Promise<void> {
  const server = await PostgresServer.start(
    "fsync=on",
    "shared_buffers=256MB",
    "max_connections=200",
  );
  const url = server.url("bench");
  try {
    for (const text of TABLES.split(";")) {
      if (text.trim() !== "") await server.withClient(url, (client) => client.query(text));
    }
    const store = await openPostgresStore(readAddress(url));
    await fill(store);
    await store.close();
    const say = (what: string, { rate, cpuUs }: Measured) =>
      console.log(`${what}: ${rate.toFixed(0)}/s, ${cpuUs.toFixed(1)} us of CPU each`);
    for (let round = 0; round < 2; round++) {
      console.log(`pgbench updates: ${pgbench(server, UPDATE, seconds).toFixed(0)}/s`);
      for (const name of ["updates", "read and update", "cached reads"]) {
        say(`${name}, 1 front end`, await frontEnds(url, name, seconds, 1));
        say(`${name}, 3 front ends`, await frontEnds(url, name, seconds, 3));
      }
      say("cached reads, embedded engine", await embedded("cached reads", seconds));
      console.log(`pgbench SKIP LOCKED: ${pgbench(server, SKIP_LOCKED, seconds).toFixed(0)}/s`);
      say("queue, 1 front end", await frontEnds(url, "queue", seconds, 1));
      say("queue, 3 front ends", await frontEnds(url, "queue", seconds, 3));
    }
    const standby = await server.addStandby();
    for (let round = 0; round < 2; round++) {
      const rate = pgbench(server, UPDATE, seconds);
      console.log(`pgbench updates, synchronous standby: ${rate.toFixed(0)}/s`);
      const measured = await frontEnds(url, "updates", seconds, 1);
      say("updates, 1 front end, synchronous standby", measured);
    }
    await standby.remove();
  } finally {
    await server.remove();
  }
}

const [role, url = "", name = "", seconds = "5"] = process.argv.slice(2);
if (role === "front-end") await measure(url, name, Number(seconds));
else await compare(Number(role ?? seconds));
