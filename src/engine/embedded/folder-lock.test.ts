import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { lockFolder } from "./folder-lock.ts";

// This file is also a program that prints whether it gets the lock, and ends without a release.
const [, , command, folderOfProgram = ""] = process.argv;
if (command === "try") {
  process.stdout.write((await lockFolder(folderOfProgram)) === null ? "taken" : "mine");
  process.kill(process.pid, "SIGKILL");
} else registerTests();

/** Runs a command in its own network namespace, as in a container. */
function runElsewhere(...command: string[]) {
  return spawnSync("/usr/bin/unshare", ["--net", ...command], { encoding: "utf8" });
}

function tryElsewhere(folder: string): string {
  return runElsewhere(process.execPath, import.meta.filename, "try", folder).stdout;
}

function registerTests(): void {
  const isolates = runElsewhere("true").status === 0;
  const skip = isolates ? false : "needs Linux and the right to make a network namespace";
  test("containers that share only the folder exclude each other", { skip }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "lazuli-lock-"));
    t.after(() => rm(folder, { recursive: true }));
    assert.equal(tryElsewhere(folder), "mine");
    assert.equal(tryElsewhere(folder), "mine", "the first one was killed");
    const lock = await lockFolder(folder);
    assert.equal(tryElsewhere(folder), "taken");
    await lock?.release();
    assert.deepEqual(await readdir(folder), [], "dead beacons are cleared away");
  });
}
