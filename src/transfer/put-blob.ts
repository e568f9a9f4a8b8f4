import { MIB } from "../base/limits.ts";
import { element, XML_DECLARATION } from "../front/rest/xml/write-xml.ts";
import type { Target } from "./existing.ts";
import type { BlobItem, BlobRevision, Block, Body } from "./item.ts";
import type { Headers, RestClient } from "./rest-client.ts";
import { contentHeaders, metadataHeaders } from "./written-headers.ts";

/** The longest body of Put Blob. */
const PUT_BYTES_MAX = 5_000 * MIB;
/** The length of the blocks of a longer blob that has none of its own. */
const BLOCK_BYTES = 100 * MIB;
/** The most bytes of Put Page and Append Block. */
const WRITE_BYTES_MAX = 4 * MIB;
/** A body from this length on is not sent to find out that the blob is there already. */
const LOOK_FIRST_BYTES = 64 * 1024;

/** Writes a blob with its snapshots. */
export async function putBlob(
  client: RestClient,
  item: BlobItem,
  target: Target,
): Promise<"written" | "skipped"> {
  const path = `${item.container}/${item.name}`;
  const isLooked = !target.isNew && target.existing !== "overwrite";
  if (isLooked && (await isThere(client, path, item))) return "skipped";
  if (!target.isNew && target.existing === "overwrite") await deleteBlob(client, path);
  const once: Headers = isLooked ? { "If-None-Match": "*" } : {};
  for (const [at, revision] of item.revisions.entries()) {
    const isDone = await putRevision(client, path, revision, at === 0 ? once : {});
    if (!isDone) return "skipped";
    if (revision.snapshot === undefined) continue;
    await client.request({ ...PUT, path, query: { comp: "snapshot" } });
  }
  for (const { id, body } of item.staged ?? []) await putBlock(client, path, id, body);
  return "written";
}

const PUT = { service: "blob", method: "PUT" } as const;

async function isThere(client: RestClient, path: string, item: BlobItem): Promise<boolean> {
  const [first, second] = item.revisions;
  const isShort = second === undefined && (first?.body.bytes ?? 0) < LOOK_FIRST_BYTES;
  // A short body is sent on the condition that there is no blob. Blocks would stay staged.
  if (isShort && first?.type === "BlockBlob" && first.blocks === undefined) return false;
  const { status } = await client.request({
    service: "blob",
    method: "HEAD",
    path,
    expects: [404],
  });
  return status !== 404;
}

async function deleteBlob(client: RestClient, path: string): Promise<void> {
  const headers = { "x-ms-delete-snapshots": "include" };
  await client.request({ service: "blob", method: "DELETE", path, headers, expects: [404] });
}

/** False if `once` forbids it, because the blob is there. */
async function putRevision(
  client: RestClient,
  path: string,
  revision: BlobRevision,
  once: Headers,
): Promise<boolean> {
  const headers = { ...blobHeaders(revision), ...once };
  switch (revision.type) {
    case "BlockBlob":
      return putBlockBlob(client, path, revision, headers);
    case "PageBlob": {
      const { bytes } = revision.body;
      const size = {
        "x-ms-blob-content-length": `${bytes}`,
        "x-ms-blob-sequence-number": revision.sequenceNumber ?? "0",
      };
      if (!(await create(client, path, { ...headers, ...size }))) return false;
      for (const [from, until] of revision.ranges ?? [[0, bytes] as const]) {
        await putPages(client, path, revision.body, from, until);
      }
      return true;
    }
    case "AppendBlob": {
      if (!(await create(client, path, headers))) return false;
      for (const part of partsOf(revision.body, 0, revision.body.bytes)) {
        await client.request({ ...PUT, path, query: { comp: "appendblock" }, body: part.body });
      }
      if (revision.sealed) await client.request({ ...PUT, path, query: { comp: "seal" } });
      return true;
    }
  }
}

const TAGS_HEADER_CHARS_MAX = 2_048;

function blobHeaders(revision: BlobRevision): Record<string, string> {
  const tags = revision.tags
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
  return {
    "x-ms-blob-type": revision.type,
    ...contentHeaders(revision, "x-ms-blob-"),
    ...metadataHeaders(revision.metadata),
    ...(tags === "" || tags.length > TAGS_HEADER_CHARS_MAX ? {} : { "x-ms-tags": tags }),
    ...(revision.tier === undefined ? {} : { "x-ms-access-tier": revision.tier }),
  };
}

/** Creates a blob without bytes. */
async function create(client: RestClient, path: string, headers: Headers): Promise<boolean> {
  const { status } = await client.request({ ...PUT, path, headers, expects: TAKEN });
  return status < 300;
}

const TAKEN = ["BlobAlreadyExists"];

async function putBlockBlob(
  client: RestClient,
  path: string,
  revision: BlobRevision,
  headers: Record<string, string>,
): Promise<boolean> {
  const { body, contentMd5 } = revision;
  const blocks = revision.blocks ?? [];
  if (blocks.length === 0 && body.bytes <= PUT_BYTES_MAX) {
    const { status } = await client.request({ ...PUT, path, headers, body, expects: TAKEN });
    // Put Blob computes a digest; a blob without one lost it when its properties were set.
    if (status < 300 && contentMd5 === undefined && revision.computesMd5 !== true) {
      const properties = contentHeaders(revision, "x-ms-blob-");
      await client.request({ ...PUT, path, query: { comp: "properties" }, headers: properties });
    }
    return status < 300;
  }
  const list = blocks.length === 0 ? newBlocks(body.bytes) : blocks;
  let from = 0;
  for (const { id, bytes } of list) {
    await putBlock(client, path, id, part(body, from, bytes));
    from += bytes;
  }
  const ids = list.map(({ id }) => element("Latest", id)).join("");
  const document = Buffer.from(`${XML_DECLARATION}<BlockList>${ids}</BlockList>`);
  const { "x-ms-blob-type": _, ...others } = headers;
  const query = { comp: "blocklist" };
  const request = { ...PUT, path, query, headers: others, body: document, expects: TAKEN };
  return (await client.request(request)).status < 300;
}

function newBlocks(bytes: number): Block[] {
  return Array.from({ length: Math.ceil(bytes / BLOCK_BYTES) }, (_, at) => ({
    id: Buffer.from(`lazuli-${`${at}`.padStart(6, "0")}`).toString("base64"),
    bytes: Math.min(BLOCK_BYTES, bytes - at * BLOCK_BYTES),
  }));
}

async function putBlock(client: RestClient, path: string, id: string, body: Body): Promise<void> {
  await client.request({ ...PUT, path, query: { comp: "block", blockid: id }, body });
}

async function putPages(
  client: RestClient,
  path: string,
  body: Body,
  from: number,
  until: number,
): Promise<void> {
  for (const { at, body: bytes } of partsOf(body, from, until)) {
    const range = `bytes=${at}-${at + bytes.bytes - 1}`;
    const headers = { "x-ms-page-write": "update", "x-ms-range": range };
    await client.request({ ...PUT, path, query: { comp: "page" }, headers, body: bytes });
  }
}

/** The parts of a run of bytes that one request can write. */
export function partsOf(body: Body, from: number, until: number): { at: number; body: Body }[] {
  const parts: { at: number; body: Body }[] = [];
  for (let at = from; at < until; at += WRITE_BYTES_MAX) {
    parts.push({ at, body: part(body, at, Math.min(WRITE_BYTES_MAX, until - at)) });
  }
  return parts;
}

function part(body: Body, from: number, bytes: number): Body {
  return {
    bytes,
    read: (at = 0, count = bytes - at) => body.read(from + at, count),
  };
}
