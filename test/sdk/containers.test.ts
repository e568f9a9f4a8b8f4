import assert from "node:assert/strict";
import { test } from "node:test";
import type { ContainerClient } from "@azure/storage-blob";
import { BlobSweep } from "../../src/service/blob/sweep.ts";
import { type RawAnswer, rawRequest } from "./raw-request.ts";
import { forThisFile, startServer } from "./server.ts";

const server = await forThisFile(startServer());
let count = 0;

interface Operation {
  readonly name: string;
  readonly method: string;
  readonly query: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly returnsETag: boolean;
  readonly acceptsConditions: boolean;
}

/** All container operations except Create Container, which has its own tests. */
const OPERATIONS: readonly Operation[] = [
  operation("Get Container Properties", "GET", "", true, false),
  operation("Get Container Metadata", "GET", "&comp=metadata", true, false),
  operation("Set Container Metadata", "PUT", "&comp=metadata", true, true),
  operation("Get Container ACL", "GET", "&comp=acl", true, false),
  operation("Set Container ACL", "PUT", "&comp=acl", true, true),
  operation("Delete Container", "DELETE", "", false, true),
  {
    ...operation("Lease Container", "PUT", "&comp=lease", true, true),
    headers: { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" },
  },
  operation("List Blobs", "GET", "&comp=list", false, false),
];

function operation(
  name: string,
  method: string,
  comp: string,
  returnsETag: boolean,
  acceptsConditions: boolean,
): Operation {
  return { name, method, query: `restype=container${comp}`, returnsETag, acceptsConditions };
}

async function run(
  container: ContainerClient,
  { method, query, headers }: Operation,
  conditions: Readonly<Record<string, string>>,
): Promise<RawAnswer> {
  const path = `/${container.containerName}?${query}`;
  return rawRequest(server, { method, path, headers: { ...headers, ...conditions } });
}

/** Makes each of the four condition headers, met and unmet. */
function conditionsFor(etag: string, modified: Date) {
  const before = new Date(modified.getTime() - 60_000).toUTCString();
  const at = modified.toUTCString();
  return {
    hold: [
      { "if-match": etag },
      { "if-match": etag.replaceAll('"', "") },
      { "if-match": "*" },
      { "if-none-match": '"0x8D0000000000000"' },
      { "if-modified-since": before },
      { "if-unmodified-since": at },
    ],
    fail: [
      { "if-match": '"0x8D0000000000000"' },
      { "if-none-match": etag },
      { "if-modified-since": at },
      { "if-unmodified-since": before },
    ],
  };
}

for (const asked of OPERATIONS) {
  const { name, returnsETag, acceptsConditions } = asked;

  test(`${name} returns ${returnsETag ? "the container's" : "no"} ETag`, async () => {
    const container = await server.makeContainer();
    const answer = await run(container, asked, {});
    assert.ok(answer.status < 300, answer.text);
    const etag = answer.headers.get("etag");
    if (!returnsETag) assert.equal(etag, null);
    else {
      const found = await container.getProperties();
      assert.equal(etag, found.etag);
      assert.equal(answer.headers.get("last-modified"), found.lastModified?.toUTCString());
    }
  });

  test(`${name} ${acceptsConditions ? "heeds" : "ignores"} all four conditions`, async () => {
    const kinds = conditionsFor("", new Date());
    for (let at = 0; at < kinds.hold.length; at++) {
      const container = await server.makeContainer();
      const found = await container.getProperties();
      const { hold } = conditionsFor(found.etag as string, found.lastModified as Date);
      const answer = await run(container, asked, hold[at] ?? {});
      assert.ok(answer.status < 300, `${JSON.stringify(hold[at])}: ${answer.text}`);
    }
    for (let at = 0; at < kinds.fail.length; at++) {
      const container = await server.makeContainer();
      const found = await container.getProperties();
      const { fail } = conditionsFor(found.etag as string, found.lastModified as Date);
      const answer = await run(container, asked, fail[at] ?? {});
      if (acceptsConditions) {
        assert.deepEqual([answer.status, answer.code], [412, "ConditionNotMet"]);
        const left = await container.getProperties();
        assert.deepEqual([left.etag, left.leaseState], [found.etag, "available"]);
      } else assert.ok(answer.status < 300, `${JSON.stringify(fail[at])}: ${answer.text}`);
    }
  });

  if (!acceptsConditions) continue;
  test(`${name} refuses conditions that cannot be combined`, async () => {
    const container = await server.makeContainer();
    const date = new Date().toUTCString();
    for (const both of [
      { "if-match": '"0x1"', "if-none-match": '"0x2"' },
      { "if-match": '"0x1"', "if-modified-since": date },
      { "if-modified-since": date, "if-unmodified-since": date },
      { "if-match": '"0x1", "0x2"' },
    ]) {
      const answer = await run(container, asked, both);
      assert.deepEqual(
        [answer.status, answer.code],
        [400, "MultipleConditionHeadersNotSupported"],
        JSON.stringify(both),
      );
    }
    const bad = await run(container, asked, { "if-modified-since": "yesterday" });
    assert.deepEqual([bad.status, bad.code], [400, "InvalidHeaderValue"]);
  });
}

test("Create Container returns an ETag and ignores conditions", async () => {
  for (const conditions of [
    {},
    { "if-match": '"0x1"' },
    { "if-none-match": "*" },
    { "if-modified-since": new Date(0).toUTCString() },
    { "if-unmodified-since": new Date(0).toUTCString() },
  ]) {
    const path = `/container-${++count}?restype=container`;
    const answer = await rawRequest(server, { method: "PUT", path, headers: conditions });
    assert.equal(answer.status, 201);
    assert.match(answer.headers.get("etag") ?? "", /^"0x8[0-9A-F]{14}"$/);
    assert.notEqual(answer.headers.get("last-modified"), null);
  }
});

test("every update of a container gives it an ETag that was never used before", async () => {
  const container = await server.makeContainer();
  const seen = new Set([(await container.getProperties()).etag]);
  for (let round = 0; round < 10; round++) {
    seen.add((await container.setMetadata({ round: String(round) })).etag);
    seen.add((await container.setAccessPolicy()).etag);
  }
  assert.equal(seen.size, 21);
});

test("Last-Modified does not go back when the clock does", async () => {
  const container = await server.makeContainer();
  const before = (await container.getProperties()).lastModified;
  server.clock.advance(-3_600_000);
  try {
    assert.deepEqual((await container.setMetadata({ a: "b" })).lastModified, before);
    assert.deepEqual((await container.setAccessPolicy("blob")).lastModified, before);
  } finally {
    server.clock.advance(3_600_000);
  }
});

test("of 20 updates with one ETag exactly one wins", async () => {
  const container = await server.makeContainer();
  const { etag } = await container.getProperties();
  const path = `/${container.containerName}?restype=container&comp=metadata`;
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, writer) =>
      rawRequest(server, {
        method: "PUT",
        path,
        headers: { "if-match": etag as string, "x-ms-meta-writer": String(writer) },
      }),
    ),
  );
  const winners = answers.filter((answer) => answer.status === 200);
  assert.equal(winners.length, 1);
  assert.equal(answers.filter((answer) => answer.code === "ConditionNotMet").length, 19);
  const found = await container.getProperties();
  assert.equal(found.etag, winners[0]?.headers.get("etag"));
  assert.equal(found.metadata?.writer, String(answers.indexOf(winners[0] as RawAnswer)));
});

test("metadata comes back as it was set, and is replaced as a whole", async () => {
  const container = server.client().getContainerClient(`container-${++count}`);
  await container.create({ metadata: { First: "1", second: "zwei" } });
  // The SDK lower-cases names when it reads them; the service does not.
  const path = `/${container.containerName}?restype=container&comp=metadata`;
  const raw = await rawRequest(server, { path });
  assert.equal(raw.headers.get("x-ms-meta-First"), "1");
  await container.setMetadata({ third: "3" });
  assert.deepEqual((await container.getProperties()).metadata, { third: "3" });
  await container.setMetadata();
  assert.deepEqual((await container.getProperties()).metadata, {});
});

test("HEAD answers like GET, without a body", async () => {
  const container = await server.makeContainer();
  for (const comp of ["", "&comp=metadata", "&comp=acl"]) {
    const path = `/${container.containerName}?restype=container${comp}`;
    const answer = await rawRequest(server, { method: "HEAD", path });
    assert.deepEqual([answer.status, answer.text], [200, ""]);
    assert.equal(answer.headers.get("etag"), (await container.getProperties()).etag);
  }
  const missing = await rawRequest(server, { method: "HEAD", path: "/missing?restype=container" });
  assert.deepEqual([missing.status, missing.code, missing.text], [404, "ContainerNotFound", ""]);
});

test("a deleted container's name is free at once, and a new one inherits nothing", async () => {
  const container = await server.makeContainer();
  await container.setMetadata({ old: "yes" });
  for (let at = 0; at < 300; at++) await container.getBlockBlobClient(`blob${at}`).upload("x", 1);
  await container.getBlockBlobClient("staged").stageBlock("YQ==", "x", 1);
  await container.delete();
  assert.equal(await container.exists(), false);
  await container.create();
  assert.deepEqual((await container.getProperties()).metadata, {});
  const blobs = container.listBlobsFlat({ includeUncommitedBlobs: true });
  for await (const blob of blobs) assert.fail(`${blob.name} is still there`);

  await container.getBlockBlobClient("new").upload("new", 3);
  const sweep = new BlobSweep(server.context);
  while (await sweep.sweep());
  assert.equal((await container.getBlockBlobClient("new").downloadToBuffer()).toString(), "new");
});

test("an operation on a missing container gets 404 ContainerNotFound", async () => {
  for (const { method, query, headers = {}, name } of OPERATIONS) {
    const answer = await rawRequest(server, { method, path: `/not-there?${query}`, headers });
    assert.deepEqual([answer.status, answer.code], [404, "ContainerNotFound"], name);
  }
});

test("creating a container twice gets 409 ContainerAlreadyExists", async () => {
  const container = await server.makeContainer();
  await assert.rejects(container.create(), { statusCode: 409, code: "ContainerAlreadyExists" });
  assert.equal((await container.createIfNotExists()).succeeded, false);
});

test("a name that is too short or too long is refused in the service's words", async () => {
  for (const name of ["ab", "a".repeat(64)]) {
    const created = server.client().createContainer(name);
    await assert.rejects(created, ({ message }) =>
      message.startsWith(
        "The specified resource name length is not within the permissible limits.",
      ),
    );
  }
});

test("an invalid container name gets 400 in every operation", async () => {
  for (const [name, code] of [
    ["ab", "OutOfRangeInput"],
    ["a".repeat(64), "OutOfRangeInput"],
    ["a".repeat(9_000), "OutOfRangeInput"],
    ["Upper", "InvalidResourceName"],
    ["two--dashes", "InvalidResourceName"],
    ["under_score", "InvalidResourceName"],
    ["%F0%9F%98%80%F0%9F%98%80", "InvalidResourceName"],
  ]) {
    for (const { method, query, headers = {} } of [
      ...OPERATIONS,
      operation("Create Container", "PUT", "", true, false),
    ]) {
      const answer = await rawRequest(server, { method, path: `/${name}?${query}`, headers });
      assert.deepEqual([answer.status, answer.code], [400, code], `${method} ${name} ${query}`);
    }
  }
});

test("$root, $logs and $web can be created, other names with $ cannot", async () => {
  const create = (name: string) =>
    rawRequest(server, { method: "PUT", path: `/${name}?restype=container` });
  for (const name of ["$root", "$web", "$logs"]) {
    assert.equal((await create(name)).status, 201, name);
  }
  for (const name of ["$blobchangefeed", "$other"]) {
    const { status, code } = await create(name);
    assert.deepEqual([status, code], [400, "InvalidResourceName"], name);
  }
  const root = server.client().getContainerClient("$root");
  await root.getBlockBlobClient("crossdomain.xml").upload("<x/>", 4);
  const bare = await rawRequest(server, { path: "/crossdomain.xml" });
  assert.deepEqual([bare.status, bare.text], [200, "<x/>"]);
});

test("unsupported container features are refused, not ignored", async () => {
  for (const header of ["x-ms-default-encryption-scope", "x-ms-deny-encryption-scope-override"]) {
    const answer = await rawRequest(server, {
      method: "PUT",
      path: `/container-${++count}?restype=container`,
      headers: { [header]: "true" },
    });
    assert.deepEqual([answer.status, answer.code], [400, "UnsupportedHeader"]);
    assert.match(answer.text, new RegExp(header));
  }
});

test("invalid metadata is refused, and nothing is created", async () => {
  const path = `/container-${++count}?restype=container`;
  for (const [headers, code] of [
    [{ "x-ms-meta-": "no name" }, "EmptyMetadataKey"],
    [{ "x-ms-meta-1a": "x" }, "InvalidMetadata"],
    [{ "x-ms-meta-a-b": "x" }, "InvalidMetadata"],
    [{ "x-ms-meta-a": "x".repeat(8 * 1024) }, "MetadataTooLarge"],
  ] as const) {
    const answer = await rawRequest(server, { method: "PUT", path, headers });
    assert.deepEqual([answer.status, answer.code], [400, code]);
  }
  assert.equal((await rawRequest(server, { path })).status, 404);
});

test("an unknown comp or the wrong verb is refused", async () => {
  const { containerName } = await server.makeContainer();
  const ask = async (method: string, query: string) => {
    const path = `/${containerName}?restype=container${query}`;
    const { status, code } = await rawRequest(server, { method, path });
    return [status, code];
  };
  assert.deepEqual(await ask("GET", "&comp=nonsense"), [400, "InvalidQueryParameterValue"]);
  assert.deepEqual(await ask("DELETE", "&comp=metadata"), [405, "UnsupportedHttpVerb"]);
  assert.deepEqual(await ask("POST", ""), [405, "UnsupportedHttpVerb"]);
  assert.deepEqual(await ask("GET", "&timeout=soon"), [400, "InvalidQueryParameterValue"]);
});
