import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { AccountSASPermissions } from "@azure/storage-blob";
import { AccountSASPermissions as QueuePermissions } from "@azure/storage-queue";
import { LazuliProcess } from "../command/process.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { blobsAt, queuesAt } from "./fill-account.ts";
import { describeHistory, fillHistory } from "./history.ts";
import { withServer } from "./served.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-history-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
let names = 0;
const newPath = () => join(scratch, `path${++names}`);

/** An account with versioning. */
const config = join(scratch, "lazuli.json");
const accounts = [{ name: ACCOUNT, keys: [KEY], blob: { versioning: true } }];
writeFileSync(config, JSON.stringify({ accounts }));
const served = ["--config", config];

async function done(...args: string[]): Promise<string> {
  const { code, out, err } = await new LazuliProcess(args).ended();
  assert.equal(code, 0, `${args.join(" ")}: ${err}`);
  return out;
}

const filled = (async () => {
  const location = newPath();
  const expected = await withServer(
    location,
    async (urls) => {
      await fillHistory(urls);
      return describeHistory(urls);
    },
    served,
  );
  return { location, expected };
})();

test("versions, deleted blobs, blocks, ACLs and messages come back with ids and times", async () => {
  const { location, expected } = await filled;
  const target = newPath();
  await done("export", target, "--location", location);
  // The export has changed nothing: no message was received.
  assert.deepEqual(await withServer(location, describeHistory, served), expected);
  const copy = newPath();
  await done("import", target, "--location", copy);
  await withServer(
    copy,
    async (urls) => {
      assert.deepEqual(await describeHistory(urls), expected);
      await requireDeletedBytes(urls.blob);
      await requireHiddenMessages(urls.queue);
    },
    served,
  );
});

/** What was deleted comes back with its bytes. */
async function requireDeletedBytes(url: string): Promise<void> {
  const box = blobsAt(url).getContainerClient("past");
  await box.getBlobClient("doc").undelete();
  const found: string[] = [];
  const all = { includeVersions: true, includeSnapshots: true };
  for await (const { name, snapshot, versionId = "" } of box.listBlobsFlat(all)) {
    if (name !== "doc") continue;
    const any = box.getBlobClient(name);
    const blob = snapshot === undefined ? any.withVersion(versionId) : any.withSnapshot(snapshot);
    found.push(`${snapshot ? "snapshot " : ""}${await blob.downloadToBuffer()}`);
  }
  // A snapshot begins a version, too.
  assert.deepEqual(found.toSorted(), [
    "first",
    "fourth",
    "fourth",
    "second!",
    "second!",
    "snapshot fourth",
    "snapshot second!",
    "third",
  ]);
}

async function requireHiddenMessages(url: string): Promise<void> {
  const jobs = queuesAt(url).getQueueClient("jobs");
  const { approximateMessagesCount } = await jobs.getProperties();
  assert.equal(approximateMessagesCount, 4);
  const got = await jobs.receiveMessages({ numberOfMessages: 32 });
  assert.deepEqual(
    got.receivedMessageItems.map(({ messageText, dequeueCount }) => [messageText, dequeueCount]),
    [
      ["tried three times", 4],
      ["for a month", 1],
      ["never tried", 1],
    ],
  );
}

test("an interrupted import of a history goes on with skip, and a damaged revision is named", async () => {
  const { location, expected } = await filled;
  const target = newPath();
  await done("export", target, "--location", location);
  const copy = newPath();
  await done("import", target, "--location", copy, "--only", "blob:past");
  const rest = "blob:*,queue:*,file:*";
  await done("import", target, "--location", copy, "--existing", "skip", "--only", rest);
  // What is whole stays as it is.
  const twice = ["import", target, "--location", copy, "--existing", "skip"];
  await done(...twice);
  assert.deepEqual(await withServer(copy, describeHistory, served), expected);
  const lines = readFileSync(join(target, "manifest.jsonl"), "utf8").split("\n");
  const doc = lines.map((line) => JSON.parse(line || "{}")).find(({ name }) => name === "doc");
  const [first] = doc.revisions;
  assert.equal(first.isEarlier, true);
  writeFileSync(join(target, first.body.file), "FIRST");
  const { code, err } = await new LazuliProcess([
    "import",
    target,
    "--location",
    newPath(),
  ]).ended();
  assert.equal(code, 3);
  assert.match(err, /^failed: blob past\/doc: blobs\/past\/doc%@.* is damaged: .*SHA-256/m);
});

const QUEUE_ALL = QueuePermissions.parse("rwdlacup");

test("only a key of the account reads deleted blobs and gives a blob a past", async () => {
  const { location } = await filled;
  await withServer(
    location,
    async ({ blob, queue }) => {
      const box = blobsAt(blob).getContainerClient("past");
      const service = blobsAt(blob);
      const all = AccountSASPermissions.parse("rwdxylacuptfi");
      const sas = new URL(service.generateAccountSasUrl(undefined, all, "sco")).search.slice(1);
      const past = JSON.stringify({ as: "current", created: "2001-01-01T00:00:00Z" });
      const version = { "x-ms-version": "2021-08-06" };
      const at = `${box.url}/doc`;
      const status = async (url: string, init: RequestInit = {}) => {
        const headers = { ...version, ...init.headers };
        return (await fetch(url, { ...init, headers })).status;
      };
      const put = { method: "PUT", headers: { "x-lazuli-past": past } };
      assert.equal(await status(`${at}?${sas}`), 200);
      assert.equal(await status(`${at}?lazuli-deleted=true&${sas}`), 403);
      assert.equal(await status(`${at}?comp=lazuli-revision&${sas}`, put), 403);
      assert.equal(await status(`${at}?comp=lazuli-block&blockid=YQ%3D%3D&${sas}`), 403);
      const headers = { ...put.headers, "x-ms-blob-type": "BlockBlob" };
      assert.equal(await status(`${at}2?${sas}`, { method: "PUT", headers, body: "x" }), 403);
      const url = queuesAt(queue).generateAccountSasUrl(undefined, QUEUE_ALL, "sco");
      const jobs = `${queue}/jobs/messages`;
      const signed = `comp=lazuli-messages&${new URL(url).search.slice(1)}`;
      assert.equal(await status(`${jobs}?${signed.replace(/^[^&]*/, "peekonly=true")}`), 200);
      assert.equal(await status(`${jobs}?${signed}`), 403);
      const message = { id: randomUUID(), text: "x", dequeued: 0 };
      const times = { inserted: "2026-01-01T00:00:00Z", visible: "2026-01-01T00:00:00Z" };
      const body = JSON.stringify({ messages: [{ ...message, ...times }] });
      assert.equal(await status(`${jobs}?${signed}`, { method: "POST", body }), 403);
      assert.equal(await box.getBlobClient("doc2").exists(), false);
      assert.equal(await status(`${at}?lazuli-archived=true&${sas}`), 403);
      const gone = "lazuli-version=01DC5A3B7C8D9E0F";
      assert.equal(await status(`${at}?${gone}&${sas}`), 403);
      assert.equal(await status(`${at}?${gone}&${sas}`, put), 400);
      const made = `${blob}/made?restype=container&${sas}`;
      assert.equal(await status(made, put), 403);
      assert.equal(
        await status(`${box.url}?restype=container&${sas}`, { ...put, method: "DELETE" }),
        403,
      );
      assert.equal(await status(made), 404);
    },
    served,
  );
});
