import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type AppendBlobClient, BlobSASPermissions } from "@azure/storage-blob";
import { LazuliProcess } from "../command/process.ts";
import { testKey } from "../sdk/customer-keys.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { blobsAt, queuesAt, tableAt } from "./fill-account.ts";
import { type Meddle, withProxy } from "./rest-proxy.ts";
import { type ServedUrls, withServer } from "./served.ts";
import { sharesAt } from "./shares.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-live-export-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
let names = 0;
const newPath = () => join(scratch, `path${++names}`);

const clientsAt = (urls: ServedUrls) => ({
  blobs: blobsAt(urls.blob),
  box: blobsAt(urls.blob).getContainerClient("box"),
  queues: queuesAt(urls.queue),
  share: sharesAt(urls.file).getShareClient("docs"),
});

async function fill(urls: ServedUrls): Promise<void> {
  const { blobs, box, queues, share } = clientsAt(urls);
  for (const name of ["a-gone", "b-gone", "box"]) await blobs.createContainer(name);
  await box.getPageBlobClient("pages").create(512);
  for (const name of ["log", "stays"]) {
    await box.getAppendBlobClient(name).create();
    await box.getAppendBlobClient(name).appendBlock("text", 4);
  }
  await appendWithKey(box.getAppendBlobClient("secret"));
  for (const name of ["a-gone", "b-gone", "work"]) await queues.createQueue(name);
  for (const name of ["agone", "bgone", "people"]) await tableAt(urls.table, name).createTable();
  await tableAt(urls.table, "people").createEntity({ partitionKey: "p", rowKey: "r" });
  await share.create();
  const root = share.getDirectoryClient("");
  await root.createSubdirectory("gone");
  for (const name of ["early", "late", "lost", "stays"]) {
    await root.createFile(name, 4);
    await root.getFileClient(name).uploadRange("text", 0, 4);
  }
}

/** The official client sends a key over HTTPS only. */
async function appendWithKey(blob: AppendBlobClient): Promise<void> {
  const permissions = BlobSASPermissions.parse("cawr");
  const url = await blob.generateSasUrl({ permissions, expiresOn: new Date("2099-01-01") });
  const own = { "x-ms-version": "2021-08-06", ...testKey(5).headers };
  const create = { method: "PUT", headers: { ...own, "x-ms-blob-type": "AppendBlob" } };
  assert.equal((await fetch(url, create)).status, 201);
  const append = { method: "PUT", headers: own, body: "text" };
  assert.equal((await fetch(`${url}&comp=appendblock`, append)).status, 201);
}

/** What clients do when the export sends a request, by the beginning of the request. */
function changes(urls: ServedUrls): Readonly<Record<string, () => Promise<unknown>>> {
  const { blobs, box, queues, share } = clientsAt(urls);
  const root = share.getDirectoryClient("");
  const at = `/${ACCOUNT}`;
  return {
    [`GET ${at}/a-gone?restype=container&comp=acl`]: () => blobs.deleteContainer("a-gone"),
    [`GET ${at}/b-gone?restype=container&comp=list`]: () => blobs.deleteContainer("b-gone"),
    [`GET ${at}/box/pages?comp=pagelist`]: () => box.deleteBlob("pages"),
    [`HEAD ${at}/box/log`]: () => box.deleteBlob("log"),
    [`GET ${at}/a-gone?comp=acl`]: () => queues.deleteQueue("a-gone"),
    [`GET ${at}/b-gone/messages?`]: () => queues.deleteQueue("b-gone"),
    [`GET ${at}/agone?comp=acl`]: () => tableAt(urls.table, "agone").deleteTable(),
    [`GET ${at}/bgone()`]: () => tableAt(urls.table, "bgone").deleteTable(),
    [`GET ${at}/docs/gone?restype=directory`]: () => root.deleteSubdirectory("gone"),
    [`HEAD ${at}/docs/lost`]: () => root.deleteFile("lost"),
    [`GET ${at}/docs/early?comp=rangelist`]: () => root.createFile("early", 4),
    [`GET ${at}/docs/late`]: () => root.getFileClient("late").uploadRange("next", 0, 4),
  };
}

/** Executes each change once, before the request for which it waits. */
function meddleWith(waiting: Map<string, () => Promise<unknown>>): Meddle {
  return async (line) => {
    for (const [begin, change] of waiting) {
      const isMeant = line.startsWith(begin) && !(begin.endsWith("/late") && line.includes("comp"));
      if (!isMeant) continue;
      waiting.delete(begin);
      await change();
    }
    return undefined;
  };
}

const LEFT_OUT = [
  "blob box/log",
  "blob box/pages",
  "blob box/secret",
  "container a-gone",
  "directory docs/gone",
  "entities of the table bgone",
  "file docs/early",
  "file docs/late",
  "file docs/lost",
  "messages of the queue b-gone",
  "queue a-gone",
  "table agone",
  "what is in docs/gone",
  "what is in the container b-gone",
];

test("what clients delete or change during an export is named and left out; the rest is whole", async () => {
  const target = newPath();
  await withServer(newPath(), async (urls) => {
    await fill(urls);
    const waiting = new Map(Object.entries(changes(urls)));
    const meddle = meddleWith(waiting);
    const proxied = (
      service: "blob" | "queue" | "table" | "file",
      then: (url: string) => unknown,
    ) => withProxy(urls[service], meddle, async (url) => then(url));
    await proxied("blob", (blob) =>
      proxied("queue", (queue) =>
        proxied("table", (table) =>
          proxied("file", async (file) => {
            const endpoints = Object.entries({
              Blob: blob,
              Queue: queue,
              Table: table,
              File: file,
            });
            const server = [
              `AccountName=${ACCOUNT};AccountKey=${KEY}`,
              ...endpoints.map(([name, url]) => `${name}Endpoint=${url}`),
            ].join(";");
            const args = ["export", target, "--server", server];
            const { code, err } = await new LazuliProcess(args).ended();
            const failed = Array.from(err.matchAll(/^failed: (.*?): /gm), ([, name]) => name);
            assert.deepEqual([code, failed.toSorted()], [3, LEFT_OUT], err);
          }),
        ),
      ),
    );
    assert.deepEqual([...waiting.keys()], []);
  });
  const copy = newPath();
  const done = await new LazuliProcess(["import", target, "--location", copy]).ended();
  assert.equal(done.code, 0, done.err);
  await withServer(copy, async (urls) => {
    const { box, share } = clientsAt(urls);
    const found: string[] = [];
    for await (const { name } of box.listBlobsFlat()) found.push(name);
    for await (const { name } of share.getDirectoryClient("").listFilesAndDirectories()) {
      found.push(name);
    }
    assert.deepEqual(found, ["stays", "stays"]);
    for await (const { rowKey } of tableAt(urls.table, "people").listEntities()) {
      assert.equal(rowKey, "r");
    }
  });
});
