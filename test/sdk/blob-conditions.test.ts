import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import type { BlockBlobClient, ContainerClient } from "@azure/storage-blob";
import { askFor, BLOB_OPERATIONS, type BlobOperation, newBlobFor } from "./blob-operations.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { startServer, type TestServer } from "./server.ts";

type Header = "ifMatch" | "ifNoneMatch" | "ifModifiedSince" | "ifUnmodifiedSince";
type Row = Record<Header, boolean | null>;

const VECTORS: {
  reads_2013_08_15_and_later: (Row & { read: number })[];
  writes: { headers: Header[]; rule: string }[];
} = JSON.parse(
  readFileSync(new URL("../../../test/vectors/conditions.json", import.meta.url), "utf8"),
);

let server: TestServer;
let container: ContainerClient;
let blobs = 0;

before(async () => {
  server = await startServer();
  container = server.client().getContainerClient("conditions");
  await container.create();
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

interface Found {
  readonly blob: BlockBlobClient;
  readonly path: string;
  readonly etag: string;
  readonly modified: Date;
}

async function newBlob(on?: BlobOperation["on"]): Promise<Found> {
  const blob = await newBlobFor(container, `blob-${blobs++}`, on);
  const put = await blob.getProperties();
  const path = `/${container.containerName}/${blob.name}`;
  return { blob, path, etag: put.etag as string, modified: put.lastModified as Date };
}

/** Makes headers that hold or fail as a row says, for the blob as it was found. */
function headersOf(row: Partial<Row>, { etag, modified }: Found): Record<string, string> {
  const headers: Record<string, string> = {};
  const add = (name: string, holds: boolean | null | undefined, ifHolds: string, ifNot: string) => {
    if (holds !== null && holds !== undefined) headers[name] = holds ? ifHolds : ifNot;
  };
  const other = '"0x8D0000000000000"';
  const now = modified.toUTCString();
  const earlier = new Date(modified.getTime() - 10_000).toUTCString();
  add("if-match", row.ifMatch, etag, other);
  add("if-none-match", row.ifNoneMatch, other, etag);
  add("if-modified-since", row.ifModifiedSince, earlier, now);
  add("if-unmodified-since", row.ifUnmodifiedSince, now, earlier);
  return headers;
}

const HEADERS: Header[] = ["ifMatch", "ifNoneMatch", "ifModifiedSince", "ifUnmodifiedSince"];

/** Returns the status of an unmet condition. */
function statusOfUnmet(operation: BlobOperation, header: Header): number {
  const cached = header === "ifNoneMatch" || header === "ifModifiedSince";
  return operation.kind === "reads" && cached ? 304 : 412;
}

for (const operation of BLOB_OPERATIONS) {
  const { name, returnsEtag, acceptsConditions, kind, on } = operation;

  test(`${name} returns ${returnsEtag ? "the" : "no"} ETag`, async () => {
    const found = await newBlob(on);
    const answer = await askFor(server, operation, found.path);
    assert.ok(answer.status < 300, answer.text);
    if (!returnsEtag) return assert.equal(answer.headers.get("etag"), null);
    const etag = (await found.blob.getProperties()).etag;
    assert.equal(answer.headers.get("etag"), etag);
    assert.equal(etag !== found.etag, ["creates", "updates", "copies"].includes(kind));
  });

  for (const header of HEADERS) {
    if (acceptsConditions) {
      test(`${name} succeeds if ${header} holds and fails otherwise`, async () => {
        const found = await newBlob(on);
        const unmet = headersOf({ [header]: false }, found);
        const refusal = await askFor(server, operation, found.path, unmet);
        assert.equal(refusal.status, statusOfUnmet(operation, header));
        const code = kind === "copies" ? "TargetConditionNotMet" : "ConditionNotMet";
        assert.equal(refusal.code, code);
        assert.equal((await found.blob.getProperties()).etag, found.etag);
        const met = headersOf({ [header]: true }, found);
        const answer = await askFor(server, operation, found.path, met);
        assert.ok(answer.status < 300, answer.text);
      });
    } else {
      test(`${name} ignores ${header}`, async () => {
        const found = await newBlob();
        const headers = headersOf({ [header]: false }, found);
        const answer = await askFor(server, operation, found.path, headers);
        assert.ok(answer.status < 300, answer.text);
      });
    }
  }
}

for (const name of ["Get Blob", "Get Blob Properties", "Get Blob Metadata"]) {
  test(`${name} answers all 81 combinations of conditions as in the table`, async () => {
    const found = await newBlob();
    const operation = operationNamed(name);
    for (const { read, ...row } of VECTORS.reads_2013_08_15_and_later) {
      const headers = headersOf(row, found);
      const answer = await askFor(server, operation, found.path, headers);
      assert.equal(answer.status, read, JSON.stringify(row));
    }
  });
}

test("Set Blob Metadata answers all 81 combinations of conditions as in the table", async () => {
  const operation = operationNamed("Set Blob Metadata");
  for (const row of VECTORS.reads_2013_08_15_and_later) {
    const found = await newBlob();
    const answer = await askFor(server, operation, found.path, headersOf(row, found));
    const sent = HEADERS.filter((header) => row[header] !== null);
    const entry = VECTORS.writes.find(
      ({ headers }) => headers.length === sent.length && headers.every((one) => sent.includes(one)),
    );
    const message = JSON.stringify(row);
    if (sent.length > 0 && (entry === undefined || entry.rule.startsWith("400"))) {
      assert.equal(answer.code, "MultipleConditionHeadersNotSupported", message);
      assert.equal(answer.status, 400, message);
      continue;
    }
    const decides = /^only (\w+) decides$/.exec(entry?.rule ?? "")?.[1] ?? sent[0];
    const holds = decides === undefined || row[decides as Header] === true;
    assert.equal(answer.status, holds ? 200 : 412, message);
  }
});

function operationNamed(name: string): BlobOperation {
  const found = BLOB_OPERATIONS.find((operation) => operation.name === name);
  assert.ok(found !== undefined);
  return found;
}

test("a reader whose copy is up to date gets the ETag and no body", async () => {
  const { path, etag } = await newBlob();
  const headers = { "if-none-match": etag };
  const answer = await rawRequest(server, { path, headers });
  assert.equal(answer.status, 304);
  assert.equal(answer.headers.get("etag"), etag);
  assert.equal(answer.text, "");
});

test("ETags are accepted with and without quotes, and reads accept several", async () => {
  const { path, etag } = await newBlob();
  const bare = etag.slice(1, -1);
  for (const value of [etag, bare, `"0x1", ${etag}`, "*"]) {
    const answer = await rawRequest(server, { path, headers: { "if-match": value } });
    assert.equal(answer.status, 200, value);
  }
  const several = { "if-match": `"0x1", ${etag}`, "x-ms-meta-a": "b" };
  const write = await rawRequest(server, {
    method: "PUT",
    path: `${path}?comp=metadata`,
    headers: several,
  });
  assert.equal(write.code, "MultipleConditionHeadersNotSupported");
});

test("an invalid date is refused by name", async () => {
  const { path } = await newBlob();
  for (const name of ["if-modified-since", "if-unmodified-since"]) {
    const answer = await rawRequest(server, { path, headers: { [name]: "yesterday" } });
    assert.equal(answer.code, "InvalidHeaderValue");
    assert.match(answer.text.toLowerCase(), new RegExp(`<headername>${name}</headername>`));
  }
});

test("If-None-Match: * creates, and never replaces", async () => {
  const blob = container.getBlockBlobClient("only-once");
  const conditions = { ifNoneMatch: "*" };
  await blob.upload("first", 5, { conditions });
  await refused(blob.upload("again", 5, { conditions }), 409, "BlobAlreadyExists");
  await refused(blob.commitBlockList([], { conditions }), 409, "BlobAlreadyExists");
  assert.equal((await blob.downloadToBuffer()).toString(), "first");
  await blob.setMetadata({ a: "b" }, { conditions });
  await refused(blob.download(0, undefined, { conditions }), 400, "UnsatisfiableCondition");
});

test("on a missing blob, If-Match fails a creation, and dates are ignored", async () => {
  const missing = (name: string) => container.getBlockBlobClient(`missing-${name}`);
  for (const ifMatch of ["*", '"0x1"']) {
    const conditions = { ifMatch };
    await refused(missing("put").upload("x", 1, { conditions }), 412, "ConditionNotMet");
    await refused(missing("list").commitBlockList([], { conditions }), 412, "ConditionNotMet");
    await refused(missing("read").download(0, undefined, { conditions }), 404, "BlobNotFound");
    await refused(missing("set").setMetadata({}, { conditions }), 404, "BlobNotFound");
  }
  const ifModifiedSince = new Date(Date.now() + 3_600_000);
  await missing("since").upload("x", 1, { conditions: { ifModifiedSince } });
  const ifUnmodifiedSince = new Date(0);
  await missing("until").upload("x", 1, { conditions: { ifUnmodifiedSince } });
  await missing("other").upload("x", 1, { conditions: { ifNoneMatch: '"0x1"' } });
});

test("Lease Blob heeds all four conditions and returns an unchanged ETag", async () => {
  const found = await newBlob();
  const operation = { ...operationNamed("Set Blob Metadata"), query: "comp=lease" };
  const acquire = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "15" };
  for (const header of HEADERS) {
    const unmet = { ...acquire, ...headersOf({ [header]: false }, found) };
    const refusal = await askFor(server, operation, found.path, unmet);
    assert.deepEqual([refusal.status, refusal.code], [412, "ConditionNotMet"]);
    const met = { ...acquire, ...headersOf({ [header]: true }, found) };
    const answer = await askFor(server, operation, found.path, met);
    assert.equal(answer.status, 201);
    assert.equal(answer.headers.get("etag"), found.etag);
    const id = answer.headers.get("x-ms-lease-id") as string;
    await found.blob.getBlobLeaseClient(id).releaseLease();
  }
});

test("optimistic concurrency: of two writers with one ETag, the second gets 412", async () => {
  const { blob } = await newBlob();
  const read = await blob.getProperties();
  const conditions = { ifMatch: read.etag as string };
  const faster = await blob.upload("faster", 6, { conditions });
  await refused(blob.upload("slower", 6, { conditions }), 412, "ConditionNotMet");
  assert.equal((await blob.downloadToBuffer()).toString(), "faster");
  await blob.upload("next", 4, { conditions: { ifMatch: faster.etag as string } });
});

test("with no condition, the last writer wins", async () => {
  const { blob } = await newBlob();
  await blob.upload("one", 3);
  await blob.upload("two", 3);
  assert.equal((await blob.downloadToBuffer()).toString(), "two");
});
