import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { ManualClock } from "../../src/base/clock.ts";
import { openData } from "../../src/main/open-data.ts";
import { OWNER } from "../../src/rules/access.ts";
import { createFilledQueue } from "../../src/service/queue/create-filled-queue.ts";
import { deleteQueue } from "../../src/service/queue/delete-queue.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { FolderServer, lazuli, scratchFolder } from "./folder-server.ts";

const CONFIG = {
  accounts: [
    {
      name: ACCOUNT,
      keys: [KEY],
      blob: { containerRetentionDays: 3 },
      file: { shareRetentionDays: 3 },
    },
    { name: "lake", keys: [KEY], blob: { hierarchicalNamespace: true } },
  ],
};

interface Row {
  readonly service: string;
  readonly name: string;
  readonly prefix?: string;
  readonly amounts: Record<string, { objects: number; bytes: number }>;
}

async function usageOf(location: string, ...args: string[]) {
  const { code, out, err } = await lazuli("usage", ...args, "--json", "--location", location);
  assert.equal(code, 0, err);
  const usage = JSON.parse(out) as { rows: Row[]; total: Row["amounts"]; disk: object };
  const rows = new Map(
    usage.rows.map((row) => [
      `${row.service}/${row.name}${row.prefix === undefined ? "" : `/${row.prefix}`}`,
      row.amounts,
    ]),
  );
  return { rows, total: usage.total, disk: usage.disk };
}

/** Objects of every kind, with sizes that tell them apart. */
async function fill(server: FolderServer): Promise<void> {
  const blobs = await server.blobs();
  await blobs.setProperties({ deleteRetentionPolicy: { enabled: true, days: 1 } });
  const photos = (await blobs.createContainer("photos")).containerClient;
  const put = (name: string, bytes: number) =>
    photos.getBlockBlobClient(name).upload(Buffer.alloc(bytes), bytes);
  await put("2026/a", 100);
  await put("2026/may/b", 30_000);
  await put("2025/c", 7);
  await put("loose", 1);
  await photos.getBlockBlobClient("2026/a").createSnapshot();
  await photos.getBlockBlobClient("2025/c").delete();
  await photos.getBlockBlobClient("later").stageBlock("AAAA", Buffer.alloc(50_000), 50_000);
  const gone = (await blobs.createContainer("gone")).containerClient;
  await gone.getBlockBlobClient("x").upload("12345", 5);
  await gone.delete();
  const queue = (await server.queues()).getQueueClient("work");
  await queue.create();
  await queue.sendMessage("ABC");
  await queue.sendMessage("ä");
  const table = await server.table("people");
  await table.createTable();
  await table.createEntity({ partitionKey: "p", rowKey: "r", age: 7 });
  const share = (await server.shares()).getShareClient("docs");
  await share.create();
  await share.getDirectoryClient("in").create();
  await share.getDirectoryClient("in/deep").create();
  await share.getDirectoryClient("in/deep").createFile("f", 4_096);
  await share.rootDirectoryClient.createFile("top", 10);
  await share.createSnapshot();
  await share.rootDirectoryClient.createFile("top", 20);
}

function check({ rows, total }: Awaited<ReturnType<typeof usageOf>>): void {
  assert.deepEqual(rows.get("blob/photos"), {
    current: { objects: 3, bytes: 30_101 },
    snapshots: { objects: 1, bytes: 100 },
    softDeleted: { objects: 1, bytes: 7 },
    uncommitted: { objects: 1, bytes: 50_000 },
  });
  assert.deepEqual(rows.get("blob/gone"), { softDeleted: { objects: 1, bytes: 5 } });
  assert.deepEqual(rows.get("queue/work"), { current: { objects: 2, bytes: 5 } });
  assert.equal(rows.get("table/people")?.current?.objects, 1);
  assert.deepEqual(rows.get("file/docs"), {
    current: { objects: 2, bytes: 4_116 },
    snapshots: { objects: 1, bytes: 10 },
  });
  assert.deepEqual(total.uncommitted, { objects: 1, bytes: 50_000 });
  assert.equal(total.softDeleted?.bytes, 12);
}

test("lazuli usage names what takes space, on a running server and on its folder later", async (t) => {
  const location = join(scratchFolder(t), "data");
  const server = new FolderServer(t, location, CONFIG);
  await fill(server);
  check(await usageOf(location));
  const { out } = await lazuli("usage", "--location", location);
  assert.match(out, /^objects +bytes +current +snapshots +soft-deleted +uncommitted +in$/m);
  assert.match(out, /^ +6 +78\.3 KiB +29\.4 KiB .* blob\/devstoreaccount1\/photos$/m);
  assert.match(out, /^On the disk: records .*, large bodies .* garbage or free\.$/m);
  await server.stop();
  check(await usageOf(location));
});

test("lazuli usage has versions, and sums by account", async (t) => {
  const location = join(scratchFolder(t), "data");
  const accounts = [
    { name: ACCOUNT, keys: [KEY], blob: { versioning: true } },
    { name: "second", keys: [KEY] },
  ];
  const server = new FolderServer(t, location, { accounts });
  const text = await server.connectionString();
  for (const account of [ACCOUNT, "second"]) {
    const own = text.replaceAll(ACCOUNT, account);
    const blobs = BlobServiceClient.fromConnectionString(own);
    const { containerClient } = await blobs.createContainer("photos");
    for (const bytes of [1_000, 200, 30]) {
      await containerClient.getBlockBlobClient("a").upload(Buffer.alloc(bytes), bytes);
    }
    const queue = QueueServiceClient.fromConnectionString(own).getQueueClient("work");
    await queue.create();
    await queue.sendMessage("ABCDE");
  }
  const all = async () => {
    const { code, out, err } = await lazuli("usage", "--json", "--location", location);
    assert.equal(code, 0, err);
    const { accounts, total } = JSON.parse(out);
    const [current, versions] = [
      { objects: 2, bytes: 35 },
      { objects: 2, bytes: 1_200 },
    ];
    assert.deepEqual(accounts, [
      { account: ACCOUNT, amounts: { current, versions } },
      { account: "second", amounts: { current } },
    ]);
    assert.deepEqual(total, { current: { objects: 4, bytes: 70 }, versions });
  };
  await all();
  const { out } = await lazuli("usage", "--location", location);
  assert.match(out, /^objects +bytes +current +versions +in$/m);
  assert.match(out, /^ +4 +1\.2 KiB +35 B +1\.2 KiB +account devstoreaccount1$/m);
  await server.stop();
  await all();
  const { err } = await lazuli("usage", "--json", "--location", location);
  assert.match(err, /^\{"progress":\{"percent":\d+,/, "the whole is known");
});

test("lazuli usage tells what the sweeper has not removed yet as garbage", async (t) => {
  const location = join(scratchFolder(t), "data");
  // No sweeper runs here: what has expired or is out of reach stays.
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const data = await openData({ location, memoryBytesMax: null }, clock, assert.fail);
  const put = async (queue: string, text: string, lifeMs: number | null) => {
    const at = { account: ACCOUNT, queue };
    const messages = [{ text, hiddenMs: 0, lifeMs }];
    await createFilledQueue(data, { at, metadata: [], messages });
    return at;
  };
  await put("expired", "1234567", 1_000);
  await put("lasting", "123", null);
  const at = await put("gone", "12345", null);
  await deleteQueue(data, { at, access: OWNER });
  await data.close();
  const { rows, total } = await usageOf(location);
  assert.deepEqual(rows.get("queue/expired"), { garbage: { objects: 1, bytes: 7 } });
  assert.deepEqual(rows.get("queue/lasting"), { current: { objects: 1, bytes: 3 } });
  assert.ok(!rows.has("queue/gone"));
  assert.deepEqual(total.garbage, { objects: 2, bytes: 12 });
  const { out } = await lazuli("usage", "--location", location);
  assert.match(out, /^ +3 +15 B +3 B +12 B +everything$/m);
});

test("lazuli usage shows one place by prefix, level by level", async (t) => {
  const location = join(scratchFolder(t), "data");
  const server = new FolderServer(t, location, CONFIG);
  await fill(server);
  const photos = (await usageOf(location, `blob/${ACCOUNT}/photos`)).rows;
  assert.deepEqual(
    [...photos].map(([name, amounts]) => [name, amounts.current?.bytes ?? 0]),
    [
      ["blob/photos/", 1],
      ["blob/photos/2026/", 30_100],
      ["blob/photos/2025/", 0],
    ],
  );
  assert.deepEqual(photos.get("blob/photos/2025/"), { softDeleted: { objects: 1, bytes: 7 } });
  const of2026 = (await usageOf(location, `blob/${ACCOUNT}/photos/2026`)).rows;
  assert.deepEqual(of2026.get("blob/photos/2026/may/"), { current: { objects: 1, bytes: 30_000 } });
  assert.deepEqual(of2026.get("blob/photos/"), {
    current: { objects: 1, bytes: 100 },
    snapshots: { objects: 1, bytes: 100 },
  });
  assert.equal(of2026.size, 2);
  const docs = (await usageOf(location, `file/${ACCOUNT}/docs`)).rows;
  assert.deepEqual(docs.get("file/docs/in/"), { current: { objects: 1, bytes: 4_096 } });
  const inside = (await usageOf(location, `file/${ACCOUNT}/docs/in`)).rows;
  assert.deepEqual([...inside.keys()], ["file/docs/in/deep/"]);
});

test("directories of a hierarchical container are prefixes, and deleted ones are soft-deleted", async (t) => {
  const location = join(scratchFolder(t), "data");
  const accounts = [{ name: ACCOUNT, keys: [KEY], blob: { hierarchicalNamespace: true } }];
  const server = new FolderServer(t, location, { accounts });
  await (await server.blobs()).setProperties({ deleteRetentionPolicy: { enabled: true, days: 1 } });
  const lake = (await server.dataLake()).getFileSystemClient("lake");
  await lake.create();
  for (const path of ["raw/a/one", "raw/two", "old/b/three"]) {
    const file = lake.getFileClient(path);
    await file.upload(Buffer.alloc(path.length));
  }
  await lake.getDirectoryClient("old").delete(true);
  const { rows } = await usageOf(location, `blob/${ACCOUNT}/lake`);
  assert.deepEqual(rows.get("blob/lake/raw/"), { current: { objects: 2, bytes: 16 } });
  assert.deepEqual(rows.get("blob/lake/old/"), { softDeleted: { objects: 1, bytes: 11 } });
});

test("lazuli usage refuses what names no place, and folders without data", async (t) => {
  const folder = scratchFolder(t);
  const none = await lazuli("usage", "--location", folder);
  assert.equal(none.code, 1);
  assert.match(none.err, /is not a data folder/);
  const wrong = await lazuli("usage", "photos", "--location", folder);
  assert.equal(wrong.code, 2);
  assert.match(wrong.err, /"photos" names no place.*blob\/devstoreaccount1\/photos/);
  const location = join(folder, "data");
  const server = new FolderServer(t, location);
  await server.connectionString();
  const missing = await lazuli("usage", `blob/${ACCOUNT}/nothing`, "--location", location);
  assert.equal(missing.code, 1);
  assert.match(missing.err, /There is no blob\/devstoreaccount1\/nothing/);
});
