import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { crc64 } from "../../src/machine/crc64.ts";
import { rawRequest } from "../sdk/raw-request.ts";
import { forThisFile, startServer } from "../sdk/server.ts";

const server = await forThisFile(startServer());
const box = server.client().getContainerClient("box");
await box.create({ access: "blob" });

const BODY = "x".repeat(512);
const LIST = "<BlockList><Latest>AAAA</Latest></BlockList>";
await box.getBlockBlobClient("source").upload(BODY, BODY.length);
await box.getPageBlobClient("pages").create(1024);
await box.getAppendBlobClient("log").create();
await box.getBlockBlobClient("blocks").stageBlock("AAAA", BODY, BODY.length);

interface Write {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Without a body, the bytes come from a URL. */
  readonly body?: string;
}

const PAGE = { "x-ms-page-write": "update", "x-ms-range": "bytes=0-511" };
const BODIES: Readonly<Record<string, Write>> = {
  "Put Block": { path: "/box/blocks?comp=block&blockid=AAAA", body: BODY },
  "Put Block List": { path: "/box/blocks?comp=blocklist", body: LIST },
  "Append Block": { path: "/box/log?comp=appendblock", body: BODY },
  "Put Page": { path: "/box/pages?comp=page", headers: PAGE, body: BODY },
};
const SOURCES: Readonly<Record<string, Write>> = {
  "Put Block From URL": { path: "/box/new?comp=block&blockid=AAAA" },
  "Append Block From URL": { path: "/box/log?comp=appendblock" },
  "Put Page From URL": {
    path: "/box/pages?comp=page",
    headers: { ...PAGE, "x-ms-source-range": "bytes=0-511" },
  },
  "Copy Blob From URL": { path: "/box/copy", headers: { "x-ms-requires-sync": "true" } },
};
const PUT_FROM_URL: Write = { path: "/box/put", headers: { "x-ms-blob-type": "BlockBlob" } };

const OLD = "2018-11-09";
const LATER = "2019-02-02";
const NEWEST_BEFORE = "2026-10-05";
const BOTH = "2026-10-06";
type Sent = "none" | "md5" | "crc64";

/** Returns the digests in the response to a write, after checking that they match the bytes. */
async function answered(version: string, write: Write, sent: Sent): Promise<string> {
  const bytes = Buffer.from(write.body ?? BODY);
  const digests = {
    md5: createHash("md5").update(bytes).digest("base64"),
    crc64: crc64(bytes).toString("base64"),
  };
  const isSource = write.body === undefined;
  const names = isSource
    ? { md5: "x-ms-source-content-md5", crc64: "x-ms-source-content-crc64" }
    : { md5: "content-md5", crc64: "x-ms-content-crc64" };
  const answer = await rawRequest(server, {
    method: "PUT",
    path: write.path,
    version,
    headers: {
      ...write.headers,
      ...(isSource && { "x-ms-copy-source": `${server.url}/box/source` }),
      ...(sent !== "none" && { [names[sent]]: digests[sent] }),
    },
    ...(write.body !== undefined && { body: write.body }),
  });
  assert.ok(answer.status < 300, `${write.path} ${version}: ${answer.text}`);
  const found = {
    md5: answer.headers.get("content-md5"),
    crc64: answer.headers.get("x-ms-content-crc64"),
  };
  for (const name of ["md5", "crc64"] as const) {
    if (found[name] !== null) assert.equal(found[name], digests[name]);
  }
  return Object.entries(found)
    .filter(([, value]) => value !== null)
    .map(([name]) => name)
    .join(" ");
}

for (const [operation, write] of Object.entries(BODIES)) {
  test(`${operation} returns the digests of the requested version`, async () => {
    const expected: [string, Sent, string][] = [
      [OLD, "none", "md5"],
      [OLD, "md5", "md5"],
      [LATER, "none", "crc64"],
      [LATER, "md5", "md5"],
      [LATER, "crc64", "crc64"],
      [NEWEST_BEFORE, "md5", "md5"],
      [BOTH, "none", "crc64"],
      [BOTH, "md5", "md5 crc64"],
      [BOTH, "crc64", "crc64"],
    ];
    for (const [version, sent, digests] of expected) {
      assert.equal(await answered(version, write, sent), digests, `${version} ${sent}`);
      // A committed block is no longer staged.
      await box.getBlockBlobClient("blocks").stageBlock("AAAA", BODY, BODY.length);
    }
  });
}

for (const [operation, write] of Object.entries(SOURCES)) {
  test(`${operation} with a source's MD5 returns both digests since 2026-10-06`, async () => {
    assert.equal(await answered(BOTH, write, "none"), "");
    assert.equal(await answered(NEWEST_BEFORE, write, "md5"), "md5");
    assert.equal(await answered(BOTH, write, "md5"), "md5 crc64");
  });
}

test("Put Blob From URL with a source's MD5 returns both digests since 2026-10-06", async () => {
  assert.equal(await answered(NEWEST_BEFORE, PUT_FROM_URL, "md5"), "md5");
  assert.equal(await answered(BOTH, PUT_FROM_URL, "md5"), "md5 crc64");
});

test("Put Blob always returns an MD5, and a CRC-64 since 2019-02-02", async () => {
  const write = { path: "/box/b", headers: { "x-ms-blob-type": "BlockBlob" }, body: BODY };
  for (const sent of ["none", "md5"] as const) {
    assert.equal(await answered(OLD, write, sent), "md5");
    for (const version of [LATER, NEWEST_BEFORE, BOTH]) {
      assert.equal(await answered(version, write, sent), "md5 crc64");
    }
  }
});
