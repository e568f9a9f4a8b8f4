import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  backUp,
  box,
  filesIn,
  NO_PIPES,
  PausedFile,
  places,
  putAll,
  requireEqual,
} from "./backups.ts";
import { FolderServer, lazuli } from "./folder-server.ts";
import { LazuliProcess } from "./process.ts";

/** The names of the record files of a backup. */
function recordsOf(place: string, backup: string): string[] {
  const text = readFileSync(join(place, "backups", `${backup}.json`), "utf8");
  return JSON.parse(text.split("\n")[0] ?? "").passes.flat();
}

test("a backup that --keep removes while it is read is not called damaged", {
  skip: NO_PIPES,
}, async (t) => {
  for (const isRestore of [true, false]) {
    const all = places(t);
    const server = new FolderServer(t, all.location);
    const container = await box(server);
    await putAll(container, "a");
    const { backup: old } = await backUp(all);
    await container.deleteBlob("a-10");
    const { backup: next } = await backUp(all);
    const later = new Set(recordsOf(all.place, next));
    const own = recordsOf(all.place, old).find((name) => !later.has(name)) ?? "";
    const paused = new PausedFile(join(all.place, "records", own));
    const restoring = ["restore", all.place, "--backup", old, "--location", all.restored];
    const reading = lazuli(...(isRestore ? restoring : ["backup", all.place, "--check"]));
    await paused.isAwaited();
    await backUp(all, "--keep", "2");
    await paused.feed(Buffer.alloc(0));
    const { code, out, err } = await reading;
    if (isRestore) {
      assert.equal(code, 1, err);
      assert.match(err, /was removed while it was read, by a backup with --keep: restore another/);
    } else {
      assert.equal(code, 0, err);
      assert.match(out, /^The backup in .* is good/);
    }
  }
});

test("what cannot be removed or read for another reason than damage is told as such", {
  skip: NO_PIPES,
}, async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  await putAll(await box(server), "a");
  for (let round = 0; round < 3; round++) await backUp(all);
  const [, second = "", third = ""] = readdirSync(join(all.place, "backups")).map((name) =>
    name.replace(".json", ""),
  );
  const again = new Set(recordsOf(all.place, second));
  const shared = recordsOf(all.place, third).find((name) => again.has(name)) ?? "";
  const paused = new PausedFile(join(all.place, "records", shared));
  const at = ["--location", all.location];
  const keeping = lazuli("backup", all.place, ...at, "--keep", "1");
  await paused.isAwaited();
  const obstacle = join(all.place, "records", "folder");
  mkdirSync(obstacle);
  await paused.feed();
  const done = await keeping;
  assert.equal(done.code, 1);
  assert.match(done.err, /is written and good, but older ones cannot be removed/);
  rmdirSync(obstacle);
  assert.equal((await lazuli("backup", all.place, "--check")).code, 0);

  await putAll(await box(server), "b");
  const extents = filesIn(join(all.location, "extents"));
  for (const path of extents) {
    renameSync(path, `${path}.away`);
    symlinkSync(path, path);
  }
  const unreadable = await lazuli("backup", all.place, ...at);
  assert.equal(unreadable.code, 1, unreadable.err);
  assert.match(unreadable.err, /extents\/.* cannot be read \(ELOOP\): run the backup as the user/);
  for (const path of extents) rmSync(path);
  const missing = await lazuli("backup", all.place, ...at);
  assert.equal(missing.code, 3);
  assert.match(missing.err, /are not those written/);
  for (const path of extents) renameSync(`${path}.away`, path);
});

test("a server that stops under a backup is named, and no object is called damaged", {
  skip: NO_PIPES,
}, async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  await putAll(await box(server), "a");
  const [extent = ""] = filesIn(join(all.location, "extents"));
  const paused = new PausedFile(extent);
  const backup = new LazuliProcess(["backup", all.place, "--location", all.location]);
  const draft = join(all.place, "packs", ".draft");
  while (backup.isRunning && !existsSync(draft)) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await server.process.kill();
  await paused.isAwaited();
  await paused.feed(Buffer.alloc(0));
  const { code, err } = await backup.ended();
  assert.equal(code, 1, err);
  assert.match(err, /The server has stopped meanwhile/);
});

test("a second restore to a folder is refused while the first one runs", {
  skip: NO_PIPES,
}, async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  const stored = await putAll(await box(server), "a");
  await backUp(all);
  const [records = ""] = filesIn(join(all.place, "records"));
  const paused = new PausedFile(records);
  const args = ["restore", all.place, "--location", all.restored];
  const first = lazuli(...args);
  await paused.isAwaited();
  const second = await lazuli(...args);
  assert.equal(second.code, 1, second.err);
  assert.match(second.err, /Another restore to .* is under way: wait until it has ended/);
  await paused.feed();
  const { code, err } = await first;
  assert.equal(code, 0, err);
  await requireEqual(await box(new FolderServer(t, all.restored)), stored);
});
