import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { RecordedRuns } from "./recorded-runs.ts";

test("runs are counted in a row over several calls, from the last failure on", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-runs-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "runs.json");
  const run = { commit: "abc1234", at: "2026-11-18T10:00:00.000Z", load: 2.5, isPassed: true };
  assert.equal((await RecordedRuns.open(path)).inARow, 0);
  await (await RecordedRuns.open(path)).add(run);
  const again = await RecordedRuns.open(path);
  await again.add(run);
  assert.equal(again.inARow, 2);
  await again.add({ ...run, isPassed: false });
  assert.equal(again.inARow, 0);
  await again.add(run);
  assert.equal((await RecordedRuns.open(path)).inARow, 1);
  assert.equal(JSON.parse(await readFile(path, "utf8")).length, 4);
  await writeFile(path, "{}");
  await assert.rejects(RecordedRuns.open(path), /not a list of runs/);
});
