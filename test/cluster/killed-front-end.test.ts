import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
// tidy-allow sleep: only asking tells what another process has done in the background
import { setTimeout as wait } from "node:timers/promises";
import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-share";
import { MIB } from "../../src/base/limits.ts";
import {
  listFrontEnds,
  readLeader,
  renewLeader,
  writeFrontEnd,
} from "../../src/cluster/front-end-records.ts";
import { readAddress } from "../../src/engine/postgres/address.ts";
import {
  PostgresServer,
  skipWithoutOwnPostgres,
} from "../../src/engine/postgres/postgres-server.fixture.ts";
import { openPostgresStore } from "../../src/engine/postgres/store.ts";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { READ, WRITE } from "../../src/rules/share-mode.ts";
import { LazuliProcess } from "../command/process.ts";
import { refused } from "../sdk/refused.ts";
import { ACCOUNT, CREDENTIAL, KEY } from "../sdk/server.ts";
import { TestSource } from "../sdk/test-source.ts";
import { SmbFiles } from "../smb/smb-files.ts";

const ASK_AGAIN_MS = 100;
const LONG_AGO_MS = 1;
const LARGE = 100_000;

/** Ends the leases that the killed front end had, as if time had passed. */
async function endLeases(url: string): Promise<number> {
  const store = await openPostgresStore(readAddress(url));
  try {
    return await store.transact((tx) => {
      const leader = readLeader(tx)?.frontEnd ?? 0;
      renewLeader(tx, leader, LONG_AGO_MS, tx.now());
      const killed = listFrontEnds(tx).find(({ number }) => number !== leader);
      if (killed === undefined) return assert.fail("there is one front end only");
      writeFrontEnd(tx, killed.number, { ...killed, untilMs: LONG_AGO_MS });
      return killed.number;
    });
  } finally {
    await store.close();
  }
}

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await wait(ASK_AGAIN_MS);
}

test("what a killed front end was doing ends at the others", {
  skip: skipWithoutOwnPostgres() ?? false,
  timeout: 900_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-killed-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const server = await PostgresServer.start();
  t.after(() => server.remove());
  const elsewhere = await TestSource.start();
  t.after(() => elsewhere.close());
  const config = join(folder, "lazuli.json");
  writeFileSync(config, JSON.stringify({ copySources: { origins: [elsewhere.origin] } }));
  const url = server.url();
  const bytes = join(folder, "bytes");
  const args = ["start", "--config", config, "--records", url, "--bytes", bytes, ...ANY_PORTS];
  const start = async () => {
    const lazuli = new LazuliProcess(args);
    t.after(() => lazuli.kill());
    const [blob, file] = [await lazuli.urlOf("Blob"), await lazuli.urlOf("File")];
    const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
    return {
      lazuli,
      blobs: new BlobServiceClient(blob, CREDENTIAL).getContainerClient("box"),
      share: new ShareServiceClient(file, credential).getShareClient("box"),
      smbPort: Number(await lazuli.printed(/smb:\/\/\S+:(\d+)/)),
    };
  };
  // The first one leads.
  const left = await start();
  const killed = await start();
  await left.blobs.create();
  await left.share.create();
  await left.share.rootDirectoryClient.getFileClient("file").create(10);

  const files = await SmbFiles.connect(killed.smbPort, "box");
  t.after(() => files.close());
  await files.open("file", { access: READ | WRITE, share: 0 });
  elsewhere.bytes = Buffer.alloc(12 * MIB);
  elsewhere.hold(MIB);
  const held = elsewhere.held();
  const copy = killed.blobs.getBlockBlobClient("copy");
  await copy.beginCopyFromURL(`${elsewhere.origin}/object`);
  await held;
  const named = Buffer.alloc(LARGE, "named");
  await killed.blobs.getBlockBlobClient("named").uploadData(named);

  const write = () => left.share.rootDirectoryClient.getFileClient("file").uploadRange("x", 0, 1);
  await refused(write(), 409, "SharingViolation");
  killed.lazuli.signal("SIGKILL");
  await killed.lazuli.ended();
  await refused(write(), 409, "SharingViolation");
  assert.equal((await left.blobs.getBlobClient("copy").getProperties()).copyStatus, "pending");
  const made = () => extentsIn(join(bytes, "extents"), number);
  const number = await endLeases(url);
  assert.ok(made() > 1, "the copy has stored something");

  await until(() =>
    write().then(
      () => true,
      () => false,
    ),
  );
  const status = async () =>
    (await left.blobs.getBlobClient("copy").getProperties()).copyStatus ?? "";
  await until(async () => (await status()) !== "pending");
  assert.equal(await status(), "failed");
  await until(() => made() === 1);
  assert.ok((await left.blobs.getBlobClient("named").downloadToBuffer()).equals(named));
  await left.blobs.getBlobClient("named").delete();
  await until(() => made() === 0);
  assert.equal(left.lazuli.errors.includes("failed"), false, left.lazuli.errors);
});

/** How many files of a front end are left. */
function extentsIn(folder: string, frontEnd: number): number {
  const own = join(folder, frontEnd.toString(16).padStart(5, "0"));
  try {
    return readdirSync(own).length;
  } catch {
    return 0;
  }
}
