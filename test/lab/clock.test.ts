import assert from "node:assert/strict";
import { test } from "node:test";
import {
  BlobClient,
  BlobSASPermissions,
  BlobServiceClient,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { READ, WRITE } from "../../src/rules/share-mode.ts";
import { SmbFiles } from "../smb/smb-files.ts";
import { newContainer, ONE_TRY, put, served } from "./served.ts";

const KEYS = [1, 2].map((byte) => Buffer.alloc(64, byte).toString("base64"));
const TWO_ACCOUNTS = [
  { name: "near", keys: [KEYS[0] ?? ""] },
  { name: "far", keys: [KEYS[1] ?? ""] },
];

test("a lease ends when the clock is moved past its end, and not before", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  await put(container, "doc", "one");
  const blob = container.getBlockBlobClient("doc");
  await here.lab.freeze();
  const { leaseId } = await blob.getBlobLeaseClient().acquireLease(15);
  await here.lab.move("14s");
  await assert.rejects(put(container, "doc", "two"), { code: "LeaseIdMissing" });
  await here.lab.move("1s");
  await assert.rejects(
    blob.upload("two", 3, { conditions: { leaseId: leaseId ?? "" } }),
    (error: { code?: string }) =>
      error.code === "LeaseLost" || error.code === "LeaseNotPresentWithBlobOperation",
  );
  await put(container, "doc", "two");
});

test("messages come back and expire by the clock", async (t) => {
  const { server, lab } = await served(t);
  const service = QueueServiceClient.fromConnectionString(server.connectionString, ONE_TRY);
  const queue = service.getQueueClient("work");
  await queue.create();
  await lab.freeze();
  await queue.sendMessage("job", { messageTimeToLive: 60 });
  const receive = async () =>
    (await queue.receiveMessages({ visibilityTimeout: 30 })).receivedMessageItems;
  assert.deepEqual(
    (await receive()).map(({ dequeueCount }) => dequeueCount),
    [1],
  );
  await lab.move("29s");
  assert.equal((await receive()).length, 0);
  await lab.move("1s");
  assert.deepEqual(
    (await receive()).map(({ dequeueCount }) => dequeueCount),
    [2],
  );
  await lab.move("30s");
  assert.equal((await receive()).length, 0);
});

test("a SAS ends by the clock, while a signature goes by the client's time", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  await put(container, "doc", "one");
  const { name, key } = Object.values(here.server.accounts)[0] ?? { name: "", key: "" };
  const expiresOn = new Date(Date.now() + 3_600_000);
  const query = generateBlobSASQueryParameters(
    {
      containerName: "box",
      blobName: "doc",
      expiresOn,
      permissions: BlobSASPermissions.parse("r"),
    },
    new StorageSharedKeyCredential(name, key),
  );
  const blob = new BlobClient(`${container.getBlobClient("doc").url}?${query}`, undefined, ONE_TRY);
  await blob.getProperties();
  await here.lab.move("61m");
  await assert.rejects(blob.getProperties(), { statusCode: 403 });
  await put(container, "doc", "two");
});

test("an account can have a clock of its own, on top of the server's", async (t) => {
  const { server, lab } = await served(t, { accounts: TWO_ACCOUNTS });
  const queues = ["near", "far"].map((name) => {
    const { connectionString } = server.accounts[name] ?? { connectionString: "" };
    return QueueServiceClient.fromConnectionString(connectionString, ONE_TRY).getQueueClient(
      "jobs",
    );
  });
  await lab.freeze();
  for (const queue of queues) {
    await queue.create();
    await queue.sendMessage("late", { visibilityTimeout: 60 });
  }
  const seen = async () =>
    Promise.all(
      queues.map(async (queue) => (await queue.peekMessages()).peekedMessageItems.length),
    );
  await lab.move("1m", "far");
  assert.deepEqual(await seen(), [0, 1]);
  await lab.move("1m");
  assert.deepEqual(await seen(), [1, 1]);
  const { server: own, accounts } = await lab.clocks();
  assert.equal(own.isFrozen, true);
  assert.deepEqual(Object.keys(accounts), ["far"]);
  await lab.resetClock("far");
  assert.deepEqual((await lab.clocks()).accounts, {});
});

test("soft-deleted blobs are kept for their days by the clock, and are gone then", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  await here.blobs.setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
  await here.lab.freeze();
  for (const name of ["first", "second"]) {
    await put(container, name, "text");
    await container.getBlobClient(name).delete();
  }
  await here.lab.move("6d");
  await container.getBlobClient("first").undelete();
  await here.lab.move("1d");
  await assert.rejects(container.getBlobClient("second").undelete(), { statusCode: 404 });
  const left: string[] = [];
  for await (const { name } of container.listBlobsFlat({ includeDeleted: true })) left.push(name);
  assert.deepEqual(left, ["first"]);
});

test("an archived blob, and a copy of one, can be read when the clock has passed their wait", async (t) => {
  const { server, lab } = await served(t, { accounts: TWO_ACCOUNTS });
  const blobsOf = async (name: string) => {
    const { connectionString } = server.accounts[name] ?? { connectionString: "" };
    const service = BlobServiceClient.fromConnectionString(connectionString, ONE_TRY);
    const container = service.getContainerClient("box");
    await container.create();
    await put(container, "doc", "text");
    await container.getBlockBlobClient("doc").setAccessTier("Archive");
    const options = { tier: "Hot", rehydratePriority: "High" } as const;
    const source = container.getBlobClient("doc");
    const copying = await container.getBlobClient("copy").beginCopyFromURL(source.url, options);
    await copying.pollUntilDone();
    await source.setAccessTier("Hot", { rehydratePriority: "High" });
    return ["doc", "copy"].map((one) => container.getBlobClient(one));
  };
  await lab.freeze();
  const [near, far] = [await blobsOf("near"), await blobsOf("far")];
  const statesOf = (all: readonly BlobClient[]) =>
    Promise.all(all.map(async (one) => (await one.getProperties()).archiveStatus ?? "ready"));
  const waiting = "rehydrate-pending-to-hot";
  await lab.move("59m", "far");
  assert.deepEqual(await statesOf(far), [waiting, waiting]);
  await lab.move("1m", "far");
  assert.deepEqual(await statesOf(far), ["ready", "ready"]);
  assert.deepEqual(await statesOf(near), [waiting, waiting]);
  for (const blob of far) assert.equal(`${await blob.downloadToBuffer()}`, "text");
  await lab.move("1h");
  assert.deepEqual(await statesOf(near), ["ready", "ready"]);
});

test("a copy is completed at the time of its account", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  await put(container, "doc", "text");
  const account = "devstoreaccount1";
  await here.lab.freeze(account);
  const target = container.getBlobClient("copy");
  for (const time of ["2031-02-03T04:05:06.000Z", "2032-02-03T04:05:06.000Z"]) {
    await here.lab.set(time, account);
    await (await target.beginCopyFromURL(`${container.url}/doc`)).pollUntilDone();
    assert.equal((await target.getProperties()).copyCompletedOn?.toISOString(), time);
  }
});

test("files that are written over SMB have the time of the server's clock", async (t) => {
  const here = await served(t, { services: ["blob", "file", "smb"] });
  const { connectionString } = here.server;
  const shares = ShareServiceClient.fromConnectionString(connectionString, ONE_TRY);
  const share = shares.getShareClient("share");
  await share.create();
  await here.lab.freeze();
  await here.lab.set("2031-02-03T04:05:06Z");
  const smb = await SmbFiles.connect(Number(new URL(here.server.urls.smb ?? "").port), "share");
  t.after(() => smb.close());
  const opened = await smb.open("doc", { access: READ | WRITE, disposition: "create" });
  await smb.write(opened, 0, "text");
  await smb.end(opened);
  const { lastModified, fileCreatedOn } = await share.rootDirectoryClient
    .getFileClient("doc")
    .getProperties();
  assert.deepEqual(
    [lastModified, fileCreatedOn].map((time) => time?.toISOString()),
    Array(2).fill("2031-02-03T04:05:06.000Z"),
  );
});

test("background work takes nothing away from an account whose clock is behind", async (t) => {
  const { server, lab } = await served(t, { accounts: TWO_ACCOUNTS });
  const { connectionString } = server.accounts.near ?? { connectionString: "" };
  const queue = QueueServiceClient.fromConnectionString(connectionString, ONE_TRY).getQueueClient(
    "jobs",
  );
  await queue.create();
  await lab.freeze("near");
  await queue.sendMessage("short", { messageTimeToLive: 10 });
  await lab.move("1h");
  assert.equal((await queue.peekMessages()).peekedMessageItems.length, 1);
  await lab.move("10s", "near");
  assert.equal((await queue.peekMessages()).peekedMessageItems.length, 0);
});

test("wrong times and unknown accounts are refused with what is allowed", async (t) => {
  const { lab } = await served(t);
  await assert.rejects(lab.move("soon"), /move must be a duration such as "500ms", "20s"/);
  await assert.rejects(
    lab.set("tomorrow"),
    /set must be a time in UTC such as "2030-01-01T00:00:00Z"/,
  );
  await assert.rejects(lab.set("9999-01-01T00:00:00Z"), /between the years 1970 and 9000/);
  await assert.rejects(lab.freeze("nobody"), /no account "nobody"/);
});
