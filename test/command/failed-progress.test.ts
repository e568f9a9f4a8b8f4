import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ManualClock } from "../../src/base/clock.ts";
import { openData } from "../../src/main/open-data.ts";
import { applySeed } from "../../src/main/seed/apply-seed.ts";
import { seedServer } from "../../src/main/seed/seed-command.ts";
import { showUsage } from "../../src/main/usage-command.ts";
import { ACCOUNT } from "../sdk/server.ts";
import { FolderServer, scratchFolder } from "./folder-server.ts";

const CLEAR_LINE = "\r\u001b[K";

/** A terminal, and what is written to it. */
function terminal() {
  const written: string[] = [];
  const around = {
    clock: new ManualClock(0),
    schedule: assert.fail,
    failStop: assert.fail,
    out: assert.fail,
    err: assert.fail,
    progress: { isTTY: true, write: (text: string) => written.push(text) },
  };
  return { around, written };
}

test("a command that fails clears its bar before the message", async (t) => {
  const folder = scratchFolder(t);
  const location = join(folder, "data");
  await new FolderServer(t, location).connectionString();
  const file = join(folder, "seed.json");
  writeFileSync(file, "{");
  const seeding = terminal();
  await assert.rejects(seedServer({ location, file, json: false }, seeding.around), /seed\.json:1/);
  assert.equal(seeding.written.at(-1), CLEAR_LINE);
  const measuring = terminal();
  const asked = { location: folder, shared: null, path: null, json: false };
  await assert.rejects(showUsage(asked, measuring.around), /is not a data folder/);
  assert.equal(measuring.written.at(-1), CLEAR_LINE);
});

test("the progress of a seed knows the whole from the beginning", async (t) => {
  const folder = scratchFolder(t);
  for (const name of ["one", "two"]) writeFileSync(join(folder, name), name);
  const data = await openData(
    { location: null, memoryBytesMax: null },
    new ManualClock(0),
    assert.fail,
  );
  t.after(() => data.close());
  const seed = {
    services: { blob: { deleteRetentionDays: 1 } },
    containers: [{ name: "photos", load: "." }],
    queues: [{ name: "work" }],
    tables: [{ name: "people", entities: [{ PartitionKey: "p", RowKey: "r" }] }],
    shares: [{ name: "docs", load: "." }],
  };
  const source = { name: "seed.json", text: JSON.stringify(seed), folder };
  const settings = { statedAccounts: [{ name: ACCOUNT }], blobSettings: new Map() };
  const totals: number[] = [];
  const work = applySeed(source, () => data, settings);
  let step = await work.next();
  for (; step.done !== true; step = await work.next()) totals.push(step.value.total.objects);
  assert.equal(step.value.objects, 10);
  assert.deepEqual(totals, Array(10).fill(10));
});
