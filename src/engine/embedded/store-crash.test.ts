import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { type Bytes, NO_BYTES } from "../../base/bytes.ts";
import { systemClock } from "../../base/clock.ts";
import { key, SPACE } from "../../base/keys.ts";
import { KIB } from "../../base/limits.ts";
import { appendInPlace } from "../../store/accelerated.ts";
import type { Store, StoreError, Transaction } from "../../store/store.ts";
import { openEmbeddedStore } from "./store.ts";

const ROUNDS = 10;
const WRITERS = 8;
/** So little that checkpoints run all the time. */
const WAL_BYTES = 64 * KIB;
const PROGRAM = import.meta.filename;

// This file is also the program that is killed: `node store-crash.test.js write FOLDER FROM`.
const [, , command, folderOfProgram = "", from = "0"] = process.argv;
if (command === "write") await writeForEver(folderOfProgram, Number(from));
else registerTests();

/** Writes pairs of records and prints the number of each acknowledged pair. */
async function writeForEver(folder: string, first: number): Promise<void> {
  const say = (line: string) => writeSync(1, `${line}\n`);
  process.on("unhandledRejection", (reason) => say(`unhandled ${reason}`));
  const failStop = (error: StoreError) => {
    say(`stopped ${error.kind}`);
    setImmediate(() => process.exit(3));
  };
  const store = await openEmbeddedStore(folder, systemClock, failStop, WAL_BYTES);
  let next = first;
  const write = async (writer: number) => {
    for (;;) {
      const id = next++;
      const stamp = await store.transact((tx) => {
        tx.set(key(SPACE.content, id), contentOf(id));
        tx.set(key(SPACE.blob, id), Buffer.from("x"));
        addLine(tx, key(SPACE.container, writer), `${id}\n`);
        return tx.stamp();
      });
      say(`${id} ${stamp}`);
    }
  };
  await Promise.all(
    Array.from({ length: WRITERS }, (_, writer) => write(writer).catch(() => undefined)),
  );
}

/** Appends a line to a writer's list of what it has written. */
function addLine(tx: Transaction, at: Bytes, line: string): void {
  const before = tx.get(at) ?? NO_BYTES;
  const more = Buffer.from(line);
  if (!appendInPlace(tx, at, before.length, more)) tx.set(at, Buffer.concat([before, more]));
}

function contentOf(id: number): Bytes {
  return Buffer.alloc((id % 40) * 500, id);
}

interface Acknowledged {
  readonly ids: number[];
  lastStamp: bigint;
}

/** Records what the program prints, until `enough` pairs are acknowledged or it ends. */
async function follow(program: ChildProcess, acknowledged: Acknowledged, enough: number) {
  const others: string[] = [];
  const lines = createInterface({ input: program.stdout as NodeJS.ReadableStream });
  const ended = once(program, "close");
  for await (const line of lines) {
    const pair = /^(\d+) (\d+)$/.exec(line);
    if (pair === null) others.push(line);
    else {
      acknowledged.ids.push(Number(pair[1]));
      const stamp = BigInt(pair[2] as string);
      if (stamp > acknowledged.lastStamp) acknowledged.lastStamp = stamp;
    }
    if (acknowledged.ids.length === enough) program.kill("SIGKILL");
  }
  await ended;
  return others;
}

/** Asserts that everything acknowledged is there, no pair is incomplete, and stamps rise. */
async function assertNothingLost(store: Store, acknowledged: Acknowledged): Promise<void> {
  const top = Math.max(...acknowledged.ids) + 2 * WRITERS;
  await store.read((view) => {
    for (const id of acknowledged.ids) {
      assert.ok(view.get(key(SPACE.content, id))?.equals(contentOf(id)), `${id} is lost`);
    }
    const listed = new Set<number>();
    for (let writer = 0; writer < WRITERS; writer++) {
      const lines = `${view.get(key(SPACE.container, writer)) ?? ""}`.split("\n").slice(0, -1);
      for (const line of lines) {
        assert.ok(!listed.has(Number(line)), `${line} is there twice`);
        listed.add(Number(line));
      }
    }
    for (let id = 0; id <= top; id++) {
      const halves = [view.get(key(SPACE.content, id)), view.get(key(SPACE.blob, id))];
      assert.equal(halves[0] === undefined, halves[1] === undefined, `half of ${id} is there`);
      assert.equal(halves[0] !== undefined, listed.has(id), `${id} is not where it belongs`);
    }
  });
  assert.ok(
    (await store.transact((tx) => tx.stamp())) > acknowledged.lastStamp,
    "a stamp came twice",
  );
}

async function inNewFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-crash-"));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function check(folder: string, acknowledged: Acknowledged): Promise<void> {
  const store = await openEmbeddedStore(folder, systemClock, assert.fail);
  await assertNothingLost(store, acknowledged);
  await store.close();
}

function registerTests(): void {
  test("acknowledged writes survive repeated kill -9", () =>
    inNewFolder(async (folder) => {
      const acknowledged: Acknowledged = { ids: [], lastStamp: 0n };
      for (let round = 0; round < ROUNDS; round++) {
        const first =
          acknowledged.ids.length === 0 ? 0 : Math.max(...acknowledged.ids) + 2 * WRITERS;
        const program = spawn(process.execPath, [PROGRAM, "write", folder, `${first}`], {
          stdio: ["ignore", "pipe", "inherit"],
        });
        const more = 1 + Math.floor(Math.random() * 300);
        const others = await follow(program, acknowledged, acknowledged.ids.length + more);
        assert.deepEqual(others, []);
        await check(folder, acknowledged);
      }
    }));

  // A limit on the size of files makes real writes fail.
  const skip = process.platform === "win32" ? "Windows has no ulimit" : false;
  test("a disk that fails stops the store once; nothing acknowledged is lost", { skip }, () =>
    inNewFolder(async (folder) => {
      const acknowledged: Acknowledged = { ids: [], lastStamp: 0n };
      const limited = `trap '' XFSZ; ulimit -f 4000; exec "$0" "$1" write "$2"`;
      const program = spawn("sh", ["-c", limited, process.execPath, PROGRAM, folder], {
        stdio: ["ignore", "pipe", "ignore"],
      });
      const others = await follow(program, acknowledged, Number.POSITIVE_INFINITY);
      assert.equal(program.exitCode, 3);
      assert.deepEqual(others, ["stopped unknown"]);
      assert.ok(acknowledged.ids.length > 0);
      await check(folder, acknowledged);
    }),
  );
}
