import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import {
  AccountSASPermissions,
  type BlobServiceClient,
  type ContainerItem,
  generateAccountSASQueryParameters,
  type ServiceListContainersOptions,
} from "@azure/storage-blob";
import { DAY_MS } from "../../src/base/limits.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { CREDENTIAL, startServer, type TestServer } from "./server.ts";
import { sweep } from "./sweep.ts";

let server: TestServer;
let client: BlobServiceClient;

beforeEach(async () => {
  await server?.close();
  server = await startServer({ blob: { versioning: false, containerRetentionDays: 7 } });
  client = server.client();
});

after(async () => {
  assert.deepEqual(server.failures, []);
  await server.close();
});

async function list(
  options: ServiceListContainersOptions = { includeDeleted: true },
  maxPageSize = 5_000,
): Promise<ContainerItem[]> {
  const items: ContainerItem[] = [];
  for await (const page of client.listContainers(options).byPage({ maxPageSize })) {
    items.push(...page.containerItems);
  }
  return items;
}

async function versionOf(name: string): Promise<string> {
  const found = (await list()).filter((item) => item.name === name && item.deleted);
  return found.at(-1)?.version ?? assert.fail(`${name} was not deleted`);
}

test("a deleted container is gone, is listed on request, and is restored with its contents", async () => {
  const container = client.getContainerClient("box");
  await container.create({ metadata: { colour: "blue" } });
  const blob = container.getBlockBlobClient("blob");
  await blob.upload("text", 4);
  const { snapshot = "" } = await blob.createSnapshot();
  await container.delete();
  await refused(container.getProperties(), 404, "ContainerNotFound");
  await refused(blob.getProperties(), 404, "ContainerNotFound");
  assert.deepEqual(await list({}), []);
  server.clock.advance(DAY_MS);
  await sweep(server);
  const [listed] = await list({ includeDeleted: true, includeMetadata: true });
  assert.deepEqual(
    [listed?.name, listed?.deleted, listed?.metadata],
    ["box", true, { colour: "blue" }],
  );
  assert.equal(listed?.properties.remainingRetentionDays, 6);
  assert.ok(listed?.properties.deletedOn instanceof Date);
  await client.undeleteContainer("box", listed?.version ?? "");
  assert.equal((await blob.downloadToBuffer()).toString(), "text");
  assert.equal((await blob.withSnapshot(snapshot).downloadToBuffer()).toString(), "text");
  assert.deepEqual((await container.getProperties()).metadata, { colour: "blue" });
  assert.deepEqual(
    (await list()).map(({ name, deleted }) => [name, deleted ?? false]),
    [["box", false]],
  );
});

test("a name can be reused at once, which blocks restoring the old container", async () => {
  const container = client.getContainerClient("box");
  await container.create();
  await container.getBlockBlobClient("old").upload("old", 3);
  await container.delete();
  await container.create();
  const version = await versionOf("box");
  await refused(client.undeleteContainer("box", version), 409, "ContainerAlreadyExists");
  await container.delete();
  await client.undeleteContainer("box", version);
  assert.equal((await container.getBlobClient("old").downloadToBuffer()).toString(), "old");
});

test("deleted containers of one name are listed separately, at any page size", async () => {
  for (const name of ["aaa", "bbb", "bbb-c"]) {
    const container = client.getContainerClient(name);
    for (let at = 0; at < 3; at++) {
      await container.create();
      await container.delete();
    }
    if (name !== "bbb") await container.create();
  }
  const expected = [
    "aaa",
    "-aaa",
    "-aaa",
    "-aaa",
    "-bbb",
    "-bbb",
    "-bbb",
    "bbb-c",
    "-bbb-c",
    "-bbb-c",
    "-bbb-c",
  ];
  for (const pageSize of [1, 2, 3, 5_000]) {
    const items = await list({ includeDeleted: true }, pageSize);
    assert.deepEqual(
      items.map(({ name, deleted }) => `${deleted ? "-" : ""}${name}`),
      expected,
    );
    assert.equal(new Set(items.map(({ version }) => version).filter(Boolean)).size, 9);
  }
  assert.equal((await list({ includeDeleted: true, prefix: "bbb-" })).length, 4);
});

test("after its retention a deleted container is gone, and its space is freed", async () => {
  const container = client.getContainerClient("box");
  await container.create();
  await container.getBlockBlobClient("blob").upload("x".repeat(100_000), 100_000);
  await container.delete();
  const version = await versionOf("box");
  server.clock.advance(7 * DAY_MS);
  assert.deepEqual(await list(), []);
  await refused(client.undeleteContainer("box", version), 404, "ContainerNotFound");
  await sweep(server);
  await refused(client.undeleteContainer("box", version), 404, "ContainerNotFound");
});

test("deleting a leased container requires the lease id, and it is restored without the lease", async () => {
  const container = client.getContainerClient("box");
  await container.create();
  const lease = container.getBlobLeaseClient();
  await lease.acquireLease(-1);
  await refused(container.delete(), 412, "LeaseIdMissing");
  await container.delete({ conditions: { leaseId: lease.leaseId } });
  await client.undeleteContainer("box", await versionOf("box"));
  assert.equal((await container.getProperties()).leaseState, "available");
});

test("restoring a container requires the letter w of an account SAS", async () => {
  await client.getContainerClient("box").create();
  await client.getContainerClient("box").delete();
  const headers = {
    "x-ms-deleted-container-name": "box",
    "x-ms-deleted-container-version": await versionOf("box"),
  };
  const ask = async (permissions: string, resourceTypes: string) => {
    const sas = generateAccountSASQueryParameters(
      {
        expiresOn: new Date(Date.now() + 3_600_000),
        permissions: AccountSASPermissions.parse(permissions),
        resourceTypes,
        services: "b",
      },
      CREDENTIAL,
    );
    const path = `/box?restype=container&comp=undelete&${sas}`;
    return (await rawRequest(server, { method: "PUT", path, headers, signed: false })).status;
  };
  assert.equal(await ask("rdxylacuptfi", "c"), 403);
  assert.equal(await ask("w", "o"), 403);
  assert.equal(await ask("w", "c"), 201);
});

test("restoring a container that was not deleted is refused", async () => {
  const container = client.getContainerClient("box");
  await container.create();
  await container.delete();
  const version = await versionOf("box");
  const ask = async (path: string, headers: Record<string, string>) => {
    const asked = { method: "PUT", path: `${path}?restype=container&comp=undelete`, headers };
    const answer = await rawRequest(server, asked);
    return [answer.status, answer.code];
  };
  const names = (name: string, version: string) => ({
    "x-ms-deleted-container-name": name,
    "x-ms-deleted-container-version": version,
  });
  assert.deepEqual(await ask("/box", {}), [400, "MissingRequiredHeader"]);
  const nameOnly = { "x-ms-deleted-container-name": "box" };
  assert.deepEqual(await ask("/box", nameOnly), [400, "MissingRequiredHeader"]);
  assert.deepEqual(await ask("/other", names("box", version)), [400, "InvalidHeaderValue"]);
  assert.deepEqual(await ask("/box", names("box", "garbled")), [404, "ContainerNotFound"]);
  assert.deepEqual(await ask("/nothing", names("nothing", version)), [404, "ContainerNotFound"]);
  assert.deepEqual(await ask("/Box", names("Box", version)), [400, "InvalidResourceName"]);
  assert.deepEqual(await ask("/box", names("box", version.toLowerCase())), [201, ""]);
});
