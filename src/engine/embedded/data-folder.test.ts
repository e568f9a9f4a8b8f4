import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeSync } from "node:fs";
import fs, { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openDataFolder } from "./data-folder.ts";

// This file is also a program that locks a data folder until it is killed.
const [, , command, folderOfProgram = ""] = process.argv;
if (command === "lock") await lockFolder(folderOfProgram);
else registerTests();

async function lockFolder(folder: string): Promise<void> {
  const answer = await openDataFolder(folder).then(
    () => "mine",
    (error) => String(error.message),
  );
  writeSync(1, answer);
  if (answer === "mine") process.stdin.resume();
}

/** Starts another process that tries to open the folder; returns its answer. */
async function contend(t: TestContext, folder: string): Promise<[string, ChildProcess]> {
  const other = spawn(process.execPath, [import.meta.filename, "lock", folder], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.after(() => other.kill("SIGKILL"));
  const [answer] = await once(other.stdout as NodeJS.ReadableStream, "data");
  return [String(answer), other];
}

async function newPlace(t: TestContext): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), "lazuli-folder-"));
  t.after(() => rm(place, { recursive: true }));
  return place;
}

function registerTests(): void {
  test("a missing folder is made, with folders for records and bytes", async (t) => {
    const folder = join(await newPlace(t), "some", "where");
    const data = await openDataFolder(folder);
    assert.deepEqual(await readdir(data.storeFolder), []);
    assert.deepEqual(await readdir(data.extentsFolder), []);
    await data.release();
    assert.deepEqual((await readdir(folder)).sort(), ["extents", "lazuli.json", "store"]);
  });

  test("a folder can be reopened, and its files stay", async (t) => {
    const folder = await newPlace(t);
    for (const round of ["1", "2", "3"]) {
      const data = await openDataFolder(folder);
      const file = join(data.storeFolder, "file");
      if (round !== "1") assert.equal(await readFile(file, "utf8"), "1");
      else await writeFile(file, round);
      await data.release();
    }
  });

  test("foreign files beside ours do no harm; a foreign store is refused", async (t) => {
    const folder = await newPlace(t);
    await writeFile(join(folder, "theirs.txt"), "x");
    await (await openDataFolder(folder)).release();
    const foreign = await newPlace(t);
    await mkdir(join(foreign, "store"));
    await assert.rejects(openDataFolder(foreign), /store is there already.*--location/);
  });

  test("a folder of a newer version is refused, with advice", async (t) => {
    const folder = await newPlace(t);
    await (await openDataFolder(folder)).release();
    await writeFile(join(folder, "lazuli.json"), '{"format":10}\n');
    const newer =
      "written by a newer Lazuli \\(format 10\\), this one reads up to 9: install a newer";
    await assert.rejects(openDataFolder(folder), new RegExp(newer));
    await writeFile(join(folder, "lazuli.json"), "{}");
    await assert.rejects(openDataFolder(folder), /lazuli\.json is damaged/);
  });

  test("a folder from before the first version is refused, with advice", async (t) => {
    const folder = await newPlace(t);
    await (await openDataFolder(folder)).release();
    await writeFile(join(folder, "lazuli.json"), '{"format":1}\n');
    const earlier =
      "written before version 0.1.0 \\(format 1\\), this one reads format 9 and later: copy the data .*--location";
    await assert.rejects(openDataFolder(folder), new RegExp(earlier));
  });

  test("a file in place of the folder is refused", async (t) => {
    const file = join(await newPlace(t), "file");
    await writeFile(file, "x");
    await assert.rejects(openDataFolder(file), /file is not a folder: choose another/);
    await assert.rejects(openDataFolder(join(file, "below")), /is not a folder: choose another/);
  });

  const noProc = process.platform === "linux" ? false : "only Linux has /proc";
  test("a file system that takes no folders is refused at once", { skip: noProc }, async () => {
    await assert.rejects(openDataFolder("/proc/lazuli/data"), /cannot be written to \(ENOENT\)/);
  });

  const skip = process.platform === "win32" ? "Windows has no such permissions" : false;
  test("a folder that cannot be written to is refused", { skip }, async (t) => {
    const folder = await newPlace(t);
    await chmod(folder, 0o500);
    // Permissions do not stop root, but sysfs does.
    const readOnly = process.getuid?.() === 0 ? "/sys/lazuli" : folder;
    await assert.rejects(
      openDataFolder(readOnly),
      /cannot be written to \(E[A-Z]+\): choose another/,
    );
  });

  test("the root of a drive can be a data folder, which Windows refuses to make", async (t) => {
    const drive = await newPlace(t);
    const missing = join(drive, "missing");
    const eperm = Object.assign(new Error("operation not permitted"), { code: "EPERM" });
    const { mkdir } = fs;
    t.mock.method(fs, "mkdir", (path: string, options?: object) =>
      path === drive || path === missing ? Promise.reject(eperm) : mkdir(path, options),
    );
    syncBuiltinESMExports();
    t.after(() => {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    });
    const data = await openDataFolder(drive);
    assert.equal(data.storeFolder, join(drive, "store"));
    await data.release();
    await assert.rejects(openDataFolder(missing), /cannot be written to \(EPERM\)/);
  });

  test("a folder is opened at most once at a time in one process", async (t) => {
    const folder = await newPlace(t);
    const data = await openDataFolder(folder);
    await assert.rejects(openDataFolder(folder), /is in use by another Lazuli: stop that one, or/);
    await data.release();
    await (await openDataFolder(folder)).release();
  });

  test("a folder that one process has open is refused to others until that process is killed", async (t) => {
    const folder = await newPlace(t);
    const [answer, other] = await contend(t, folder);
    assert.equal(answer, "mine");
    await assert.rejects(openDataFolder(folder), /is in use by another Lazuli/);
    other.kill("SIGKILL");
    await once(other, "close");
    const data = await openDataFolder(folder);
    const [late] = await contend(t, folder);
    assert.match(late, /is in use by another Lazuli/);
    await data.release();
  });

  test("of many processes that open a folder at once, at most one gets it", async (t) => {
    const folder = await newPlace(t);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () => openDataFolder(folder)),
    );
    const winners = outcomes.filter((outcome) => outcome.status === "fulfilled");
    assert.equal(winners.length, 1);
    for (const { value } of winners) await value.release();
  });

  test("a path longer than a socket's path may be can be locked", async (t) => {
    const folder = join(await newPlace(t), "x".repeat(100), "y".repeat(100));
    const data = await openDataFolder(folder);
    await assert.rejects(openDataFolder(folder), /is in use by another Lazuli/);
    await data.release();
  });
}
