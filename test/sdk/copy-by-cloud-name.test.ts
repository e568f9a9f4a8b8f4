import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  BlobSASPermissions,
  BlobServiceClient,
  type ContainerClient,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import {
  type ShareClient,
  ShareServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-file-share";
import { systemClock } from "../../src/base/clock.ts";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { readCommandLine } from "../../src/main/command-line.ts";
import { type Serving, serve } from "../../src/main/serve.ts";
import { readSettings } from "../../src/main/settings.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { ACCOUNT, CREDENTIAL, KEY, startServer } from "./server.ts";

/** A source with the cloud host name of an account of this server is on this server. */

const CLOUD = "core.windows.net";
const SOURCE = `https://${ACCOUNT}.blob.${CLOUD}/box/source`;
const PAGES = `https://${ACCOUNT}.blob.${CLOUD}/box/pages`;
const FILE = `https://${ACCOUNT}.file.${CLOUD}/share/source`;

let serving: Serving;
let box: ContainerClient;
let share: ShareClient;
const failures: string[] = [];

before(async () => {
  // Turns off accounts in host names, which does not affect the cloud's own host names.
  const flags = ["--inMemoryPersistence", "--silent", "--disableProductStyleUrl"];
  const accounts = { AZURITE_ACCOUNTS: `${ACCOUNT}:${KEY};second:${KEY}` };
  const asked = readCommandLine([...ANY_PORTS, ...flags], accounts);
  assert.ok(asked.kind === "start");
  serving = await serve(readSettings(asked.options), {
    clock: systemClock,
    software: "Lazuli/test",
    out: () => {},
    err: (line) => void failures.push(line),
    failStop: (error) => void failures.push(error.message),
    schedule: () => ({ cancel: () => {} }),
  });
  const at = (name: "blob" | "file") => `${serving.origins.get(name)}/${ACCOUNT}`;
  const once = { retryOptions: { maxTries: 1 } };
  box = new BlobServiceClient(at("blob"), CREDENTIAL, once).getContainerClient("box");
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  share = new ShareServiceClient(at("file"), credential, once).getShareClient("share");
  await box.create();
  await share.create();
  await box.getBlockBlobClient("source").upload("hello", 5);
  await box.getPageBlobClient("pages").create(512);
  await box.getPageBlobClient("pages").uploadPages(Buffer.alloc(512, 7), 0, 512);
  const file = share.rootDirectoryClient.getFileClient("source");
  await file.create(5);
  await file.uploadRange("hello", 0, 5);
});

after(async () => {
  await serving.stop();
  assert.deepEqual(failures, []);
});

async function textOf(name: string): Promise<string> {
  return (await box.getBlobClient(name).downloadToBuffer()).toString("utf8");
}

test("Copy Blob and Copy From URL accept it, at its primary and its secondary", async () => {
  const secondary = SOURCE.replace(ACCOUNT, `${ACCOUNT}-secondary`);
  for (const [at, url] of [SOURCE, secondary, SOURCE.replace("https", "http")].entries()) {
    const copy = box.getBlockBlobClient(`copy${at}`);
    const poller = await copy.beginCopyFromURL(url);
    const { copyStatus } = await poller.pollUntilDone();
    assert.equal(copyStatus, "success");
    assert.equal((await copy.getProperties()).copySource, url);
    const sync = box.getBlockBlobClient(`sync${at}`);
    await sync.syncCopyFromURL(url);
    assert.deepEqual([await textOf(`copy${at}`), await textOf(`sync${at}`)], ["hello", "hello"]);
  }
});

test("Put Blob, Put Block, Put Page and Append Block From URL accept it", async () => {
  await box.getBlockBlobClient("put").syncUploadFromURL(SOURCE);
  const blocks = box.getBlockBlobClient("blocks");
  await blocks.stageBlockFromURL("AAAA", SOURCE);
  await blocks.commitBlockList(["AAAA"]);
  const log = box.getAppendBlobClient("log");
  await log.create();
  await log.appendBlockFromURL(SOURCE, 0, 5);
  for (const name of ["put", "blocks", "log"]) assert.equal(await textOf(name), "hello");
  const pages = box.getPageBlobClient("more");
  await pages.create(512);
  await pages.uploadPagesFromURL(PAGES, 0, 0, 512);
  assert.deepEqual(await pages.downloadToBuffer(), Buffer.alloc(512, 7));
});

test("an incremental copy accepts a snapshot of it", async () => {
  const { snapshot } = await box.getPageBlobClient("pages").createSnapshot();
  const copy = box.getPageBlobClient("incremental");
  await copy.startCopyIncremental(`${PAGES}?snapshot=${snapshot}`);
  const { copyStatus } = await copy.getProperties();
  assert.equal(copyStatus, "success");
});

test("Copy File, Put Range From URL and copies between services accept it", async () => {
  const root = share.rootDirectoryClient;
  const copy = root.getFileClient("copy");
  assert.equal((await copy.startCopyFromURL(FILE)).copyStatus, "success");
  const ranges = root.getFileClient("ranges");
  await ranges.create(5);
  await ranges.uploadRangeFromURL(FILE, 0, 0, 5);
  const ofBlob = root.getFileClient("of-blob");
  await ofBlob.startCopyFromURL(SOURCE);
  for (const file of [copy, ranges, ofBlob]) {
    assert.equal((await file.downloadToBuffer()).toString("utf8"), "hello");
  }
  await box.getBlockBlobClient("of-file").syncCopyFromURL(FILE);
  assert.equal(await textOf("of-file"), "hello");
});

test("a rename accepts it", async () => {
  const { origin } = new URL(share.url);
  const service = { url: `${origin}/${ACCOUNT}`, account: ACCOUNT };
  const root = share.rootDirectoryClient;
  await root.getFileClient("old").create(0);
  const answer = await rawRequest(service, {
    method: "PUT",
    path: "/share/new?comp=rename",
    headers: { "x-ms-file-rename-source": `https://${ACCOUNT}.file.${CLOUD}/share/old` },
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(await root.getFileClient("new").exists(), true);
});

test("a source in another account needs a SAS, which is checked under that name", async () => {
  const url = new URL(box.url);
  const second = new BlobServiceClient(
    `${url.origin}/second`,
    new StorageSharedKeyCredential("second", KEY),
    { retryOptions: { maxTries: 1 } },
  ).getContainerClient("box");
  await second.create();
  await second.getBlockBlobClient("source").upload("second", 6);
  const there = `https://second.blob.${CLOUD}/box/source`;
  const copy = box.getBlockBlobClient("of-second");
  await refused(copy.syncCopyFromURL(there), 401, "CannotVerifyCopySource");
  const sas = generateBlobSASQueryParameters(
    {
      containerName: "box",
      blobName: "source",
      permissions: BlobSASPermissions.parse("r"),
      expiresOn: new Date(Date.now() + 3_600_000),
    },
    new StorageSharedKeyCredential("second", KEY),
  );
  await copy.syncCopyFromURL(`${there}?${sas}`);
  assert.equal(await textOf("of-second"), "second");
  const forged = `${there}?${sas}`.replace(/sig=[^&]*/, "sig=AAAA");
  await refused(copy.syncCopyFromURL(forged), 403, "CannotVerifyCopySource");
});

test("unknown accounts, other ports and other services are refused as sources", async () => {
  const copy = box.getBlockBlobClient("none");
  for (const elsewhere of [
    `https://stranger.blob.${CLOUD}/box/source`,
    `https://${ACCOUNT}.blob.${CLOUD}:8443/box/source`,
    `https://${ACCOUNT}.blob.core.windows.example/box/source`,
  ]) {
    await refused(copy.syncCopyFromURL(elsewhere), 403, "CannotVerifyCopySource");
  }
  const queue = `https://${ACCOUNT}.queue.${CLOUD}/box/source`;
  await refused(copy.syncCopyFromURL(queue), 400, "InvalidHeaderValue");
});

test("an origin listed in the configuration is contacted, even with our account in it", async () => {
  const pattern = `https://*.blob.${CLOUD}`;
  for (const [listed, expected] of [
    // Tags of sources elsewhere are refused by name, before the source is contacted.
    [new URL(SOURCE).origin, "UnsupportedHeader"],
    [pattern, "CannotVerifyCopySource"],
  ] as const) {
    const server = await startServer({ copyFrom: [listed] });
    try {
      const { containerName } = await server.makeContainer();
      const headers = {
        "x-ms-blob-type": "BlockBlob",
        "x-ms-copy-source": SOURCE,
        "x-ms-source-if-tags": "a='b'",
      };
      const path = `/${containerName}/copy`;
      const { code } = await rawRequest(server, { method: "PUT", path, headers });
      assert.equal(code, expected);
    } finally {
      await server.close();
    }
  }
});
