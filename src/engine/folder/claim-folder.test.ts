import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { claimFolder } from "./claim-folder.ts";

const ROUNDS = 20;
const FRONT_ENDS = 20;

test("front ends that claim a new folder at once all get it, with one id", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-claim-"));
  t.after(() => rm(folder, { recursive: true }));
  for (let round = 0; round < ROUNDS; round++) {
    const place = join(folder, `${round}`);
    const ids = new Set<string>();
    const claim = () =>
      claimFolder(place, "cluster", async (id) => {
        ids.add(id);
        return id;
      });
    await Promise.all(Array.from({ length: FRONT_ENDS }, claim));
    assert.equal(ids.size, 1);
    assert.deepEqual(await readdir(place), ["lazuli-cluster"]);
    await assert.rejects(
      claimFolder(place, "other", async (id) => id),
      /belongs to another cluster/,
    );
  }
});
