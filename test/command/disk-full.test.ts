import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { CREDENTIAL } from "../sdk/server.ts";
import { skipWithoutSmbclient, smbclient } from "../smb/smbclient.ts";
import { makeObjects, useOnFullDisk } from "./full-disk-objects.ts";
import { LazuliProcess } from "./process.ts";
import { type FileSystem, SmallDisk } from "./small-disk.ts";

const MIB = 1024 * 1024;
const DISK_MIB = 160;
/** Occupies disk space at first, and is freed once the disk is full. */
const BALLAST_MIB = 100;
/** Far more bodies than fit. */
const BODIES_MAX = 5_000;
/** Far more requests than come before the sweep frees space. */
const TRIES_MAX = 20_000;
/** Half of what the write-ahead log grows by at a time. */
const HALF_GROWTH_BYTES = MIB / 2;

test("on a full disk writes get 507, nothing is lost, and they work again once there is space", async (t) => {
  const disk = mount(t, "tmpfs", DISK_MIB);
  if (disk === null) return;
  const ballast = join(disk.folder, "ballast");
  writeFileSync(ballast, Buffer.alloc(BALLAST_MIB * MIB));
  const lazuli = start(t, disk);
  const container = await containerOf(lazuli);
  await container.create();

  const stored = new Map<string, Buffer>();
  for (const bytes of [MIB, 8_000]) {
    assert.equal(await fill(container, stored, bytes), 507, `bodies of ${bytes} bytes`);
  }
  assert.ok(stored.size > 10, `${stored.size} were taken`);
  await readAll(container, stored);

  rmSync(ballast);
  for (const bytes of [MIB, 8_000]) {
    const [name, body] = [`again-${bytes}`, randomBytes(bytes)];
    await container.getBlockBlobClient(name).upload(body, body.length);
    stored.set(name, body);
  }
  await readAll(container, stored);
  assert.ok(lazuli.isRunning);
});

test("a disk with space for only a part of what the write-ahead log grows by is a full disk: 507", async (t) => {
  const disk = mount(t, "tmpfs", DISK_MIB);
  if (disk === null) return;
  const lazuli = start(t, disk);
  const container = await containerOf(lazuli);
  await container.create();
  const ballast = join(disk.folder, "ballast");
  writeFileSync(ballast, Buffer.alloc(disk.freeBytes - HALF_GROWTH_BYTES));

  const stored = new Map<string, Buffer>();
  assert.equal(await fill(container, stored, 8_000), 507, lazuli.errors);
  rmSync(ballast);
  await container.getBlockBlobClient("again").upload(randomBytes(8_000), 8_000);
  await readAll(container, stored);
  assert.ok(lazuli.isRunning);
});

const VOLUMES: readonly [FileSystem, number][] = [
  ["ext4", DISK_MIB],
  ["ext4", 2 * DISK_MIB],
  ["tmpfs", DISK_MIB],
];
for (const [fileSystem, mib] of VOLUMES) {
  test(`a full ${fileSystem} of ${mib} MiB: deletes through the API alone free space again, with kills in between`, async (t) => {
    const disk = mount(t, fileSystem, mib);
    if (disk === null) return;
    const first = start(t, disk);
    const container = await containerOf(first);
    await container.create();
    const stored = new Map<string, Buffer>();
    for (const bytes of [MIB, 8_000]) assert.equal(await fill(container, stored, bytes), 507);
    await first.kill();

    const second = start(t, disk);
    await readAll(await containerOf(second), stored);
    const names = [...stored.keys()];
    const half = names.slice(0, names.length / 2);
    await deleteAll(await containerOf(second), half);
    await second.kill();

    const third = start(t, disk);
    const left = await containerOf(third);
    await deleteAll(left, names.slice(half.length));
    await untilTaken(left, "again-small", 8_000);
    const large = names.filter((name) => name.startsWith(`${MIB}-`)).length;
    for (let at = 0; at < 0.8 * large; at++) await untilTaken(left, `again-${at}`, MIB);
  });
}

test("operations that free space or hardly grow work on a full disk, in every service; a stop is quiet", async (t) => {
  const disk = mount(t, "ext4", DISK_MIB);
  if (disk === null) return;
  const first = start(t, disk);
  await makeObjects(first);
  const container = await containerOf(first);
  await container.create();
  const stored = new Map<string, Buffer>();
  for (const bytes of [MIB, 8_000]) assert.equal(await fill(container, stored, bytes), 507);
  await first.kill();

  const second = start(t, disk);
  const url = new URL(await second.urlOf("Blob"));
  const health = await fetch(new URL("/healthz", url));
  assert.deepEqual([health.status, await health.text()], [200, "full: reads and deletes only\n"]);
  assert.equal((await fetch(new URL("/healthz?for=writes", url))).status, 503);
  await useOnFullDisk(second);
  if (skipWithoutSmbclient === false) {
    const port = await second.printed(/^SMB service .*:(\d+)\n/m);
    const deleted = await smbclient(Number(port), "//127.0.0.1/share", "-c", "del by-smb");
    assert.equal(deleted.code, 0, deleted.text);
  }
  second.signal("SIGTERM");
  const { code, err } = await second.ended();
  assert.equal(code, 0);
  assert.match(err, /disk of the data folder is full: .* Delete what is not needed/);
  assert.doesNotMatch(err, /^ +at /m);
});

test("a start on a disk filled by others serves reads and deletes, and nothing is lost", async (t) => {
  const disk = mount(t, "tmpfs", DISK_MIB);
  if (disk === null) return;
  const first = start(t, disk);
  const container = await containerOf(first);
  await container.create();
  const stored = new Map<string, Buffer>();
  for (const bytes of [MIB, 8_000]) await fill(container, stored, bytes);
  await first.kill();
  const ballast = join(disk.folder, "ballast");
  assert.throws(() => writeFileSync(ballast, Buffer.alloc(DISK_MIB * MIB)), { code: "ENOSPC" });

  const second = start(t, disk);
  const full = await containerOf(second);
  await readAll(full, stored);
  const gone = `${MIB}-0`;
  await deleteAll(full, [gone]);
  stored.delete(gone);
  await second.kill();

  // More space than the disk had, like on a larger one.
  spawnSync("mount", ["-o", `remount,size=${2 * DISK_MIB}m`, disk.folder]);
  await readAll(await containerOf(start(t, disk)), stored);
});

/** Mounts a small disk; skips the test and returns null if that is impossible. */
function mount(t: TestContext, fileSystem: FileSystem, mib: number): SmallDisk | null {
  const disk = SmallDisk.mount(fileSystem, mib);
  if (typeof disk === "string") {
    t.skip(disk);
    return null;
  }
  t.after(() => disk.unmount());
  return disk;
}

function start(t: TestContext, disk: SmallDisk): LazuliProcess {
  const lazuli = new LazuliProcess(["--location", join(disk.folder, "data"), ...ANY_PORTS]);
  t.after(() => lazuli.kill());
  return lazuli;
}

async function containerOf(lazuli: LazuliProcess): Promise<ContainerClient> {
  const options = { retryOptions: { maxTries: 1 } };
  const client = new BlobServiceClient(await lazuli.urlOf("Blob"), CREDENTIAL, options);
  return client.getContainerClient("full");
}

/** Uploads until refused, and returns the status of the refusal. */
async function fill(container: ContainerClient, stored: Map<string, Buffer>, bytes: number) {
  for (let count = 0; count < BODIES_MAX; count++) {
    const [name, body] = [`${bytes}-${count}`, randomBytes(bytes)];
    const status = await upload(container, name, body);
    if (status !== 201) return status;
    stored.set(name, body);
  }
  return null;
}

async function upload(container: ContainerClient, name: string, body: Buffer) {
  try {
    await container.getBlockBlobClient(name).upload(body, body.length);
    return 201;
  } catch (error) {
    return (error as { statusCode?: number }).statusCode;
  }
}

async function untilTaken(container: ContainerClient, name: string, bytes: number) {
  const body = randomBytes(bytes);
  for (let tries = 0; (await upload(container, name, body)) !== 201; tries++) {
    assert.ok(tries < TRIES_MAX, `${name} of ${bytes} bytes is refused every time`);
  }
}

async function deleteAll(container: ContainerClient, names: readonly string[]): Promise<void> {
  for (const name of names) await container.getBlobClient(name).delete();
}

async function readAll(container: ContainerClient, stored: ReadonlyMap<string, Buffer>) {
  for (const [name, body] of stored) {
    const found = await container.getBlockBlobClient(name).downloadToBuffer();
    assert.ok(found.equals(body), name);
  }
}
