import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import { CREDENTIAL } from "../sdk/server.ts";
import { LazuliProcess } from "./process.ts";

const MIB = 1024 * 1024;
const DISK_MIB = 160;
/** Taken from the disk at first, and given back when the server has run into its end. */
const BALLAST_MIB = 100;
/** Far more bodies than fit. */
const BODIES_MAX = 2_000;
const PORTS = ["--blobPort", "0", "--queuePort", "0", "--tablePort", "0"];

test("on a full disk writes get 507, nothing is lost, and they go on once there is space", async (t) => {
  const disk = smallDisk(t);
  if (disk === null) return t.skip("a small disk can be mounted by root on Linux only");
  const ballast = join(disk, "ballast");
  writeFileSync(ballast, Buffer.alloc(BALLAST_MIB * MIB));
  const lazuli = new LazuliProcess(["--location", join(disk, "data"), ...PORTS]);
  t.after(() => lazuli.kill());
  const container = clientOf(await lazuli.urlOf("Blob")).getContainerClient("full");
  await container.create();

  const kept = new Map<string, Buffer>();
  for (const bytes of [MIB, 8_000]) {
    assert.equal(await fill(container, kept, bytes), 507, `bodies of ${bytes} bytes`);
  }
  assert.ok(kept.size > 10, `${kept.size} were taken`);
  await readAll(container, kept);

  rmSync(ballast);
  for (const bytes of [MIB, 8_000]) {
    const [name, body] = [`again-${bytes}`, randomBytes(bytes)];
    await container.getBlockBlobClient(name).upload(body, body.length);
    kept.set(name, body);
  }
  await readAll(container, kept);
  assert.ok(lazuli.isRunning);
});

test("a start that finds no space says so, and the next one has everything", async (t) => {
  const disk = smallDisk(t);
  if (disk === null) return t.skip("a small disk can be mounted by root on Linux only");
  const location = ["--location", join(disk, "data")];
  const first = new LazuliProcess([...location, ...PORTS]);
  t.after(() => first.kill());
  const container = clientOf(await first.urlOf("Blob")).getContainerClient("full");
  await container.create();
  const kept = new Map<string, Buffer>();
  for (const bytes of [MIB, 8_000]) await fill(container, kept, bytes);
  await first.kill();
  const ballast = join(disk, "ballast");
  assert.throws(() => writeFileSync(ballast, Buffer.alloc(DISK_MIB * MIB)), { code: "ENOSPC" });

  const second = new LazuliProcess([...location, ...PORTS]);
  t.after(() => second.kill());
  const { code, err } = await second.ended();
  assert.equal(code, 1);
  assert.match(err, /no space is left for .*data\. Free some, then start again\./);

  // More than the disk had: what a larger one gives.
  spawnSync("mount", ["-o", `remount,size=${2 * DISK_MIB}m`, disk]);
  const third = new LazuliProcess([...location, ...PORTS]);
  t.after(() => third.kill());
  await readAll(clientOf(await third.urlOf("Blob")).getContainerClient("full"), kept);
});

function clientOf(url: string): BlobServiceClient {
  return new BlobServiceClient(url, CREDENTIAL, { retryOptions: { maxTries: 1 } });
}

/** Uploads until it is refused, and returns with which status. */
async function fill(container: ContainerClient, kept: Map<string, Buffer>, bytes: number) {
  for (let count = 0; count < BODIES_MAX; count++) {
    const [name, body] = [`${bytes}-${count}`, randomBytes(bytes)];
    try {
      await container.getBlockBlobClient(name).upload(body, body.length);
      kept.set(name, body);
    } catch (error) {
      return (error as { statusCode?: number }).statusCode;
    }
  }
  return null;
}

async function readAll(container: ContainerClient, kept: ReadonlyMap<string, Buffer>) {
  for (const [name, body] of kept) {
    const found = await container.getBlockBlobClient(name).downloadToBuffer();
    assert.ok(found.equals(body), name);
  }
}

/** Null if there cannot be one. */
function smallDisk(t: TestContext): string | null {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return null;
  const folder = mkdtempSync(join(tmpdir(), "lazuli-disk-"));
  const options = ["-t", "tmpfs", "-o", `size=${DISK_MIB}m`, "tmpfs", folder];
  const isMounted = spawnSync("mount", options).status === 0;
  t.after(() => {
    if (isMounted) spawnSync("umount", ["-l", folder]);
    rmSync(folder, { recursive: true, force: true });
  });
  return isMounted ? folder : null;
}
