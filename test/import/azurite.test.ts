import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, truncateSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { LazuliProcess } from "../command/process.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { packFolder } from "../upgrade/fixture.ts";
import { serveFolder } from "../upgrade/folder-server.ts";
import {
  AZURITE_VERSIONS,
  addAzuriteAccount,
  azuriteDocuments,
  loseAzuriteBytes,
  unpackAzuriteFixture,
} from "./azurite-fixture.ts";
import { describeAccount } from "./describe-account.ts";
import { blobsAt, fillAccount } from "./fill-account.ts";
import { withServer } from "./served.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-import-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
let folders = 0;
const newFolder = () => join(scratch, `folder${++folders}`);

const azuriteFolder = (version: string) => unpackAzuriteFixture(version, newFolder());

/** What the same requests make of a server of ours. */
const expected = withServer(newFolder(), async (urls) => {
  await fillAccount(urls);
  const lease = blobsAt(urls.blob).getContainerClient("box").getBlobClient("leased");
  await lease.getBlobLeaseClient().breakLease(0);
  return describeAccount(urls);
});

for (const version of AZURITE_VERSIONS) {
  test(`import brings over everything that Azurite ${version} has, and only reads`, async () => {
    const folder = azuriteFolder(version);
    const before = packFolder(folder);
    const location = newFolder();
    const done = await new LazuliProcess(["import", folder, "--location", location]).ended();
    assert.deepEqual([done.code, done.err.includes("failed")], [0, false], done.err);
    assert.match(done.out, /^Imported the Azurite folder .*: \d+ objects, 0\.0 MiB\.\n$/);
    assert.deepEqual(packFolder(folder), before);
    const found = await withServer(location, describeAccount);
    const all = comparable(await expected);
    assert.deepEqual(comparable(found), version === WITHOUT_TAGS ? withoutTags(all) : all);
    await requireTimes(location);
  });
}

/** This version ignores the tags of an upload. */
const WITHOUT_TAGS = "3.20.1";

function withoutTags<T>(description: T): T {
  return JSON.parse(JSON.stringify(description), (key, value) =>
    key === "tags" && value !== null ? {} : value,
  );
}

const DAY_MS = 86_400_000;

/** Messages become visible, and expire, when they would have done so in Azurite. */
async function requireTimes(location: string): Promise<void> {
  const now = Date.now();
  const server = await serveFolder(location, now);
  try {
    const work = server.queues.getQueueClient("work");
    const visible = async (days: number) => {
      server.clock.advance(now + days * DAY_MS - server.clock.now());
      const { peekedMessageItems } = await work.peekMessages({ numberOfMessages: 32 });
      return peekedMessageItems.map(({ messageText }) => messageText).sort();
    };
    const endless = "<for & ever>";
    assert.deepEqual(await visible(0.5), [endless, "until"]);
    assert.deepEqual(await visible(2.5), [endless, "later", "until"]);
    assert.deepEqual(await visible(3.5), [endless, "later", "taken", "until"]);
    assert.deepEqual(await visible(9.5), [endless, "taken", "until"]);
    assert.deepEqual(await visible(20.5), [endless, "taken"]);
    assert.deepEqual(await visible(30.5), [endless]);
  } finally {
    await server.close();
  }
}

test("blobs of Azurite keep their times and snapshots, and messages their ids and dequeue counts", async () => {
  const folder = azuriteFolder("3.37.0");
  const blobs = azuriteDocuments(folder, "blob", "$BLOBS_COLLECTION$").filter(
    ({ isCommitted, deleted }) => isCommitted !== false && deleted !== true,
  );
  const messages = azuriteDocuments(folder, "queue", "$MESSAGES_COLLECTION$");
  const location = newFolder();
  const done = await new LazuliProcess(["import", folder, "--location", location]).ended();
  assert.equal(done.code, 0, done.err);
  await withServer(location, async ({ blob }) => {
    const found: string[] = [];
    const box = blobsAt(blob).getContainerClient("box");
    for await (const one of box.listBlobsFlat({ includeSnapshots: true })) {
      const { createdOn, lastModified } = one.properties;
      const times = [seconds(createdOn), seconds(lastModified)];
      found.push([one.name, one.snapshot ?? "", ...times].join(" "));
    }
    const expected = blobs.map(({ name, snapshot, properties }) => {
      const { creationTime, lastModified } = properties as Record<string, string>;
      return [name, snapshot ?? "", seconds(creationTime), seconds(lastModified)].join(" ");
    });
    assert.deepEqual(found.toSorted(), expected.toSorted());
  });
  // Some are hidden for days.
  const exported = newFolder();
  assert.equal(
    (await new LazuliProcess(["export", exported, "--location", location]).ended()).code,
    0,
  );
  const lines = readFileSync(join(exported, "manifest.jsonl"), "utf8").trimEnd().split("\n");
  const moved = lines
    .flatMap((line) => JSON.parse(line).messages ?? [])
    .map(({ id, dequeued }: { id: string; dequeued: number }) => `${id} ${dequeued}`);
  const counted = messages.map(({ messageId, dequeueCount }) => `${messageId} ${dequeueCount}`);
  assert.deepEqual(moved.toSorted(), counted.toSorted());
  assert.ok(
    counted.some((one) => one.endsWith(" 1")),
    `${counted}`,
  );
});

/** Lists tell times to the second. */
function seconds(time: Date | string | undefined): number {
  return Math.floor(new Date(time ?? Number.NaN).getTime() / 1_000);
}

test("a folder of Azurite that is cut short is refused in one line, and leaves nothing", async () => {
  const folder = azuriteFolder("3.37.0");
  truncateSync(join(folder, "__azurite_db_blob__.json"), 9_000);
  const location = newFolder();
  const done = await new LazuliProcess(["import", folder, "--location", location]).ended();
  assert.equal(done.code, 1);
  assert.match(done.err, /^\S+__azurite_db_blob__\.json is cut short\. Stop Azurite, .*\n$/m);
  const names = await withServer(location, async ({ blob }) => {
    const found: string[] = [];
    for await (const { name } of blobsAt(blob).listContainers()) found.push(name);
    return found;
  });
  assert.deepEqual(names, []);
});

test("what the target has already is refused, left alone or replaced", async () => {
  const folder = azuriteFolder("3.28.0");
  const location = newFolder();
  const run = (...flags: string[]) =>
    new LazuliProcess(["import", folder, "--location", location, "--json", ...flags]).ended();
  assert.equal((await run()).code, 0);
  const before = comparable(await withServer(location, describeAccount));
  const refused = await run();
  assert.equal(refused.code, 1);
  assert.match(refused.err, /^The container box exists already\. Choose with --existing: .*\n$/m);
  const skipped = await run("--existing", "skip");
  const { result } = JSON.parse(skipped.out);
  assert.deepEqual([skipped.code, result.failed], [0, 0], skipped.err);
  assert.deepEqual(comparable(await withServer(location, describeAccount)), before);
  assert.equal((await run("--existing", "overwrite")).code, 0);
  assert.deepEqual(comparable(await withServer(location, describeAccount)), before);
});

test("every account of a folder is imported, also when an object of another one fails", async () => {
  const folder = azuriteFolder("3.37.0");
  addAzuriteAccount(folder, "seconduser");
  loseAzuriteBytes(folder, "a/b");
  const location = newFolder();
  const done = await new LazuliProcess(["import", folder, "--location", location]).ended();
  assert.equal(done.code, 3);
  assert.match(done.err, /^failed: blob box\/a\/b: \S+lost is missing or too short\./m);
  assert.equal(done.err.match(/^failed:/gm)?.length, 1, done.err);
  const [first = 0, second = 0] = Array.from(done.out.matchAll(/: (\d+) objects/g), ([, count]) =>
    Number(count),
  );
  assert.deepEqual([first > 20, second], [true, first + 1], done.out);
  const accounts = [ACCOUNT, "seconduser"].map((name) => `${name}:${KEY}`).join(";");
  const names = await withServer(
    location,
    async ({ blob }) => {
      const both = [ACCOUNT, "seconduser"].map(async (name) => {
        const key = new StorageSharedKeyCredential(name, KEY);
        const service = new BlobServiceClient(blob.replace(ACCOUNT, name), key);
        const found: string[] = [];
        for await (const one of service.getContainerClient("box").listBlobsFlat()) {
          found.push(one.name);
        }
        return found;
      });
      return Promise.all(both);
    },
    [],
    { AZURITE_ACCOUNTS: accounts },
  );
  assert.deepEqual(
    names[0],
    names[1]?.filter((name) => name !== "a/b"),
  );
});

test("an import that is refused leaves nothing of any account, nor its settings", async () => {
  const folder = azuriteFolder("3.37.0");
  const location = newFolder();
  const later = ["--account", "seconduser"];
  addAzuriteAccount(folder, "seconduser");
  assert.equal(
    (await new LazuliProcess(["import", folder, "--location", location, ...later]).ended()).code,
    0,
  );
  const cors = [
    {
      allowedOrigins: "https://mine.example",
      allowedMethods: "GET",
      allowedHeaders: "",
      exposedHeaders: "",
      maxAgeInSeconds: 1,
    },
  ];
  await withServer(location, ({ blob }) => blobsAt(blob).setProperties({ cors }));
  const refused = await new LazuliProcess(["import", folder, "--location", location]).ended();
  assert.equal(refused.code, 1);
  assert.match(refused.err, /^The container box exists already\./m);
  await withServer(location, async ({ blob }) => {
    for await (const { name } of blobsAt(blob).listContainers()) assert.fail(name);
    assert.equal(
      (await blobsAt(blob).getProperties()).cors?.[0]?.allowedOrigins,
      "https://mine.example",
    );
  });
});

test("patterns choose containers, queues and tables", async () => {
  const location = newFolder();
  const only = "blob:em*,table:p?ople";
  const args = ["import", azuriteFolder("3.28.0"), "--location", location, "--only", only];
  assert.equal((await new LazuliProcess(args).ended()).code, 0);
  const { blobs, queues, tables } = await withServer(location, describeAccount);
  const names = (list: unknown) => (list as { name: string }[]).map(({ name }) => name);
  assert.deepEqual(names((blobs as { containers: unknown }).containers), ["empty"]);
  assert.deepEqual([queues, names(tables)], [[], ["people"]]);
});

test("bad input is refused in one line", async () => {
  const run = async (...args: string[]) => {
    const { code, err } = await new LazuliProcess(["import", ...args]).ended();
    assert.equal(err.trimEnd().split("\n").length, 1, err);
    return `${code}: ${err}`;
  };
  assert.match(await run(), /^2: `lazuli import` needs a source: lazuli import <source>\.\n$/);
  assert.match(await run("/nowhere/at/all"), /^1: \S+ does not exist\. Check the path\.\n$/);
  const folder = azuriteFolder("3.37.0");
  assert.match(await run(folder, "--only", "blobs"), /^1: --only is a list like blob:logs-\*/);
  assert.match(await run(folder, "--account", "x"), /^2: .* It has: devstoreaccount1\.\n$/);
  assert.match(await run(folder, "--existing", "x"), /^2: --existing is fail, skip, overwrite/);
  const secret = "AccountName=a;AccountKey=c2VjcmV0";
  assert.ok(!(await run(folder, "--server", secret)).includes("c2VjcmV0"));
});

/** Without undefined fields. An imported blob never had the lease that was broken. */
function comparable<T>(description: T): T {
  return JSON.parse(JSON.stringify(description), (key, value) =>
    key === "leaseState" && value === "broken" ? "available" : value,
  );
}
