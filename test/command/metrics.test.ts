import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { AzureNamedKeyCredential, TableClient } from "@azure/data-tables";
import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import {
  StorageSharedKeyCredential as FileCredential,
  ShareServiceClient,
} from "@azure/storage-file-share";
import {
  StorageSharedKeyCredential as QueueCredential,
  QueueServiceClient,
} from "@azure/storage-queue";
import { newGuid } from "../../src/base/ids.ts";
import { ANY_PORTS, anyPorts } from "../../src/main/any-ports.fixture.ts";
import { READ, WRITE } from "../../src/rules/share-mode.ts";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";
import { refused } from "../sdk/refused.ts";
import { ACCOUNT, CREDENTIAL, KEY } from "../sdk/server.ts";
import { SmbFiles } from "../smb/smb-files.ts";
import { type Labels, Scrape } from "./metrics.ts";
import { LazuliProcess } from "./process.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-metrics-"));
after(() => rmSync(scratch, { recursive: true }));

const PORTS = [...ANY_PORTS, ...anyPorts(["metrics"])];
const NO_RETRIES = { retryOptions: { maxTries: 1 } };
const EXCLUSIVE_NOW = 2 | 16;
const UNLOCK = 4;

/** A server in a process of its own, and what its metrics say. */
class Measured {
  readonly #lazuli: LazuliProcess;
  readonly #origin: string;

  private constructor(lazuli: LazuliProcess, origin: string) {
    this.#lazuli = lazuli;
    this.#origin = origin;
  }

  static async start(t: TestContext, ...args: string[]): Promise<Measured> {
    const lazuli = new LazuliProcess([...args, ...PORTS]);
    t.after(() => lazuli.kill());
    const origin = await lazuli.printed(/^Metrics are at (\S+)\/metrics$/m);
    return new Measured(lazuli, origin as string);
  }

  scrape(): Promise<Scrape> {
    return Scrape.at(this.#origin);
  }

  /** How much series rise while `work` runs, by the same keys. */
  async rises<Name extends string>(
    series: Readonly<Record<Name, readonly [metric: string, labels: Labels]>>,
    work: () => Promise<unknown>,
  ): Promise<Record<Name, number>> {
    const before = await this.scrape();
    await work();
    const now = await this.scrape();
    const rise = ([metric, labels]: readonly [string, Labels]) =>
      now.sum(metric, labels) - before.sum(metric, labels);
    const all = Object.entries(series) as [Name, readonly [string, Labels]][];
    return Object.fromEntries(all.map(([name, one]) => [name, rise(one)])) as Record<Name, number>;
  }

  async blobs(): Promise<BlobServiceClient> {
    return new BlobServiceClient(await this.#lazuli.urlOf("Blob"), CREDENTIAL, NO_RETRIES);
  }

  async container(): Promise<ContainerClient> {
    const container = (await this.blobs()).getContainerClient(`container-${newGuid()}`);
    await container.create();
    return container;
  }

  async queues(): Promise<QueueServiceClient> {
    const credential = new QueueCredential(ACCOUNT, KEY);
    return new QueueServiceClient(await this.#lazuli.urlOf("Queue"), credential, NO_RETRIES);
  }

  async table(name: string): Promise<TableClient> {
    const credential = new AzureNamedKeyCredential(ACCOUNT, KEY);
    const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
    return new TableClient(await this.#lazuli.urlOf("Table"), name, credential, options);
  }

  async shares(): Promise<ShareServiceClient> {
    const credential = new FileCredential(ACCOUNT, KEY);
    return new ShareServiceClient(await this.#lazuli.urlOf("File"), credential, NO_RETRIES);
  }

  async smb(t: TestContext, share: string): Promise<SmbFiles> {
    const port = await this.#lazuli.printed(/^SMB service .*:(\d+)$/m);
    const files = await SmbFiles.connect(Number(port), share);
    t.after(() => files.close());
    return files;
  }
}

const requests = (service: string, operation: string, code: string, error = "") =>
  ["lazuli_requests_total", { service, operation, code, error }] as const;
const conflicts = (service: string, kind: string) =>
  ["lazuli_conflicts_total", { service, kind }] as const;

test("requests rise by exactly what was done, by service, operation and code", async (t) => {
  const lazuli = await Measured.start(t, "--inMemoryPersistence");
  const container = await lazuli.container();
  const blob = container.getBlockBlobClient("blob");
  const labels = { service: "blob", operation: "PutBlob" };
  const rises = await lazuli.rises(
    {
      puts: requests("blob", "PutBlob", "201"),
      gets: requests("blob", "GetBlob", "206"),
      misses: requests("blob", "GetBlob", "404", "BlobNotFound"),
      all: ["lazuli_requests_total", { service: "blob" }],
      timed: ["lazuli_request_duration_seconds_count", labels],
      bytesIn: ["lazuli_request_bytes_total", labels],
      bytesOut: ["lazuli_response_bytes_total", { service: "blob", operation: "GetBlob" }],
      messages: requests("queue", "PutMessage", "201"),
      entities: requests("table", "InsertEntity", "204"),
    },
    async () => {
      for (let at = 0; at < 3; at++) await blob.upload("x".repeat(1_000), 1_000);
      for (let at = 0; at < 2; at++) await blob.downloadToBuffer(0, 1_000);
      await refused(container.getBlobClient("none").download(), 404, "BlobNotFound");
      const queue = (await lazuli.queues()).getQueueClient("queue");
      await queue.create();
      await queue.sendMessage("message");
      const table = await lazuli.table("table");
      await table.createTable();
      await table.createEntity({ partitionKey: "p", rowKey: "r" });
    },
  );
  const { bytesOut, ...exact } = rises;
  assert.deepEqual(exact, {
    puts: 3,
    gets: 2,
    misses: 1,
    all: 6,
    timed: 3,
    bytesIn: 3_000,
    messages: 1,
    entities: 1,
  });
  // The body of the refusal comes on top.
  assert.ok(bytesOut >= 2_000, String(bytesOut));
});

test("a 412, a 409, a 304 and a missing lease id count as conflicts of their kind", async (t) => {
  const lazuli = await Measured.start(t, "--inMemoryPersistence");
  const container = await lazuli.container();
  const blob = container.getBlockBlobClient("blob");
  const { etag = "" } = await blob.upload("a", 1);
  const table = await lazuli.table("table");
  await table.createTable();
  await table.createEntity({ partitionKey: "p", rowKey: "r" });
  const rises = await lazuli.rises(
    {
      condition: conflicts("blob", "condition"),
      notModified: conflicts("blob", "not_modified"),
      taken: conflicts("blob", "conflict"),
      lease: conflicts("blob", "lease"),
      entity: conflicts("table", "condition"),
      entityTaken: conflicts("table", "conflict"),
    },
    async () => {
      const stale = { conditions: { ifMatch: '"0x0"' } };
      for (let at = 0; at < 2; at++)
        await refused(blob.upload("b", 1, stale), 412, "ConditionNotMet");
      await assert.rejects(blob.download(0, 1, { conditions: { ifNoneMatch: etag } }), {
        statusCode: 304,
      });
      await refused(container.create(), 409, "ContainerAlreadyExists");
      await blob.getBlobLeaseClient().acquireLease(60);
      await refused(blob.upload("c", 1), 412, "LeaseIdMissing");
      await refused(blob.getBlobLeaseClient().acquireLease(60), 409, "LeaseAlreadyPresent");
      const entity = { partitionKey: "p", rowKey: "r" };
      await assert.rejects(table.updateEntity(entity, "Replace", { etag: 'W/"old"' }));
      await assert.rejects(table.createEntity(entity));
    },
  );
  assert.deepEqual(rises, {
    condition: 2,
    notModified: 1,
    taken: 1,
    lease: 2,
    entity: 1,
    entityTaken: 1,
  });
});

test("sharing violations and lock conflicts count, through SMB and through REST", async (t) => {
  const lazuli = await Measured.start(t, "--inMemoryPersistence");
  const share = (await lazuli.shares()).getShareClient("share");
  await share.create();
  const file = share.getDirectoryClient("").getFileClient("file");
  await file.create(10);
  const smb = await lazuli.smb(t, "share");
  const other = await lazuli.smb(t, "share");
  const rises = await lazuli.rises(
    {
      restSharing: conflicts("file", "sharing_violation"),
      restPending: conflicts("file", "delete_pending"),
      restLock: conflicts("file", "lock"),
      smbSharing: conflicts("smb", "sharing_violation"),
      smbPending: conflicts("smb", "delete_pending"),
      smbLock: conflicts("smb", "lock"),
      opens: requests("smb", "Create", "STATUS_SUCCESS"),
      closes: requests("smb", "Close", "STATUS_SUCCESS"),
    },
    async () => {
      const alone = await smb.open("file", { access: READ | WRITE, share: 0 });
      await other.tryOpen("file");
      await refused(file.uploadRange("x", 0, 1), 409, "SharingViolation");
      await smb.end(alone);
      const handle = await smb.open("file", { access: READ | WRITE });
      const second = await other.open("file", { access: READ | WRITE });
      await smb.lock(handle, 0, 5, EXCLUSIVE_NOW);
      await other.lock(second, 2, 1, EXCLUSIVE_NOW);
      await other.write(second, 2, "x");
      await refused(file.uploadRange("x", 2, 1), 409, "FileLockConflict");
      await smb.end(handle);
      await other.end(second);
    },
  );
  assert.deepEqual(rises, {
    restSharing: 1,
    restPending: 0,
    restLock: 1,
    smbSharing: 1,
    smbPending: 0,
    smbLock: 2,
    opens: 3,
    closes: 3,
  });
});

test("the steps of an SMB log-on count under the names of their statuses", async (t) => {
  const lazuli = await Measured.start(t, "--inMemoryPersistence");
  await (await lazuli.shares()).getShareClient("share").create();
  const step = "STATUS_MORE_PROCESSING_REQUIRED";
  const rises = await lazuli.rises(
    {
      steps: requests("smb", "SessionSetup", step),
      logons: requests("smb", "SessionSetup", "STATUS_SUCCESS"),
      all: ["lazuli_requests_total", { service: "smb", operation: "SessionSetup" }],
    },
    () => lazuli.smb(t, "share"),
  );
  assert.deepEqual(rises, { steps: 1, logons: 1, all: 2 });
});

test("gauges follow leases, handles, locks and messages up and down", async (t) => {
  const lazuli = await Measured.start(t, "--location", join(scratch, "gauges"));
  const container = await lazuli.container();
  const blob = container.getBlockBlobClient("blob");
  const share = (await lazuli.shares()).getShareClient("share");
  const queue = (await lazuli.queues()).getQueueClient("queue");
  await blob.upload("a", 1);
  await share.create();
  await share.getDirectoryClient("").getFileClient("file").create(10);
  await queue.create();
  const state = async () => {
    const now = await lazuli.scrape();
    return {
      leases: now.value("lazuli_leases", { object: "blob" }),
      containerLeases: now.value("lazuli_leases", { object: "container" }),
      handles: now.value("lazuli_open_handles"),
      locks: now.value("lazuli_range_locks"),
      visible: now.value("lazuli_queue_messages", { state: "visible" }),
      hidden: now.value("lazuli_queue_messages", { state: "hidden" }),
      isOld: now.value("lazuli_queue_oldest_message_age_seconds") > 0,
    };
  };
  const none = { leases: 0, containerLeases: 0, handles: 0, locks: 0, visible: 0, hidden: 0 };
  assert.deepEqual(await state(), { ...none, isOld: false });

  const lease = blob.getBlobLeaseClient();
  const containerLease = container.getBlobLeaseClient();
  await lease.acquireLease(-1);
  await containerLease.acquireLease(-1);
  const smb = await lazuli.smb(t, "share");
  const handle = await smb.open("file", { access: READ | WRITE });
  assert.equal(await smb.lock(handle, 0, 5, EXCLUSIVE_NOW), 0);
  assert.equal(await smb.lock(handle, 6, 2, EXCLUSIVE_NOW), 0);
  for (let at = 0; at < 3; at++) await queue.sendMessage("message");
  const [got] = (await queue.receiveMessages()).receivedMessageItems;
  const some = { leases: 1, containerLeases: 1, handles: 1, locks: 2, visible: 2, hidden: 1 };
  assert.deepEqual(await state(), { ...some, isOld: true });

  await lease.releaseLease();
  await containerLease.releaseLease();
  assert.equal(await smb.lock(handle, 0, 5, UNLOCK), 0);
  assert.deepEqual((await state()).locks, 1);
  assert.equal(await smb.end(handle), 0);
  await queue.deleteMessage(got?.messageId ?? "", got?.popReceipt ?? "");
  await queue.clearMessages();
  assert.deepEqual(await state(), { ...none, isOld: false });
});

test("the engine's figures follow what is stored and freed", async (t) => {
  const lazuli = await Measured.start(t, "--location", join(scratch, "engine"));
  const container = await lazuli.container();
  const before = await lazuli.scrape();
  const bytes = 3 * 1024 * 1024;
  const blob = container.getBlockBlobClient("blob");
  await blob.upload(Buffer.alloc(bytes, 7), bytes);
  const stored = await lazuli.scrape();
  const live = { state: "live" };
  const rise = (metric: string, labels: Labels = {}) =>
    stored.sum(metric, labels) - before.sum(metric, labels);
  assert.ok(rise("lazuli_extent_bytes", live) >= bytes);
  assert.ok(rise("lazuli_extent_written_bytes_total") >= bytes);
  assert.ok(rise("lazuli_fsync_duration_seconds_count", { file: "extent" }) >= 1);
  assert.ok(rise("lazuli_fsync_duration_seconds_count", { file: "wal" }) >= 1);
  assert.ok(rise("lazuli_commit_group_transactions_count") >= 1);
  assert.ok(rise("lazuli_wal_written_bytes_total") > 0);
  assert.ok(stored.value("lazuli_disk_free_bytes") > 0);
  assert.equal(stored.value("lazuli_disk_full"), 0);
  assert.equal(stored.value("lazuli_connections", { service: "smb" }), 0);
  assert.ok(stored.value("lazuli_connections", { service: "blob" }) >= 1);
  assert.ok(stored.value("process_resident_memory_bytes") > 1e7);
  await blob.delete();
  const freed = await lazuli.scrape();
  const dropped = freed.sum("lazuli_extent_bytes", live);
  assert.ok(dropped <= stored.sum("lazuli_extent_bytes", live));
});

test("promtool finds nothing to complain about", async (t) => {
  const reason = skipWithoutDebianProgram("promtool", "prometheus");
  if (reason !== null) return t.skip(reason);
  const lazuli = await Measured.start(t, "--location", join(scratch, "promtool"));
  const container = await lazuli.container();
  await container.getBlockBlobClient("blob").upload("a", 1);
  const { text } = await lazuli.scrape();
  const checked = spawnSync("promtool", ["check", "metrics"], { input: text, encoding: "utf8" });
  assert.deepEqual([checked.status, checked.stdout, checked.stderr], [0, "", ""]);
});

test("no label has the name of an account, a container or a client", async (t) => {
  const lazuli = await Measured.start(t, "--inMemoryPersistence");
  const container = await lazuli.container();
  await container.getBlockBlobClient("secret-blob").upload("a", 1);
  const { text } = await lazuli.scrape();
  for (const name of [ACCOUNT, container.containerName, "secret-blob"]) {
    assert.ok(!text.includes(name), name);
  }
});
