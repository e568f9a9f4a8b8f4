import { fork, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Bytes } from "../src/base/bytes.ts";
import { systemClock } from "../src/base/clock.ts";
import { key, SPACE } from "../src/base/keys.ts";
import { openEmbeddedStore } from "../src/engine/embedded/store.ts";
import { readAddress } from "../src/engine/postgres/address.ts";
import { PostgresServer } from "../src/engine/postgres/postgres-server.fixture.ts";
import { openPostgresStore } from "../src/engine/postgres/store.ts";
import { OWNER } from "../src/rules/access.ts";
import { createQueue } from "../src/service/queue/create-queue.ts";
import { getMessages } from "../src/service/queue/get-messages.ts";
import { putMessage } from "../src/service/queue/put-message.ts";
import type { Store } from "../src/store/store.ts";
import { delaySocket } from "./delayed-socket.ts";

/**
 * Measures records in PostgreSQL against pgbench on the same server, in turns:
 * `node dist/bench/shared-records.js [seconds]`. It takes root, or PostgreSQL's programs.
 */

const CLIENTS = 64;
const KEYS = 10_000;
const VALUE = Buffer.alloc(100, "v");
const PROGRAM = fileURLToPath(import.meta.url);

/** `--trips` counts round trips only. */
const ROUNDS = process.argv.includes("--trips") ? 0 : 2;

/** `at` is any key. It is chosen outside of the body, which may run more than once. */
type Work = (store: Store, at: Bytes) => Promise<unknown>;

const rowKey = (at: number) => key(SPACE.container, at);
const anyKey = () => rowKey(Math.floor(Math.random() * KEYS));
/** So many messages that none is visible again before all others were received. */
const MESSAGES = 100_000;
const HIDDEN_MS = 1_000;
const QUEUE = { at: { account: "bench", queue: "queue" }, access: OWNER };

/** What Get Messages does, without HTTP. */
async function receive(store: Store): Promise<void> {
  const asked = { ...QUEUE, messagesMax: 1, hiddenMs: HIDDEN_MS };
  const [got] = await getMessages({ store }, asked);
  if (got === undefined) throw new Error("the queue is empty");
}

const WORKS: Readonly<Record<string, Work>> = {
  updates: (store, at) => store.transact((tx) => tx.set(at, VALUE)),
  "read and update": (store, at) => store.transact((tx) => tx.set(at, tx.get(at) ?? VALUE)),
  "cached reads": (store, at) => store.read((view) => view.get(at)),
  queue: receive,
};

/** Runs a kind of work with many clients. Sends its rate and CPU to the parent process. */
async function measure(
  place: string,
  name: string,
  seconds: number,
  clients: number,
): Promise<void> {
  const store = await openAt(place);
  const work = WORKS[name] as Work;
  // So that reads are of cached records.
  await store.read((view) => view.range(rowKey(0), rowKey(KEYS), { limit: KEYS }));
  const until = (ms: number) => performance.now() + ms;
  const times: number[] = [];
  const run = async (end: number) => {
    let done = 0;
    const client = async () => {
      for (let began = performance.now(); began < end; done++) {
        await work(store, anyKey());
        const ended = performance.now();
        if (clients === 1) times.push(ended - began);
        began = ended;
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    return done;
  };
  await run(until(1_000));
  times.length = 0;
  const before = process.cpuUsage();
  const done = await run(until(seconds * 1_000));
  const { user, system } = process.cpuUsage(before);
  const fastMs = times.sort((a, b) => a - b)[Math.floor(times.length / 10)];
  process.send?.({ rate: done / seconds, cpuUs: (user + system) / done, fastMs });
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
  });
}

async function fillQueue(store: Store): Promise<void> {
  await createQueue({ store }, { ...QUEUE, metadata: [] });
  const message = { ...QUEUE, text: "v".repeat(100), hiddenMs: 0, lifeMs: null };
  for (let at = 0; at < MESSAGES; at += KEYS) {
    await Promise.all(Array.from({ length: KEYS }, () => putMessage({ store }, message)));
  }
}

interface Measured {
  readonly rate: number;
  readonly cpuUs: number;
  /** A tenth of the calls were faster; only with one client. */
  readonly fastMs?: number;
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

/** `clients` are divided among the front ends. */
async function frontEnds(
  url: string,
  name: string,
  seconds: number,
  count: number,
  clients = CLIENTS * count,
): Promise<Measured> {
  const all = await Promise.all(
    Array.from({ length: count }, async (_, at) => {
      const own = Math.floor((clients + at) / count);
      const child = fork(PROGRAM, ["front-end", url, name, `${seconds}`, `${own}`]);
      const [measured] = (await once(child, "message")) as [Measured];
      return measured;
    }),
  );
  const rate = all.reduce((sum, one) => sum + one.rate, 0);
  const cpuUs = all.reduce((sum, one) => sum + one.cpuUs * one.rate, 0) / rate;
  return { ...all[0], rate, cpuUs };
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
  create table queue_bench (
    id bigserial primary key, queue integer not null, visible bigint not null,
    receipt bigint not null default 0, dequeued integer not null default 0, body bytea not null
  ) with (fillfactor = 85);
  create index on queue_bench (queue, visible, id);
  insert into queue_bench (queue, visible, body) select 1, at, decode(repeat('76', 100), 'hex')
    from generate_series(1, ${MESSAGES}) as at;
  vacuum analyze row_bench; vacuum analyze queue_bench;`;

const UPDATE = `\\set id random(0, ${KEYS - 1})
update row_bench set value = decode(repeat('77', 100), 'hex') where id = :id;`;

const NOW = "(extract(epoch from clock_timestamp()) * 1000)::bigint";

/**
 * The same as Get Messages, as a program would write it in one statement: takes the message that has
 * been visible for longest, gives it a receipt, and hides it.
 */
const SKIP_LOCKED = `update queue_bench set visible = ${NOW} + ${HIDDEN_MS},
  receipt = (random() * 9e18)::bigint, dequeued = dequeued + 1
  where id = (
    select id from queue_bench where queue = 1 and visible <= ${NOW}
    order by visible, id limit 1 for update skip locked
  ) returning id, receipt, dequeued, body;`;

function say(what: string, { rate, cpuUs }: Measured): void {
  console.log(`${what}: ${rate.toFixed(0)}/s, ${cpuUs.toFixed(1)} us of CPU each`);
}

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
    await fillQueue(store);
    await store.close();
    for (let round = 0; round < ROUNDS; round++) await compareOnce(server, url, seconds);
    await measureTrips(server);
  } finally {
    await server.remove();
  }
}

async function compareOnce(server: PostgresServer, url: string, seconds: number): Promise<void> {
  console.log(`pgbench updates: ${pgbench(server, UPDATE, seconds).toFixed(0)}/s`);
  for (const name of ["updates", "read and update", "cached reads"]) {
    say(`${name}, 1 front end`, await frontEnds(url, name, seconds, 1));
    say(`${name}, 3 front ends`, await frontEnds(url, name, seconds, 3));
  }
  say("cached reads, embedded engine", await embedded("cached reads", seconds));
  console.log(`pgbench SKIP LOCKED: ${pgbench(server, SKIP_LOCKED, seconds).toFixed(0)}/s`);
  say("queue, 1 front end", await frontEnds(url, "queue", seconds, 1));
  say("queue, 3 front ends", await frontEnds(url, "queue", seconds, 3, CLIENTS));
}

/** Of one client's call, in milliseconds: a tenth are faster. Others use the machine, too. */
async function latency(url: string, name: string): Promise<number> {
  return (await frontEnds(url, name, 4, 1, 1)).fastMs ?? Number.NaN;
}

/**
 * Counts the round trips of a call: how much longer it takes behind a slower network, in units of
 * how much longer a read takes, which is one round trip.
 */
async function measureTrips(server: PostgresServer): Promise<void> {
  const near = server.url("bench");
  const slow = await delaySocket(server.socketFolder, NETWORK_MS);
  const far = server.url("bench", slow.folder);
  const read = await latency(near, "cached reads");
  const trip = (await latency(far, "cached reads")) - read;
  const update = await latency(near, "updates");
  const tell = (what: string, ms: number) =>
    console.log(`${what}: ${ms.toFixed(2)} ms, ${((ms - update) / trip).toFixed(1)} round trips`);
  console.log(`a round trip: ${trip.toFixed(2)} ms`);
  tell("update", update);
  tell("update behind the network", await latency(far, "updates"));
  const standby = await server.addStandby();
  tell("update, standby", await latency(near, "updates"));
  await standby.remove();
  const farStandby = await server.addStandby(slow.folder);
  tell("update, standby behind the network", await latency(near, "updates"));
  tell("update, both behind the network", await latency(far, "updates"));
  await farStandby.remove();
  await slow.close();
}

/** What the network adds to a round trip, at least. */
const NETWORK_MS = 1;

const [role, url = "", name = "", seconds = "5", clients = "1"] = process.argv.slice(2);
if (role === "front-end") await measure(url, name, Number(seconds), Number(clients));
else await compare(Number(role ?? seconds));
