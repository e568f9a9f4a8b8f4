import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  backUp,
  box,
  filesIn,
  MIB,
  NO_PIPES,
  PausedFile,
  places,
  put,
  putAll,
  requireEqual,
  restore,
} from "./backups.ts";
import { FolderServer, lazuli } from "./folder-server.ts";
import { LazuliProcess } from "./process.ts";

/** Kills a command as soon as it has got this far, unless it has ended before. */
async function killedAt(args: readonly string[], hasCome: () => boolean): Promise<void> {
  const command = new LazuliProcess(args);
  while (command.isRunning && !hasCome()) await new Promise((resolve) => setImmediate(resolve));
  await command.kill();
}

/** None if the folder is missing; a command may remove it at any time. */
function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

test("a killed backup never counts, earlier ones stay good, and the next one works", async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  const container = await box(server);
  const stored = await putAll(container, "a");
  const first = await backUp(all);
  const before = new Map(stored);
  await put(container, stored, "large", 24 * MIB);
  const inPlace = (folder: string) => filesOf(join(all.place, folder)).length;
  const [records, packs] = [inPlace("records"), inPlace("packs")];
  for (const hasCome of [
    () => inPlace("records") > records,
    () => filesOf(join(all.place, "packs")).includes(".draft"),
    () => inPlace("packs") > packs + 1,
    () => inPlace("backups") > 1,
  ]) {
    await killedAt(["backup", all.place, "--location", all.location], hasCome);
    const names = filesOf(join(all.place, "backups")).filter((name) => name.endsWith(".json"));
    assert.ok(names.includes(`${first.backup}.json`));
  }
  await restore(all, `${all.restored}-1`, "--backup", first.backup);
  await requireEqual(await box(new FolderServer(t, `${all.restored}-1`)), before);
  await backUp(all, "--keep", "1");
  await restore(all, all.restored);
  await requireEqual(await box(new FolderServer(t, all.restored)), stored);
  await requireEqual(container, stored);
});

test("no server starts on a folder whose restore was killed, and another restore completes it", async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  const stored = await putAll(await box(server), "a");
  await put(await box(server), stored, "large", 24 * MIB);
  await backUp(all);
  const mark = join(all.restored, "restore-under-way");
  for (const hasCome of [
    () => existsSync(mark),
    () => existsSync(join(all.restored, "store", "data.mdb")),
    () => filesOf(join(all.restored, "extents")).length > 0,
  ]) {
    const args = ["restore", all.place, "--location", all.restored];
    await killedAt(args, hasCome);
    // It may have been faster than the kill.
    if (!existsSync(mark)) break;
    for (const command of [["--blobPort", "0"], ["verify"], ["usage"]]) {
      const { code, err } = await lazuli(...command, "--location", all.restored);
      assert.equal(code, 1);
      assert.match(err, /being restored|is not a data folder/);
    }
  }
  if (existsSync(mark)) await restore(all, all.restored);
  assert.ok(!existsSync(mark));
  await requireEqual(await box(new FolderServer(t, all.restored)), stored);
});

/** Kills a command that waits for the bytes of this file. */
async function killedWhileItReads(path: string, args: readonly string[]): Promise<void> {
  const paused = new PausedFile(path);
  const command = new LazuliProcess(args);
  await paused.isAwaited();
  await command.kill();
  await paused.feed(Buffer.alloc(0));
}

test("a kill in the middle of records and of packs leaves nothing half visible", {
  skip: NO_PIPES,
}, async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  const stored = await putAll(await box(server), "a");
  const [extent = ""] = filesIn(join(all.location, "extents"));
  await killedWhileItReads(extent, ["backup", all.place, "--location", all.location]);
  assert.deepEqual(filesOf(join(all.place, "backups")), []);
  assert.ok(filesOf(join(all.place, "records")).length > 0, "it was in the middle");
  await backUp(all);
  for (const part of ["records", "packs"]) {
    const [path = ""] = filesIn(join(all.place, part));
    await killedWhileItReads(path, ["restore", all.place, "--location", all.restored]);
    assert.ok(existsSync(join(all.restored, "restore-under-way")));
    const { code, err } = await lazuli("verify", "--location", all.restored);
    assert.equal(code, 1);
    assert.match(err, /being restored/);
  }
  await restore(all, all.restored);
  await requireEqual(await box(new FolderServer(t, all.restored)), stored);
});

test("Ctrl-C of a backup ends its work in the server at once", async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  const stored = await putAll(await box(server), "a");
  // A server takes four such tasks, and would give up one of a killed command after a minute.
  for (let round = 0; round < 6; round++) {
    const place = `${all.place}-${round}`;
    const command = new LazuliProcess(["backup", place, "--location", all.location]);
    const hasBegun = () => filesOf(join(place, "records")).length > 0;
    while (command.isRunning && !hasBegun()) await new Promise((resolve) => setImmediate(resolve));
    command.signal("SIGINT");
    const { code, err } = await command.ended();
    // It may have been faster than the signal.
    if (code === 0) continue;
    assert.equal(code, 130, err);
    assert.match(err, /Stopped: this backup does not count/);
    assert.deepEqual(filesOf(join(place, "backups")), []);
  }
  await backUp(all);
  await restore(all, all.restored);
  await requireEqual(await box(new FolderServer(t, all.restored)), stored);
});
