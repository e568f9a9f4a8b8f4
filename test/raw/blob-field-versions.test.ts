import { test } from "node:test";
import { BLOB_FIELDS } from "../../src/front/rest/blob/field-versions.ts";
import { testKey } from "../sdk/customer-keys.ts";
import { rawRequest } from "../sdk/raw-request.ts";
import { forThisFile, startServer, type TestServer } from "../sdk/server.ts";
import { TestSource } from "../sdk/test-source.ts";
import { checkFields, type Samples } from "./field-presence.ts";

const KEY = testKey(1);

test("Blob: every field is sent from its version on, and not before", async (t) => {
  const source = await TestSource.start();
  t.after(() => source.close());
  const server = await forThisFile(
    startServer({
      blob: { versioning: true, containerRetentionDays: null },
      copyFrom: [source.origin],
    }),
  );
  const lake = await forThisFile(startLake());
  const client = server.client();
  const box = client.getContainerClient("box");
  await box.create({ access: "blob" });
  await box.getBlobLeaseClient().acquireLease(-1);
  const blob = box.getBlockBlobClient("blob");
  await blob.upload("text", 4, { tags: { a: "b" } });

  const copy = box.getBlockBlobClient("copy");
  const copied = await copy.beginCopyFromURL(blob.url);
  await copied.pollUntilDone();
  await copy.setTags({ a: "b" });
  await copy.setAccessTier("Cool");
  await copy.getBlobLeaseClient().acquireLease(-1);

  const named = box.getBlockBlobClient("named");
  await named.upload("text", 4, { blobHTTPHeaders: { blobContentDisposition: "inline" } });
  const cold = box.getBlockBlobClient("cold");
  await cold.upload("text", 4, { tier: "Archive" });
  await cold.setAccessTier("Hot", { rehydratePriority: "Standard" });
  const log = box.getAppendBlobClient("log");
  await log.create();
  await log.seal();

  const disk = box.getPageBlobClient("disk");
  await disk.create(512);
  const { snapshot = "" } = await disk.createSnapshot();
  const follower = box.getPageBlobClient("follower");
  await follower.startCopyIncremental(disk.withSnapshot(snapshot).url);
  const { destinationSnapshot = "" } = await follower.getProperties();

  await failedCopy(source, box.getBlockBlobClient("failed"));
  const locked = { "x-ms-blob-type": "BlockBlob", ...KEY.headers };
  await rawRequest(server, { method: "PUT", path: "/box/locked", headers: locked, body: "text" });

  const listed = "include=metadata,copy,snapshots,uncommittedblobs";
  const reads = ["blob", "copy", "named", "log", "failed"].map((name) => ({
    path: `/box/${name}`,
  }));
  reads.push({ path: `/box/follower?snapshot=${encodeURIComponent(destinationSnapshot)}` });
  const described = [...reads, { path: "/box/cold" }, { path: "/box/follower" }];
  const put = { "x-ms-blob-type": "BlockBlob" };
  const samples: Samples = {
    all: [
      { method: "PUT", path: "/box/new", headers: put, body: "text" },
      { method: "PUT", path: "/box/locked", headers: { ...put, ...KEY.headers }, body: "text" },
    ],
    getServiceProperties: [{ path: "/?restype=service&comp=properties" }],
    getAccountInformation: [{ path: "/?restype=account&comp=properties" }],
    getContainerProperties: [{ path: "/box?restype=container" }],
    listContainers: [{ path: "/?comp=list" }],
    deleteBlob: [{ method: "DELETE", path: "/box/new" }],
    getBlob: [
      ...reads,
      { path: "/lake/dir/file" },
      { path: "/box/blob", headers: { "x-ms-range": "bytes=0-1" } },
    ],
    getBlobProperties: [...described, { path: "/lake/dir/file" }].map((asked) => ({
      ...asked,
      method: "HEAD",
    })),
    listBlobs: [
      { path: `/box?restype=container&comp=list&${listed}` },
      { path: "/lake?restype=container&comp=list&include=deleted&delimiter=/" },
      { path: "/lake?restype=container&comp=list&include=deleted,permissions" },
    ],
    getPageRanges: [{ path: "/box/disk?comp=pagelist" }],
  };
  await checkFields(BLOB_FIELDS, samples, async (asked) => {
    if (asked.method === "DELETE") await box.getBlockBlobClient("new").upload("text", 4);
    return rawRequest(asked.path.startsWith("/lake") ? lake : server, asked);
  });
});

/** Starts a server with a container that has a directory, a file and a deleted file. */
async function startLake(): Promise<TestServer> {
  const server = await startServer({
    blob: { versioning: false, containerRetentionDays: null, hierarchicalNamespace: true },
  });
  const client = server.client();
  await client.setProperties({ deleteRetentionPolicy: { enabled: true, days: 1 } });
  const lake = client.getContainerClient("lake");
  await lake.create({ access: "blob" });
  await lake.getBlockBlobClient("dir/file").upload("text", 4);
  const gone = lake.getBlockBlobClient("gone");
  await gone.upload("text", 4);
  await gone.delete();
  return server;
}

/** Starts a copy that fails with a description. */
async function failedCopy(
  source: TestSource,
  to: { beginCopyFromURL(url: string, options: object): Promise<Poller> },
): Promise<void> {
  source.hold(0);
  const held = source.held();
  const poller = await to.beginCopyFromURL(`${source.origin}/object`, { intervalInMs: 1 });
  await held;
  source.status = 404;
  source.release();
  await poller.pollUntilDone().catch(() => undefined);
}

interface Poller {
  pollUntilDone(): Promise<unknown>;
}
