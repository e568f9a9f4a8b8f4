import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock } from "../base/clock.ts";
import { openDataFolder } from "../engine/embedded/data-folder.ts";
import { makePrivate } from "../engine/embedded/private-folder.ts";
import { openData } from "./open-data.ts";

const skip = process.platform === "win32" ? "Windows has no such modes" : false;

async function newPlace(t: TestContext, mode: number): Promise<string> {
  const place = await mkdtemp(join(tmpdir(), "lazuli-private-"));
  t.after(() => rm(place, { recursive: true }));
  await chmod(place, mode);
  return place;
}

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

/** Modes of everything below a folder, by path. */
async function modesIn(folder: string): Promise<Map<string, string>> {
  const modes = new Map<string, string>();
  for (const name of await readdir(folder, { recursive: true })) {
    if (!/lock-/.test(name)) modes.set(name, await modeOf(join(folder, name)));
  }
  return modes;
}

/**
 * Opens the data as the server does, writes bytes and records, and closes it. Returns the warnings
 * about other users.
 */
async function useFolder(folder: string): Promise<readonly string[]> {
  const place = { location: folder, memoryBytesMax: null };
  const data = await openData(place, systemClock, (error) => assert.fail(error as Error));
  await data.store.transact((tx) => tx.set(Buffer.from([1, 2, 3]), Buffer.alloc(10)));
  await data.close();
  return data.warnings.filter((warning) => !warning.includes("direct I/O"));
}

test("in an existing folder, files are 600 and folders 700", { skip }, async (t) => {
  const folder = await newPlace(t, 0o755);
  assert.deepEqual(await useFolder(folder), []);
  assert.equal(await modeOf(folder), "700");
  const modes = await modesIn(folder);
  assert.ok(modes.size >= 5, [...modes.keys()].join());
  for (const [name, mode] of modes) {
    assert.equal(mode, /^(?:store|extents)$/.test(name) ? "700" : "600", name);
  }
});

test("a data folder that was copied with open modes is made private again", { skip }, async (t) => {
  const folder = await newPlace(t, 0o700);
  await useFolder(folder);
  for (const [name] of await modesIn(folder)) await chmod(join(folder, name), 0o644 | 0o111);
  await chmod(folder, 0o775);
  await useFolder(folder);
  assert.equal(await modeOf(folder), "700");
  for (const part of ["store", "extents"]) {
    assert.equal(await modeOf(join(folder, part)), "700");
    for (const [name, mode] of await modesIn(join(folder, part))) assert.equal(mode, "600", name);
  }
});

test("a folder with foreign files retains its mode, and ours in it are made private", {
  skip,
}, async (t) => {
  const folder = await newPlace(t, 0o755);
  await writeFile(join(folder, "theirs.txt"), "x", { mode: 0o644 });
  assert.deepEqual(await useFolder(folder), []);
  assert.equal(await modeOf(folder), "755");
  assert.equal(await modeOf(join(folder, "theirs.txt")), "644");
  for (const part of ["store", "extents"]) assert.equal(await modeOf(join(folder, part)), "700");

  // A user who can write there could replace the store.
  await chmod(folder, 0o775);
  const [warning = "", ...more] = await useFolder(folder);
  assert.match(warning, /stays open to other users .* other files as well\. Run chmod 700/);
  assert.deepEqual(more, []);
});

test("on Windows modes mean nothing: they stay, without a warning", { skip }, async (t) => {
  const folder = await newPlace(t, 0o777);
  assert.deepEqual(await makePrivate(folder, [], "win32"), []);
  assert.equal(await modeOf(folder), "777");
  assert.deepEqual(await makePrivate(folder, [], "darwin"), []);
  assert.equal(await modeOf(folder), "700");
});

const notRoot = process.getuid?.() === 0 ? false : "only root can give a folder away";
test("a mode that cannot be changed is reported with the reason", {
  skip: skip || notRoot,
}, async (t) => {
  const folder = await newPlace(t, 0o755);
  await mkdir(join(folder, "data"), { mode: 0o777 });
  const inner = join(folder, "data");
  await chmod(inner, 0o777);
  const { seteuid, geteuid } = process;
  // The folder belongs to root, the server runs as another user.
  const before = geteuid?.() ?? 0;
  seteuid?.(65_534);
  let warnings: readonly string[] = [];
  try {
    const data = await openDataFolder(inner);
    warnings = data.openToOthers;
    await data.release();
  } finally {
    seteuid?.(before);
  }
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? "", /data stays open .* cannot be changed \(EPERM.*chmod 700/);
});
