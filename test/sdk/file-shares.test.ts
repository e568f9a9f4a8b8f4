import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type FileServer, startFileServer, sweepFiles } from "./file-server.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

let server: FileServer;

before(async () => {
  server = await startFileServer({ shareRetentionDays: 7 });
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

async function names(prefix: string, includeDeleted = false): Promise<string[]> {
  const found: string[] = [];
  for await (const share of server.client().listShares({ prefix, includeDeleted })) {
    found.push(share.deleted ? `${share.name} deleted` : share.name);
  }
  return found;
}

test("a share is created with quota, tier and metadata, which can be changed", async () => {
  const share = server.client().getShareClient("with-properties");
  await share.create({ quota: 10, accessTier: "Hot", metadata: { color: "red" } });
  const first = await share.getProperties();
  assert.deepEqual(
    [first.quota, first.accessTier, first.metadata, first.protocols?.smbEnabled],
    [10, "Hot", { color: "red" }, true],
  );
  await share.setProperties({ quotaInGB: 20, accessTier: "Cool" });
  await share.setMetadata({ color: "blue" });
  const second = await share.getProperties();
  assert.deepEqual(
    [second.quota, second.accessTier, second.metadata],
    [20, "Cool", { color: "blue" }],
  );
  assert.notEqual(second.etag, first.etag);
  assert.ok(second.accessTierChangeTime instanceof Date);
});

test("a share shows when its tier changed, and for a while the previous tier", async () => {
  const share = server.client().getShareClient("with-tier");
  await share.create();
  const now = () => new Date(Math.floor(server.clock.now() / 1000) * 1000);
  const createdOn = now();
  const found = async () => {
    const { accessTier, accessTierChangeTime, accessTierTransitionState } =
      await share.getProperties();
    const one = [accessTier, accessTierChangeTime, accessTierTransitionState];
    for await (const { properties } of server.client().listShares({ prefix: share.name })) {
      const { accessTierChangeTime: changedOn, accessTierTransitionState: state } = properties;
      assert.deepEqual([properties.accessTier, changedOn, state], one);
    }
    return one;
  };
  assert.deepEqual(await found(), ["TransactionOptimized", createdOn, undefined]);
  server.clock.advance(HOUR_MS);
  await share.setQuota(5);
  assert.deepEqual(await found(), ["TransactionOptimized", createdOn, undefined]);
  await share.setProperties({ accessTier: "Hot" });
  const changedOn = now();
  assert.deepEqual(await found(), ["Hot", changedOn, "pending-from-transactionOptimized"]);
  await share.setProperties({ accessTier: "Cool" });
  assert.deepEqual(await found(), ["Cool", changedOn, "pending-from-hot"]);
  server.clock.advance(HOUR_MS);
  await share.setProperties({ accessTier: "Cool" });
  assert.deepEqual(await found(), ["Cool", changedOn, undefined]);
});

test("invalid quotas and tiers are refused", async () => {
  const create = async (name: string, value: string) => {
    const path = "/no-such-quota?restype=share";
    return (await rawRequest(server, { method: "PUT", path, headers: { [name]: value } })).code;
  };
  for (const quota of ["0", "102401", "many"]) {
    assert.equal(await create("x-ms-share-quota", quota), "InvalidHeaderValue");
  }
  assert.equal(await create("x-ms-access-tier", "Lukewarm"), "InvalidHeaderValue");
  assert.equal(await create("x-ms-enabled-protocols", "NFS"), "InvalidHeaderValue");
  assert.equal(await create("x-ms-root-squash", "RootSquash"), "UnsupportedHeader");
  assert.equal(await create("x-ms-share-provisioned-iops", "500"), "UnsupportedHeader");
  assert.deepEqual(await names("no-such"), []);
});

test("invalid share names are refused, and the refusal gives the rule", async () => {
  const client = server.client();
  const { details } = await refused(client.createShare("ab"), 400, "OutOfRangeInput");
  assert.match(JSON.stringify(details), /a container, queue or share has 3 to 63 lower-case/);
  await refused(client.createShare("Upper"), 400, "InvalidResourceName");
  await refused(client.createShare("two--dashes"), 400, "InvalidResourceName");
});

test("access policies come back as they were set", async () => {
  const share = await server.newShare();
  const accessPolicy = {
    permissions: "rwdl",
    startsOn: new Date("2026-01-01T00:00:00Z"),
    expiresOn: new Date("2036-01-01T00:00:00Z"),
  };
  await share.setAccessPolicy([{ id: "one", accessPolicy }, { id: "bare" }] as never);
  const { signedIdentifiers } = await share.getAccessPolicy();
  assert.deepEqual(signedIdentifiers, [
    { id: "one", accessPolicy },
    { id: "bare", accessPolicy: undefined },
  ]);
  const wrong = [{ id: "one", accessPolicy: { ...accessPolicy, permissions: "rx" } }];
  await refused(share.setAccessPolicy(wrong), 400, "InvalidXmlNodeValue");
});

test("usage is the total length of the files, at most the quota", async () => {
  const share = await server.newShare();
  await share.setQuota(1);
  const used = async () => (await share.getStatistics()).shareUsageBytes;
  const GIB = 1024 ** 3;
  const file = share.rootDirectoryClient.getFileClient("one");
  await file.create(GIB - 1000);
  const other = share.rootDirectoryClient.getFileClient("two");
  await refused(other.create(1001), 413, "ShareSizeLimitReached");
  await refused(other.getProperties(), 404, "ResourceNotFound");
  await other.create(1000);
  assert.equal(await used(), GIB);
  await refused(other.resize(1001), 413, "ShareSizeLimitReached");
  await other.resize(10);
  assert.equal(await used(), GIB - 990);
  await file.create(500);
  assert.equal(await used(), 510);
  await file.delete();
  assert.equal(await used(), 10);
});

test("shares are listed by name, by prefix and in pages", async () => {
  const client = server.client();
  for (const name of ["list-c", "list-a", "list-b", "other"]) {
    await client.createShare(name, { metadata: { name: name.replace("-", "") } });
  }
  assert.deepEqual(await names("list-"), ["list-a", "list-b", "list-c"]);
  const pages = client.listShares({ prefix: "list-", includeMetadata: true });
  const found: string[][] = [];
  for await (const page of pages.byPage({ maxPageSize: 2 })) {
    found.push((page.shareItems ?? []).map(({ name, metadata }) => `${name} ${metadata?.name}`));
  }
  assert.deepEqual(found, [["list-a lista", "list-b listb"], ["list-c listc"]]);
  const { code } = await rawRequest(server, { path: "/?comp=list&marker=none" });
  assert.equal(code, "InvalidQueryParameterValue");
});

test("a deleted share can be restored with its contents until its retention ends", async () => {
  const share = await server.newShare();
  await share.rootDirectoryClient.getFileClient("file").create(5);
  await share.delete();
  await refused(share.getProperties(), 404, "ShareNotFound");
  assert.deepEqual(await names(share.name), []);
  assert.deepEqual(await names(share.name, true), [`${share.name} deleted`]);
  await sweepFiles(server);

  const [deleted] = await deletedOf(share.name);
  assert.equal(deleted?.properties.remainingRetentionDays, 7);
  server.clock.advance(1);
  const [later] = await deletedOf(share.name);
  assert.equal(later?.properties.remainingRetentionDays, 6);
  const version = deleted?.version ?? "";
  await server.client().undeleteShare(share.name, version);
  await share.rootDirectoryClient.getFileClient("file").getProperties();
  await refused(server.client().undeleteShare(share.name, version), 404, "ShareNotFound");

  await share.delete();
  const [again] = await deletedOf(share.name);
  server.clock.advance(7 * DAY_MS);
  await sweepFiles(server);
  assert.deepEqual(await names(share.name, true), []);
  const undelete = server.client().undeleteShare(share.name, again?.version ?? "");
  await refused(undelete, 404, "ShareNotFound");
});

test("deleting a share again succeeds shortly after its deletion, and only then", async () => {
  const share = await server.newShare();
  await share.delete();
  await share.delete();
  assert.equal((await deletedOf(share.name)).length, 1);
  const snapshot = share.withSnapshot("2026-11-16T00:17:23.1234567Z");
  await refused(snapshot.delete(), 404, "ShareNotFound");
  await sweepFiles(server);
  assert.equal((await share.deleteIfExists()).succeeded, true);
  server.clock.advance(30_000);
  await refused(share.delete(), 404, "ShareNotFound");

  await share.create();
  await share.delete();
  const [deleted] = (await deletedOf(share.name)).slice(-1);
  await server.client().undeleteShare(share.name, deleted?.version ?? "");
  await share.getProperties();
  await share.delete();
  await refused(share.getProperties(), 404, "ShareNotFound");
  const { code } = await rawRequest(server, {
    method: "DELETE",
    path: `/${share.name}?restype=share`,
    signed: false,
  });
  assert.notEqual(code, "");
});

test("a deleted share is not restored if its name is in use", async () => {
  const share = await server.newShare();
  await share.delete();
  await share.create();
  const [deleted] = await deletedOf(share.name);
  const undelete = server.client().undeleteShare(share.name, deleted?.version ?? "");
  await refused(undelete, 409, "ShareAlreadyExists");
});

async function deletedOf(name: string) {
  const found = [];
  for await (const share of server.client().listShares({ prefix: name, includeDeleted: true })) {
    if (share.deleted) found.push(share);
  }
  return found;
}

test("service properties have metrics, CORS and SMB settings", async () => {
  const client = server.client();
  const found = await client.getProperties();
  assert.equal(found.protocol?.smb?.multichannel?.enabled, false);
  const rule = {
    allowedOrigins: "https://example.org",
    allowedMethods: "GET",
    allowedHeaders: "*",
    exposedHeaders: "*",
    maxAgeInSeconds: 60,
  };
  await client.setProperties({ cors: [rule] });
  assert.deepEqual((await client.getProperties()).cors, [rule]);
  await client.setProperties({ protocol: { smb: { multichannel: { enabled: false } } } });
  assert.deepEqual((await client.getProperties()).cors, [rule]);
  const on = { protocol: { smb: { multichannel: { enabled: true } } } };
  await refused(client.setProperties(on), 400, "UnsupportedXmlNode");
});
