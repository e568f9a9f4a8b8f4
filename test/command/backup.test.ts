import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
  backUp,
  box,
  filesIn,
  MIB,
  places,
  put,
  putAll,
  requireEqual,
  restore,
  succeeds,
} from "./backups.ts";
import { FolderServer, lazuli } from "./folder-server.ts";
import { SmallDisk } from "./small-disk.ts";

test("objects of all services are the same after backup and restore, on a running server", async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  const stored = await putAll(await box(server), "a");
  const snapshot = await (await box(server)).getBlobClient("a-300000").createSnapshot();
  await (await box(server)).getBlobClient("a-300000").setMetadata({ changed: "yes" });
  const queue = (await server.queues()).getQueueClient("work");
  await queue.create();
  await queue.sendMessage("hello");
  const table = await server.table("people");
  await table.createTable();
  const born = new Date(1_000);
  await table.createEntity({ partitionKey: "p", rowKey: "r", born, big: 2n ** 60n });
  const share = (await server.shares()).getShareClient("docs");
  await share.create();
  const body = randomBytes(200_000);
  await share.rootDirectoryClient.createFile("f", 1 * MIB);
  await share.rootDirectoryClient.getFileClient("f").uploadRange(body, 500_000, body.length);
  const etag = (await (await box(server)).getBlobClient("a-10").getProperties()).etag;

  await backUp(all);
  await restore(all, all.restored);
  assert.match(await succeeds("verify", "--location", all.restored), /All is well/);
  const usage = async (location: string) =>
    JSON.parse(await succeeds("usage", "--json", "--location", location)).rows;
  assert.deepEqual(await usage(all.restored), await usage(all.location));
  const other = new FolderServer(t, all.restored);
  const container = await box(other);
  await requireEqual(container, stored);
  assert.equal((await container.getBlobClient("a-10").getProperties()).etag, etag);
  const old = container.getBlobClient("a-300000").withSnapshot(snapshot.snapshot ?? "");
  assert.ok((await old.downloadToBuffer()).equals(stored.get("a-300000") as Buffer));
  const messages = (await other.queues()).getQueueClient("work");
  assert.equal((await messages.receiveMessages()).receivedMessageItems[0]?.messageText, "hello");
  const entity = await (await other.table("people")).getEntity("p", "r");
  assert.deepEqual([entity.born, entity.big], [born, 2n ** 60n]);
  const file = (await other.shares()).getShareClient("docs").rootDirectoryClient.getFileClient("f");
  const whole = await file.downloadToBuffer();
  assert.equal(whole.length, MIB);
  assert.ok(whole.subarray(500_000, 700_000).equals(body));
  // New stamps are later than restored ones: ETags stay unique.
  assert.notEqual((await container.getBlobClient("a-10").setMetadata({ a: "b" })).etag, etag);
});

test("a backup has all that was acknowledged before it, in one state, while clients write", async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  const table = await server.table("pairs");
  await table.createTable();
  const container = await box(server);
  let acknowledged = 0;
  let isOver = false;
  const write = async () => {
    while (!isOver) {
      const value = acknowledged + 1;
      await table.submitTransaction([
        ["upsert", { partitionKey: "p", rowKey: "left", value }, "Replace"],
        ["upsert", { partitionKey: "p", rowKey: "right", value }, "Replace"],
      ]);
      const block = container.getBlockBlobClient(`blob-${value % 20}`);
      await block.upload(String(value).padEnd(40_000), 40_000);
      acknowledged = value;
    }
  };
  const writing = write();
  try {
    for (let round = 0; round < 3; round++) {
      const before = acknowledged;
      const { backup } = await backUp(all);
      const restored = `${all.restored}-${round}`;
      await restore(all, restored, "--backup", backup);
      const other = new FolderServer(t, restored);
      if (before === 0) continue;
      const pairs = await other.table("pairs");
      const [left, right] = await Promise.all(
        ["left", "right"].map(async (row) => Number((await pairs.getEntity("p", row)).value)),
      );
      assert.equal(left, right, "a batch is in it as a whole or not at all");
      assert.ok((left ?? 0) >= before, `${left} is older than ${before}`);
      const found: number[] = [];
      for await (const { name } of (await box(other)).listBlobsFlat()) {
        const text = await (await box(other)).getBlobClient(name).downloadToBuffer();
        found.push(Number(String(text).trim()));
      }
      const newest = Math.max(...found);
      assert.ok(newest >= before && newest <= (left ?? 0), "blobs are of the same state");
      assert.ok(newest >= (left ?? 0) - 1);
      await other.stop();
    }
  } finally {
    isOver = true;
    await writing;
  }
});

test("a further backup writes only what is new, and --keep removes old ones with their files", async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  const container = await box(server);
  const first = await putAll(container, "a");
  const one = await backUp(all);
  assert.ok(one.newBytes >= 9 * MIB);
  const two = await backUp(all);
  assert.ok(two.newBytes < 64 * 1024, `${two.newBytes} bytes are new`);
  const second = new Map(first);
  await put(container, second, "b", 500_000);
  const three = await backUp(all);
  assert.ok(three.newBytes > 500_000 && three.newBytes < MIB, `${three.newBytes} bytes are new`);
  await restore(all, `${all.restored}-1`, "--backup", one.backup);
  await requireEqual(await box(new FolderServer(t, `${all.restored}-1`)), first);
  for (const name of first.keys()) await container.deleteBlob(name);
  const left = new Map([["b", second.get("b") as Buffer]]);
  const four = await backUp(all, "--keep", "1");
  assert.equal(four.removed, 3);
  const bytes = filesIn(all.place).reduce((sum, path) => sum + statSync(path).size, 0);
  assert.ok(bytes < MIB, `${bytes} bytes are left`);
  await restore(all, all.restored);
  await requireEqual(await box(new FolderServer(t, all.restored)), left);
});

test("the progress of a backup has a percentage, the first time and later", async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  await putAll(await box(server), "a");
  for (const round of ["first", "later"]) {
    const args = ["backup", all.place, "--location", all.location, "--json"];
    const { code, err } = await lazuli(...args);
    assert.equal(code, 0, err);
    const percents = err
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).progress.percent);
    assert.ok(percents.length > 1 && percents.every((percent) => percent !== null), round + err);
    assert.ok(Math.max(...percents) <= 99);
  }
  const check = await lazuli("backup", all.place, "--check", "--json");
  assert.match(check.err, /^\{"progress":\{"percent":\d+,/);
});

test("bytes that took the place of others after a restart are not mistaken for those", async (t) => {
  const all = places(t);
  const stored = new Map<string, Buffer>();
  const first = new FolderServer(t, all.location);
  await put(await box(first), stored, "x", 300_000);
  await backUp(all);
  await put(await box(first), stored, "x", 10);
  await first.stop();
  const second = new FolderServer(t, all.location);
  await put(await box(second), stored, "x", 300_000);
  await backUp(all);
  await restore(all, all.restored);
  await requireEqual(await box(new FolderServer(t, all.restored)), stored);
});

test("a restored folder and the original go on side by side, and share a place of backups", async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  const stored = await putAll(await box(server), "a");
  await backUp(all);
  await restore(all, all.restored);
  const other = new FolderServer(t, all.restored);
  const others = new Map(stored);
  await put(await box(server), stored, "mine", 200_000);
  await put(await box(other), others, "theirs", 200_000);
  const mine = await backUp(all);
  const theirs = await backUp({ ...all, location: all.restored });
  assert.ok(mine.newBytes < MIB && theirs.newBytes < MIB, "what both have is there once");
  const unnamed = await lazuli("restore", all.place, "--location", `${all.restored}-x`);
  assert.equal(unnamed.code, 1, "nobody knows which is meant");
  assert.ok(unnamed.err.includes("has backups of 2 data folders: choose one with --backup"));
  for (const [{ backup }, location] of [
    [mine, all.location],
    [theirs, all.restored],
  ] as const) {
    assert.ok(unnamed.err.includes(`${backup} of ${location}`), unnamed.err);
  }
  await restore(all, `${all.restored}-mine`, "--backup", mine.backup);
  await restore(all, `${all.restored}-theirs`, "--backup", theirs.backup);
  await requireEqual(await box(new FolderServer(t, `${all.restored}-mine`)), stored);
  await requireEqual(await box(new FolderServer(t, `${all.restored}-theirs`)), others);
  const last = await backUp({ ...all, location: all.restored }, "--keep", "1");
  assert.equal(last.removed, 1, "those of the other folder stay");
  await restore(all, `${all.restored}-again`, "--backup", mine.backup);
});

/** Changes one byte in the middle of a file. */
function damage(path: string): void {
  const bytes = readFileSync(path);
  const at = Math.floor(bytes.length / 2);
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(path, bytes);
}

test("a damaged backup is noticed, file by file, and its restore does not count", async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  await putAll(await box(server), "a");
  await backUp(all);
  await server.stop();
  let tries = 0;
  const check = () => lazuli("backup", all.place, "--check");
  const good = await check();
  assert.equal(good.code, 0, good.err);
  assert.match(good.out, /^The backup in .* is good/);
  const files = filesIn(all.place).sort();
  for (const path of files) {
    if (path.endsWith("lazuli-backups.json")) continue;
    damage(path);
    const found = await check();
    assert.equal(found.code, 3, `${path}: ${found.err}`);
    assert.ok(found.err.includes(path), found.err);
    const to = `${all.restored}-${tries++}`;
    const { code, err } = await lazuli("restore", all.place, "--location", to);
    assert.equal(code, 3, `${path}: ${err}`);
    assert.match(err, /is damaged/);
    damage(path);
    if (!existsSync(to)) continue;
    const started = await lazuli("--location", to, "--blobPort", "0");
    assert.equal(started.code, 1);
    assert.match(started.err, /being restored.*did not end.*restore. again/);
  }
  assert.ok(tries >= 4);
  assert.deepEqual(filesIn(all.place).sort(), files, "a check changes nothing");
});

test("a backup writes damaged records of earlier ones again, and packs once they are removed", async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  const stored = await putAll(await box(server), "a");
  await backUp(all);
  await backUp(all);
  const [pack = "", ...others] = filesIn(join(all.place, "packs"));
  assert.deepEqual(others, []);
  for (const path of filesIn(join(all.place, "records"))) damage(path);
  await backUp(all);
  await restore(all, `${all.restored}-1`);
  await requireEqual(await box(new FolderServer(t, `${all.restored}-1`)), stored);
  damage(pack);
  assert.equal((await lazuli("backup", all.place, "--check")).code, 3);
  rmSync(pack);
  const third = await lazuli("backup", all.place, "--location", all.location);
  assert.equal(third.code, 0, third.err);
  assert.match(third.err, /is damaged or missing: earlier backups lack.*copies them again/);
  await restore(all, `${all.restored}-2`);
  await requireEqual(await box(new FolderServer(t, `${all.restored}-2`)), stored);
});

test("damaged bytes stop a backup, and none is made of them", async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  await putAll(await box(server), "a");
  await backUp(all);
  await put(await box(server), new Map(), "b", 300_000);
  await server.stop();
  const [extent = ""] = filesIn(join(all.location, "extents"));
  const bytes = readFileSync(extent);
  const at = bytes.length - 10_000;
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(extent, bytes);
  const { code, err } = await lazuli("backup", all.place, "--location", all.location);
  assert.equal(code, 3, err);
  assert.match(err, /are not those written.*lazuli verify/);
  assert.equal(readdirSync(join(all.place, "backups")).length, 1);
});

test("a full disk at the place leaves earlier backups good, and says so", async (t) => {
  const disk = SmallDisk.mount("tmpfs", 16);
  if (typeof disk === "string") return t.skip(disk);
  t.after(() => disk.unmount());
  const all = { ...places(t), place: join(disk.folder, "backups") };
  const server = new FolderServer(t, all.location);
  const container = await box(server);
  const stored = new Map<string, Buffer>();
  await put(container, stored, "small", 100_000);
  await backUp(all);
  await put(container, new Map(), "large", 20 * MIB);
  const { code, err } = await lazuli("backup", all.place, "--location", all.location);
  assert.equal(code, 1);
  assert.match(err, /no space is left.*as before/);
  await restore(all, all.restored);
  await requireEqual(await box(new FolderServer(t, all.restored)), stored);
  await container.deleteBlob("large");
  await backUp(all);
});

test("a place or folder that is not meant is refused", async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  await box(server);
  const refused = async (pattern: RegExp, ...args: string[]) => {
    const { code, err } = await lazuli(...args);
    assert.equal(code, 1, err);
    assert.match(err, pattern);
  };
  const at = ["--location", all.location];
  await refused(/is not empty, and has no backups/, "backup", all.location, ...at);
  await refused(/has no backups of Lazuli/, "restore", all.place, "--location", all.restored);
  await backUp(all);
  await refused(/is not empty: .*--location/, "restore", all.place, ...at);
  const named = ["--backup", "never", "--location", all.restored];
  await refused(/has no backup never\. It has 20/, "restore", all.place, ...named);
  await refused(/is not a data folder/, "backup", all.place, "--location", all.restored);
});
