import assert from "node:assert/strict";
import { test } from "node:test";
import { copyAndRelease } from "../../base/borrowed-buffer.ts";
import { slicesDuring } from "../../base/fair-queue.fixture.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { FILE_BYTES_MAX } from "../../base/limits.ts";
import { parseSddl } from "../../base/sddl.ts";
import { DELETE } from "../../rules/share-mode.ts";
import { DamagedStore } from "../../store/damaged-store.fixture.ts";
import type { HandleAsked } from "./admit-handle.ts";
import { closeHandle } from "./close-handle.ts";
import type { FileContext } from "./context.ts";
import { getOpenItem, getOpenPermission } from "./get-open-item.ts";
import { NO_SETTINGS } from "./item-settings.ts";
import { lockRanges } from "./lock-ranges.ts";
import { ALL, Files, refused } from "./opens.fixture.ts";
import { readOpenFile } from "./read-open-file.ts";
import { renameOpenItem } from "./rename-open-item.ts";
import { scanOpenDirectory } from "./scan-open-directory.ts";
import { setFileMetadata } from "./set-file-metadata.ts";
import { resizeOpenFile, setOpenItem } from "./set-open-item.ts";
import { setOpenPermission } from "./set-open-permission.ts";
import { writeOpenFile } from "./write-open-file.ts";

const EVERYTHING = { mode: { access: ALL, share: ALL } };

async function read(files: Files, handle: HandleAsked, from = 0, length = 1_000) {
  const borrowed = await readOpenFile(files.context, { ...handle, from, length, ahead: null });
  return borrowed === null ? null : copyAndRelease(borrowed).toString();
}

function write(files: Files, handle: HandleAsked, from: number | null, text: string) {
  const bytes = Buffer.from(text);
  return writeOpenFile(files.context, { ...handle, from, bytes, preservesWritten: false });
}

function rename(files: Files, handle: HandleAsked, path: string, replaces = false) {
  return renameOpenItem(files.context, { ...handle, path: path.split("/"), replaces });
}

async function namesIn(
  { context }: { readonly context: FileContext },
  handle: HandleAsked,
  pattern = "*",
  resultsMax = 100,
) {
  const names: string[] = [];
  let after: string | null = null;
  do {
    const asked = { ...handle, pattern, after, resultsMax };
    const { items, next } = await scanOpenDirectory(context, asked);
    names.push(...items.map(({ item }) => item.name));
    after = next;
  } while (after !== null);
  return names;
}

test("a write is visible at once to every handle and over REST", async () => {
  const files = await Files.open();
  await files.create("file");
  const [one, two] = [await files.open("file", EVERYTHING), await files.open("file", EVERYTHING)];
  await write(files, one, 0, "hello");
  assert.equal(await read(files, two), "hello");
  await write(files, two, 7, "world");
  assert.equal(await read(files, one), "hello\0\0world");
  await write(files, one, null, "!");
  assert.equal((await files.read("file")).toString(), "hello\0\0world!");
});

test("a read stops at the end of the file, and a read beyond it returns nothing", async () => {
  const files = await Files.open();
  await files.create("file");
  const handle = await files.open("file", EVERYTHING);
  await write(files, handle, 0, "hello");
  assert.equal(await read(files, handle, 3, 100), "lo");
  assert.equal(await read(files, handle, 5, 1), null);
  assert.equal(await read(files, handle, 500, 1), null);
});

test("every write makes a new version, and preserves the time of the last write on request", async () => {
  const files = await Files.open();
  await files.create("file");
  const handle = await files.open("file", EVERYTHING);
  const before = (await getOpenItem(files.context, handle)).item;
  files.clock.advance(1_000);
  const bytes = Buffer.from("x");
  await writeOpenFile(files.context, { ...handle, from: 0, bytes, preservesWritten: true });
  const after = (await getOpenItem(files.context, handle)).item;
  assert.equal(after.written, before.written);
  assert.ok(after.etag > before.etag && after.modifiedMs > before.modifiedMs);
  await write(files, handle, 0, "y");
  assert.ok((await getOpenItem(files.context, handle)).item.written > before.written);
});

test("a file grows by zeroes, can be truncated, and has a largest size", async () => {
  const files = await Files.open();
  await files.create("file");
  const handle = await files.open("file", EVERYTHING);
  const resize = (length: number) =>
    resizeOpenFile(files.context, {
      ...handle,
      length,
      neverGrows: false,
      preservesWritten: false,
    });
  await write(files, handle, 0, "hello");
  await resize(7);
  assert.equal(await read(files, handle), "hello\0\0");
  await resize(2);
  await resize(4);
  assert.equal(await read(files, handle), "he\0\0");
  await assert.rejects(resize(FILE_BYTES_MAX + 1), refused("OutOfRangeInput"));
  await assert.rejects(write(files, handle, FILE_BYTES_MAX, "x"), refused("OutOfRangeInput"));
});

test("locks of other handles block reads and writes", async () => {
  const files = await Files.open();
  await files.create("file");
  const [one, two] = [await files.open("file", EVERYTHING), await files.open("file", EVERYTHING)];
  await write(files, one, 0, "hello");
  const ranges = [{ offset: 1n, length: 2n, isExclusive: true }];
  await lockRanges(files.context, { ...one, ranges });
  const conflict = refused("FileLockConflict");
  await assert.rejects(read(files, two, 0, 5), conflict);
  await assert.rejects(write(files, two, 2, "x"), conflict);
  assert.equal(await read(files, two, 3, 2), "lo");
  await write(files, one, 1, "E");
  assert.equal(await read(files, one), "hEllo");
});

test("attributes and times are set, and omitted ones stay", async () => {
  const files = await Files.open();
  await files.createDirectory("dir");
  await files.create("file");
  for (const path of ["dir", "file"]) {
    const handle = await files.open(path, EVERYTHING);
    const { item: before } = await getOpenItem(files.context, handle);
    const settings = { ...NO_SETTINGS, accessed: null, attributes: 2, created: 5n, written: 7n };
    await setOpenItem(files.context, { ...handle, settings });
    const { item } = await getOpenItem(files.context, handle);
    assert.deepEqual([item.attributes, item.created, item.written], [2, 5n, 7n]);
    assert.equal(item.accessed, before.accessed);
    assert.ok(item.etag > before.etag);
  }
});

test("a directory is listed in pages, in the order of its names, by a pattern", async () => {
  const files = await Files.open();
  const names = ["alpha.txt", "Beta.doc", "beta.txt", "Gamma.TXT"];
  for (const name of names.toReversed()) await files.create(name);
  await files.createDirectory("dir");
  const root = await files.open("");
  assert.deepEqual(await namesIn(files, root), [
    "alpha.txt",
    "Beta.doc",
    "beta.txt",
    "dir",
    "Gamma.TXT",
  ]);
  for (const resultsMax of [1, 2, 3]) {
    const found = await namesIn(files, root, "*.txt", resultsMax);
    assert.deepEqual(found, ["alpha.txt", "beta.txt", "Gamma.TXT"]);
  }
  await files.create("dir/inside");
  assert.deepEqual(await namesIn(files, await files.open("dir")), ["inside"]);
  const file = await files.open("alpha.txt");
  await assert.rejects(namesIn(files, file), refused("ResourceTypeMismatch"));
});

test("a directory whose files have much metadata is listed in many small bodies", async () => {
  const files = await Files.open();
  const metadata = [["name", "x".repeat(8_000)]] as const;
  for (let at = 0; at < 100; at++) {
    await files.create(`${at}`);
    await setFileMetadata(files.context, { ...files.at(`${at}`), metadata });
  }
  const root = await files.open("");
  const slices = await slicesDuring(async () => {
    assert.equal(new Set(await namesIn(files, root)).size, 100);
  });
  assert.ok(slices >= 4, `${slices} slices`);
  const { items } = await scanOpenDirectory(files.context, {
    ...root,
    pattern: "*",
    after: null,
    resultsMax: 1,
  });
  for (const { item } of items) assert.equal("metadata" in item ? item.metadata : null, null);
});

test("a file whose record is damaged is left out of its directory's list", async () => {
  const files = await Files.open();
  for (const name of ["a", "b", "c"]) await files.create(name);
  const root = await files.open("");
  const one = files.context;
  const store = new DamagedStore(one.store);
  const all = key(SPACE.file);
  const records = await store.read((view) => view.range(all, keyAfter(all), { limit: 3 }));
  store.damage(records[1]?.key ?? assert.fail("no record"));
  const context = { ...one, store };
  assert.deepEqual(await namesIn({ context }, root), ["a", "c"]);
});

test("a renamed item stays open, and every client finds it at its new path", async () => {
  const files = await Files.open();
  await files.createDirectory("dir");
  await files.create("file");
  const handle = await files.open("file", EVERYTHING);
  await write(files, handle, 0, "hello");
  await rename(files, handle, "dir/other");
  assert.equal((await getOpenItem(files.context, handle)).path, "dir/other");
  assert.equal(await read(files, handle), "hello");
  assert.equal((await files.read("dir/other")).toString(), "hello");
  await assert.rejects(files.open("file"), refused("ResourceNotFound"));
  await rename(files, handle, "dir/OTHER");
  assert.equal((await getOpenItem(files.context, handle)).path, "dir/OTHER");
});

test("a rename replaces a file only on request, and only one that may be deleted", async () => {
  const files = await Files.open();
  await files.create("file");
  await files.create("there");
  await files.create("fixed", 0, 1);
  await files.createDirectory("dir");
  const handle = await files.open("file", EVERYTHING);
  await assert.rejects(rename(files, handle, "there"), refused("ResourceAlreadyExists"));
  const denied = refused("AuthorizationPermissionMismatch");
  await assert.rejects(rename(files, handle, "dir", true), denied);
  await assert.rejects(rename(files, handle, "fixed", true), denied);
  const held = await files.open("there", EVERYTHING);
  await assert.rejects(rename(files, handle, "there", true), denied);
  await files.close(held);
  await rename(files, handle, "there", true);
  assert.equal((await getOpenItem(files.context, handle)).path, "there");
  await assert.rejects(rename(files, handle, "nowhere/file"), refused("ParentNotFound"));
  await assert.rejects(rename(files, handle, "a:b"), refused("InvalidResourceName"));
});

test("a directory is not moved into itself, nor while an item in it is open", async () => {
  const files = await Files.open();
  await files.createDirectory("dir");
  await files.createDirectory("dir/below");
  await files.create("dir/below/file");
  const dir = await files.open("dir", EVERYTHING);
  await assert.rejects(rename(files, dir, "dir/below/dir"), refused("SharingViolation"));
  const inside = await files.open("dir/below/file");
  const denied = refused("AuthorizationPermissionMismatch");
  await assert.rejects(rename(files, dir, "moved"), denied);
  await files.close(inside);
  await rename(files, dir, "moved");
  assert.equal((await files.read("moved/below/file")).toString(), "");
});

test("nothing is renamed into a directory that is pending deletion", async () => {
  const files = await Files.open();
  await files.createDirectory("dir");
  await files.create("file");
  const handle = await files.open("file", EVERYTHING);
  await files.open("dir", { mode: { access: DELETE, share: ALL } });
  await assert.rejects(rename(files, handle, "dir/file"), refused("SharingViolation"));
});

test("closing a handle that wrote sets a last-write time that was left open", async () => {
  const files = await Files.open();
  await files.create("file");
  const handle = await files.open("file", EVERYTHING);
  const { item: before } = await getOpenItem(files.context, handle);
  files.clock.advance(1_000);
  const { item, isDirectory } = await closeHandle(files.context, handle, true);
  assert.equal(isDirectory, false);
  assert.ok(item.written > before.written && item.etag > before.etag);
  const again = await files.open("file", EVERYTHING);
  const { item: same } = await closeHandle(files.context, again);
  assert.equal(same.etag, item.etag);
});

test("setting a security descriptor replaces only the named parts, for files and directories", async () => {
  const files = await Files.open();
  await files.create("file");
  await files.createDirectory("dir");
  const { descriptor } = parseSddl("O:BAG:BUD:P(A;;FA;;;WD)");
  assert.ok(descriptor !== null);
  for (const path of ["file", "dir"]) {
    const handle = await files.open(path, EVERYTHING);
    const before = await getOpenPermission(files.context, handle);
    const none = { owner: false, group: false, dacl: false, sacl: false };
    const parts = { ...none, owner: true };
    await setOpenPermission(files.context, { ...handle, parts, descriptor });
    const owned = await getOpenPermission(files.context, handle);
    assert.equal(owned, before.replace(/^O:[^:]+G:/, "O:BAG:"));
    const all = { owner: true, group: true, dacl: true, sacl: true };
    await setOpenPermission(files.context, { ...handle, parts: all, descriptor });
    const permission = await getOpenPermission(files.context, handle);
    assert.equal(permission, "O:BAG:BUD:P(A;;FA;;;WD)");
  }
});
