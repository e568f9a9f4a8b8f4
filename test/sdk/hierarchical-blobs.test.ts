import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { ContainerClient } from "@azure/storage-blob";
import { DEFAULT_BLOB_SETTINGS } from "../../src/service/blob/context.ts";
import { refused } from "./refused.ts";
import { startServer, type TestServer } from "./server.ts";

/** The Blob protocol on containers with directories. */
describe("blobs in directories", () => {
  let server: TestServer;
  let container: ContainerClient;

  before(async () => {
    server = await startServer({
      blob: { ...DEFAULT_BLOB_SETTINGS, versioning: true, hierarchicalNamespace: true },
    });
  });
  after(() => server.close());

  async function fill(...names: string[]): Promise<void> {
    container = await server.makeContainer();
    for (const name of names) await put(name);
  }

  function put(name: string, metadata: Record<string, string> = {}) {
    const bytes = metadata.hdi_isfolder === "true" ? "" : name;
    return container.getBlockBlobClient(name).upload(bytes, bytes.length, { metadata });
  }

  async function flat(prefix = ""): Promise<string[]> {
    const names: string[] = [];
    for await (const { name, properties } of container.listBlobsFlat({ prefix })) {
      names.push(`${name} ${resourceTypeOf(properties)}`);
    }
    return names;
  }

  async function level(prefix = ""): Promise<string[]> {
    const names: string[] = [];
    for await (const item of container.listBlobsByHierarchy("/", { prefix })) names.push(item.name);
    return names;
  }

  test("the account says that it has directories", async () => {
    const info = await server.client().getAccountInfo();
    assert.equal(info.isHierarchicalNamespaceEnabled, true);
  });

  test("a flat list shows directories as blobs, each before what lies in it", async () => {
    await fill("a/b/c", "a/d", "a-x", "e");
    assert.deepEqual(await flat(), [
      "a directory",
      "a/b directory",
      "a/b/c file",
      "a/d file",
      "a-x file",
      "e file",
    ]);
    assert.deepEqual(await flat("a/b"), ["a/b directory", "a/b/c file"]);
    assert.deepEqual(await flat("a/b/"), ["a/b/c file"]);
    assert.deepEqual(await flat("missing/"), []);
  });

  test("a list by hierarchy shows directories as prefixes; / is the only delimiter", async () => {
    await fill("a/b/c", "a/d", "a-x", "e");
    assert.deepEqual(await level(), ["a/", "a-x", "e"]);
    assert.deepEqual(await level("a/"), ["a/b/", "a/d"]);
    assert.deepEqual(await level("a"), ["a/", "a-x"]);
    const pages = container.listBlobsByHierarchy("-").byPage();
    await refused(pages.next(), 400, "InvalidQueryParameterValue");
  });

  test("pages of any size show the same", async () => {
    await fill("a/b/c", "a/b/d/e", "a/d", "a-x", "e/f", "g");
    const all = await flat();
    for (const maxPageSize of [1, 2, 3, 5]) {
      const names: string[] = [];
      for await (const page of container.listBlobsFlat().byPage({ maxPageSize })) {
        const { blobItems } = page.segment;
        assert.ok(blobItems.length <= maxPageSize);
        names.push(...blobItems.map((item) => `${item.name} ${resourceTypeOf(item.properties)}`));
      }
      assert.deepEqual(names, all);
    }
  });

  test("a directory has properties, and metadata with the mark of one", async () => {
    await fill("a/b");
    const directory = container.getBlockBlobClient("a");
    const found = await directory.getProperties();
    assert.equal(found.contentLength, 0);
    assert.deepEqual(found.metadata, { hdi_isfolder: "true" });
    assert.equal(found._response.parsedHeaders.blobType, "BlockBlob");
    assert.equal(found._response.headers.get("x-ms-resource-type"), "directory");
    await directory.setMetadata({ k: "v" });
    const { metadata } = await directory.getProperties();
    assert.deepEqual(metadata, { k: "v", hdi_isfolder: "true" });
    const file = await container.getBlobClient("a/b").getProperties();
    assert.equal(file._response.headers.get("x-ms-resource-type"), "file");
    assert.deepEqual(await level(), ["a/"]);
  });

  test("an empty blob with the mark of a directory is one", async () => {
    await fill("f");
    await put("d/e", { hdi_isfolder: "true" });
    await put("d/e/f");
    await put("d/e", { hdi_isfolder: "true", k: "v" });
    assert.deepEqual(await flat("d"), ["d directory", "d/e directory", "d/e/f file"]);
    await refused(put("f", { hdi_isfolder: "true" }), 409, "PathConflict");
  });

  test("Delete Blob removes an empty directory only", async () => {
    await fill("a/b");
    const directory = container.getBlobClient("a");
    await refused(directory.delete(), 409, "DirectoryIsNotEmpty");
    const withSnapshots = directory.delete({ deleteSnapshots: "include" });
    await refused(withSnapshots, 400, "OperationNotSupportedOnDirectory");
    await container.deleteBlob("a/b");
    await directory.delete();
    assert.deepEqual(await flat(), []);
    await refused(directory.delete(), 404, "BlobNotFound");
  });

  test("a file replaces no directory, and nothing lies below a file", async () => {
    await fill("a/b");
    await refused(put("a"), 409, "PathConflict");
    await refused(put("a/b/c"), 409, "PathConflict");
    const staged = container.getBlockBlobClient("a").stageBlock("AAAA", "x", 1);
    await refused(staged, 409, "PathConflict");
    await refused(container.getAppendBlobClient("a").create(), 409, "PathConflict");
    const copy = container.getBlobClient("a").syncCopyFromURL(container.getBlobClient("a/b").url);
    await refused(copy, 409, "PathConflict");
  });

  test("all writes create the directories above", async () => {
    await fill("source");
    const { url } = container.getBlobClient("source");
    const blocks = container.getBlockBlobClient("1/blocks");
    await blocks.stageBlock("AAAA", "x", 1);
    await blocks.commitBlockList(["AAAA"]);
    await container.getAppendBlobClient("2/append").create();
    await container.getAppendBlobClient("2/append").appendBlock("x", 1);
    await container.getBlobClient("3/copy").syncCopyFromURL(url);
    await container.getBlockBlobClient("4/from-url").syncUploadFromURL(url);
    await (await container.getBlobClient("5/copy").beginCopyFromURL(url)).pollUntilDone();
    assert.deepEqual(
      (await flat()).filter((line) => line.endsWith(" directory")),
      ["1", "2", "3", "4", "5"].map((name) => `${name} directory`),
    );
  });

  test("page blobs, tags and copies of directories are refused by name", async () => {
    await fill("a/b");
    const code = "FeatureNotYetSupportedForHierarchicalNamespaceAccounts";
    await refused(container.getPageBlobClient("p").create(512), 409, code);
    const blob = container.getBlockBlobClient("a/b");
    await refused(blob.setTags({ k: "v" }), 409, code);
    await refused(blob.getTags(), 409, code);
    await refused(blob.upload("x", 1, { tags: { k: "v" } }), 409, code);
    await refused(blob.getProperties({ conditions: { tagConditions: "k = 'v'" } }), 409, code);
    await refused(container.findBlobsByTags("k = 'v'").byPage().next(), 409, code);
    const directory = container.getBlobClient("a");
    const onDirectory = [400, "OperationNotSupportedOnDirectory"] as const;
    await refused(directory.createSnapshot(), ...onDirectory);
    await refused(directory.setAccessTier("Cool"), ...onDirectory);
    const copied = container.getBlobClient("n").syncCopyFromURL(directory.url);
    await refused(copied, 400, "CannotVerifyCopySource");
    const found = await server.client().findBlobsByTags("k = 'v'").byPage().next();
    assert.deepEqual(found.value.blobs, []);
  });

  test("files have snapshots and leases, but no versions", async () => {
    await fill("a/b");
    const blob = container.getBlockBlobClient("a/b");
    const { snapshot, versionId } = await blob.createSnapshot();
    assert.equal(versionId, undefined);
    await put("a/b");
    assert.ok(snapshot !== undefined);
    const old = await blob.withSnapshot(snapshot).downloadToBuffer();
    assert.equal(old.toString(), "a/b");
    const lease = container.getBlobClient("a").getBlobLeaseClient();
    await lease.acquireLease(15);
    await refused(container.deleteBlob("a"), 412, "LeaseIdMissing");
    await lease.releaseLease();
  });
});

/** The SDK leaves what it does not know out of the types. */
function resourceTypeOf(properties: object): string {
  return String((properties as { ResourceType?: string }).ResourceType);
}
