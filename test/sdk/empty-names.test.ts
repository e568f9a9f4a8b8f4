import assert from "node:assert/strict";
import { test } from "node:test";
import { BLOB_ROUTES } from "../../src/front/rest/blob/route.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { forThisFile, startServer } from "./server.ts";

const server = await forThisFile(startServer());
const MISSING = [400, "MissingRequiredQueryParameter"] as const;

test("operations on a blob without a name are refused, and its container is unchanged", async () => {
  const box = await server.makeContainer();
  await box.getBlockBlobClient("kept").upload("text", 4);
  const { etag } = await box.getProperties();
  const blob = box.getBlockBlobClient("");
  assert.ok(blob.url.endsWith("/"));
  for (const asked of [
    () => blob.delete(),
    () => blob.upload("text", 4),
    () => blob.download(),
    () => blob.getProperties(),
    () => blob.setMetadata({ a: "b" }),
    () => blob.getBlobLeaseClient().acquireLease(15),
    () => blob.syncCopyFromURL(box.getBlobClient("kept").url),
    () => blob.undelete(),
  ]) {
    await refused(asked(), ...MISSING);
  }
  const after = await box.getProperties();
  assert.deepEqual([after.etag, after.leaseState], [etag, "available"]);
  assert.equal((await box.getBlobClient("kept").downloadToBuffer()).toString(), "text");
});

test("a blob without a name does not create a container", async () => {
  const box = server.client().getContainerClient("none-yet");
  await refused(box.getBlockBlobClient("").upload("text", 4), ...MISSING);
  assert.equal(await box.exists(), false);
});

const HEADERS = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };

for (const route of Object.keys(BLOB_ROUTES.container)) {
  const [method = "", comp] = route.split(" ");
  const query = comp === undefined ? "" : `comp=${comp}`;
  test(`${route} is an operation on a container only with restype=container`, async () => {
    const { containerName: name } = await server.makeContainer();
    const ask = async (path: string) => {
      const { status, code } = await rawRequest(server, { method, path, headers: HEADERS });
      return [status, code];
    };
    for (const restype of ["", "&restype="]) {
      assert.deepEqual(await ask(`/${name}/?${query}${restype}`), MISSING);
    }
    for (const restype of ["account", "service", "share"]) {
      const wrong = [400, "InvalidQueryParameterValue"];
      assert.deepEqual(await ask(`/${name}/?${query}&restype=${restype}`), wrong);
    }
    const blob = await ask(`/${name}/blob?${query}&restype=container`);
    assert.deepEqual(blob, [400, "InvalidUri"]);
    // Whatever the result, it is the same with and without a slash.
    const { containerName: other } = await server.makeContainer();
    const plain = await ask(`/${name}?${query}&restype=container`);
    assert.deepEqual(await ask(`/${other}/?${query}&restype=Container`), plain);
  });
}
