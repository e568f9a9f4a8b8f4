import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { constants, openSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { lockFolder, type OpenFile } from "./folder-lock.ts";

const KNOWN_FLAGS = constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK;

/** The flags of libuv on Windows and of macOS, and what a second open is answered with. */
const EXCLUSIVE_OPENS = [
  { platform: "win32", flag: 0x1000_0000, code: "EBUSY" },
  { platform: "darwin", flag: 0x20, code: "EAGAIN" },
] as const;

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
    const folder = await newFolder(t);
    assert.equal(tryElsewhere(folder), "mine");
    assert.equal(tryElsewhere(folder), "mine", "the first one was killed");
    const lock = await lockFolder(folder);
    assert.equal(tryElsewhere(folder), "taken");
    await lock?.release();
    assert.deepEqual(await readdir(folder), [], "dead beacons are cleared away");
  });

  for (const { platform, flag, code } of EXCLUSIVE_OPENS) {
    test(`on ${platform} the lock is a file that is open once`, async (t) => {
      const folder = await newFolder(t);
      const opens: number[] = [];
      const openOnce: OpenFile = (path, flags, mode) => {
        assert.equal(path, join(folder, "lock"));
        if (opens.length > 0) throw Object.assign(new Error("in use"), { code });
        opens.push(flags);
        return openSync(path, flags & ~flag, mode);
      };
      const lock = await lockFolder(folder, platform, openOnce);
      assert.equal((opens[0] ?? 0) & ~KNOWN_FLAGS, flag);
      assert.equal(await lockFolder(folder, platform, openOnce), null, "another has it");
      await lock?.release();
      opens.pop();
      assert.notEqual(await lockFolder(folder, platform, openOnce), null, "released");
    });
  }

  test("off Linux, an error that is no conflict is reported", async (t) => {
    const folder = await newFolder(t);
    const refuse: OpenFile = () => {
      throw Object.assign(new Error("denied"), { code: "EACCES" });
    };
    await assert.rejects(lockFolder(folder, "win32", refuse), { code: "EACCES" });
  });

  test("a platform without a known lock is refused, with advice", async () => {
    await assert.rejects(lockFolder("/data", "sunos"), /cannot be locked on sunos: use Linux/);
  });
}

async function newFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-lock-"));
  t.after(() => rm(folder, { recursive: true }));
  return folder;
}
