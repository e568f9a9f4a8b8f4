import { KIB, MIB } from "../base/limits.ts";
import { element, XML_DECLARATION } from "../front/rest/xml/write-xml.ts";
import { writeControl } from "./access-control.ts";
import type { Target } from "./existing.ts";
import { heldIfSmall } from "./gathered.ts";
import type { BlobItem, BlobRevision, Block, Body, Pairs, Written } from "./item.ts";
import { listAll, nameAt } from "./listed.ts";
import { isoOf, pastHeaders } from "./past.ts";
import { removeHalfWritten } from "./remove-half-written.ts";
import type { Asked, Headers, RestClient } from "./rest-client.ts";
import { TransferError } from "./transfer-error.ts";
import { contentHeaders, metadataHeaders } from "./written-headers.ts";

/** The longest body of Put Blob. */
const PUT_BYTES_MAX = 5_000 * MIB;
/** The length of the blocks of a longer blob that has none of its own. */
const BLOCK_BYTES = 100 * MIB;
/** The most bytes of Put Page and Append Block. */
const WRITE_BYTES_MAX = 4 * MIB;
/** A body from this length on is not sent to find out that the blob is there already. */
const LOOK_FIRST_BYTES = 64 * KIB;

/** Writes a blob with its other revisions and its uncommitted blocks. */
export async function putBlob(
  client: RestClient,
  given: BlobItem,
  target: Target,
): Promise<Written> {
  const path = `${given.container}/${given.name}`;
  const isLooked = !target.isNew && target.existing !== "overwrite";
  if (isLooked && (await isThere(client, path, given))) return "skipped";
  const isOurs = await client.isOurs("blob");
  if (!isOurs) requireOrdinary(given);
  const replaces = !target.isNew && target.existing === "overwrite";
  const item = replaces ? await heldItem(given) : given;
  if (replaces) await deleteBlob(client, path);
  const once: Headers = isLooked ? { "If-None-Match": "*" } : {};
  for (const [at, revision] of item.revisions.entries()) {
    try {
      const isWritten = await addRevision(client, path, revision, at === 0 ? once : {}, isOurs);
      if (!isWritten) return "skipped";
    } catch (error) {
      if (error instanceof TransferError) {
        await removeRevisions(client, path, item.revisions.slice(0, at));
      }
      throw error;
    }
  }
  const isDataLake = item.revisions.at(-1)?.dataLake === true;
  for (const { id, body } of item.staged ?? []) {
    await (isDataLake ? append(client, path, id, body) : putBlock(client, path, id, body));
  }
  return "written";
}

/** A later run would take a blob with a part of its revisions for whole. */
async function removeRevisions(
  client: RestClient,
  path: string,
  revisions: readonly BlobRevision[],
): Promise<void> {
  // A server of ours has snapshots and versions of a name without a blob.
  for (const { snapshot, version, isEarlier } of revisions) {
    const own = { ...deletion(path), headers: {} };
    if (snapshot !== undefined) await removeHalfWritten(client, { ...own, query: { snapshot } });
    else if (isEarlier === true && version !== undefined) {
      await removeHalfWritten(client, { ...own, query: { versionid: version } });
    }
  }
  if (revisions.length > 0) await removeHalfWritten(client, deletion(path));
}

/** False if `once` forbids it, because the blob is there. */
async function addRevision(
  client: RestClient,
  path: string,
  revision: BlobRevision,
  once: Headers,
  isOurs: boolean,
): Promise<boolean> {
  const past = isOurs ? pastOf(revision) : {};
  // Put Blob takes the past with the bytes; the others need a request of their own.
  const isAtOnce = isPutWhole(revision);
  const headers = { ...once, ...(isAtOnce ? past : {}) };
  if (!(await putRevision(client, path, revision, headers))) return false;
  if (!isAtOnce && "x-lazuli-past" in past) await place(client, path, past);
  if (!isOurs && revision.snapshot !== undefined) {
    await client.request({ ...PUT, path, query: { comp: "snapshot" } });
  }
  return true;
}

export function isCurrent({ deleted, isEarlier }: BlobRevision): boolean {
  return deleted === undefined && isEarlier !== true;
}

/** With small bodies in memory: what cannot be read must not cost the blob that is there. */
export async function heldItem(item: BlobItem): Promise<BlobItem> {
  const hold = async (one: BlobRevision) => ({ ...one, body: await heldIfSmall(one.body) });
  return { ...item, revisions: await Promise.all(item.revisions.map(hold)) };
}

/** Clients cannot make what was deleted, nor versions of chosen ids. */
function requireOrdinary({ revisions }: BlobItem): void {
  const others = revisions.filter(({ isEarlier, deleted }) => isEarlier || deleted !== undefined);
  if (others.length === 0) return;
  throw new TransferError(
    `${others.length} earlier versions or deleted blobs of this name can only be written to a ` +
      "server of ours, with a key of the account. Import it there.",
  );
}

/** What clients cannot set, for a server of ours. */
export function pastOf(revision: BlobRevision): Headers {
  const { snapshot, version, isEarlier, etag, deleted, until } = revision;
  const { dataLake, encryptionContext, copy, tierChanged } = revision;
  const as = snapshot !== undefined ? "snapshot" : isEarlier === true ? "version" : "current";
  const [created, modified] = [isoOf(revision.created), isoOf(revision.modified)];
  const past = {
    as,
    id: snapshot ?? version,
    etag,
    created,
    modified,
    deleted,
    until,
    dataLake,
    encryptionContext,
    copy,
    tierChanged,
  };
  // Plain files have no past, and most imports of many small blobs are of plain files.
  if (as === "current" && !version && !etag && !created && !modified && !deleted) return {};
  return pastHeaders(past);
}

async function place(client: RestClient, path: string, headers: Headers): Promise<void> {
  await client.request({ ...PUT, path, query: { comp: "lazuli-revision" }, headers });
}

export const PUT = { service: "blob", method: "PUT" } as const;

async function isThere(client: RestClient, path: string, item: BlobItem): Promise<boolean> {
  const [first, second] = item.revisions;
  const isLive = item.revisions.some(isCurrent);
  if (!isLive && item.revisions.length > 0) return hasRevisions(client, item);
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

/** Whether a name without a blob has other revisions. */
async function hasRevisions(client: RestClient, item: BlobItem): Promise<boolean> {
  const include = "snapshots,versions,deleted";
  const query = { restype: "container", comp: "list", include, prefix: item.name };
  const asked = { service: "blob", method: "GET", path: item.container, query } as const;
  for await (const found of listAll(client, asked, ["Blobs", "Blob"])) {
    // The name itself comes before all that begin with it.
    return nameAt(found) === item.name;
  }
  return false;
}

async function deleteBlob(client: RestClient, path: string): Promise<void> {
  await client.request(deletion(path));
}

export function deletion(path: string): Asked {
  const headers = { "x-ms-delete-snapshots": "include" };
  return { service: "blob", method: "DELETE", path, headers, expects: [404] };
}

/** False if `once` forbids it, because the blob is there. */
async function putRevision(
  client: RestClient,
  path: string,
  revision: BlobRevision,
  once: Headers,
): Promise<boolean> {
  const headers = { ...blobHeaders(revision), ...once };
  if (!(await putBytes(client, path, revision, headers))) return false;
  const { control, expires } = revision;
  if (hasLongTags(revision)) await putTags(client, path, revision.tags);
  if (control !== undefined) await writeControl(client, path, control);
  if (expires !== undefined) {
    const expiry = { "x-ms-expiry-option": "Absolute", "x-ms-expiry-time": expires };
    await client.request({ ...PUT, path, query: { comp: "expiry" }, headers: expiry });
  }
  return true;
}

async function putBytes(
  client: RestClient,
  path: string,
  revision: BlobRevision,
  headers: Record<string, string>,
): Promise<boolean> {
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
      await fill(client, path, async () => {
        for (const [from, until] of revision.ranges ?? [[0, bytes] as const]) {
          await putPages(client, path, revision.body, from, until);
        }
      });
      return true;
    }
    case "AppendBlob": {
      if (!(await create(client, path, headers))) return false;
      await fill(client, path, () => putAppended(client, path, revision));
      if (revision.sealed) await client.request({ ...PUT, path, query: { comp: "seal" } });
      return true;
    }
  }
}

/** Writes the bytes of a blob that is there. If they fail, a later run would take it for whole. */
async function fill(client: RestClient, path: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    if (error instanceof TransferError) await removeHalfWritten(client, deletion(path));
    throw error;
  }
}

/** An append whose answer was lost is sent again: its position keeps it from being done twice. */
async function putAppended(
  client: RestClient,
  path: string,
  revision: BlobRevision,
): Promise<void> {
  let at = 0;
  for (const { body } of appendedParts(revision)) {
    const { code } = await client.request({
      ...PUT,
      path,
      query: { comp: "appendblock" },
      headers: { "x-ms-blob-condition-appendpos": `${at}` },
      body,
      expects: [NOT_AT_END],
    });
    at += body.bytes;
    if (code === NOT_AT_END) await requireBytes(client, path, at);
  }
}

const NOT_AT_END = "AppendPositionConditionNotMet";

async function requireBytes(client: RestClient, path: string, bytes: number): Promise<void> {
  const found = await client.request({ service: "blob", method: "HEAD", path });
  if (found.header("content-length") === `${bytes}`) return;
  throw new TransferError("Somebody else appends to it. Import it again when nobody writes to it.");
}

const TAGS_HEADER_CHARS_MAX = 2_048;

function tagsText({ tags }: BlobRevision): string {
  return tags
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
}

/** Whether tags are too long for a header. */
function hasLongTags(revision: BlobRevision): boolean {
  return tagsText(revision).length > TAGS_HEADER_CHARS_MAX;
}

async function putTags(client: RestClient, path: string, tags: Pairs): Promise<void> {
  const set = tags.map(
    ([name, value]) => `<Tag>${element("Key", name)}${element("Value", value)}</Tag>`,
  );
  const body = Buffer.from(`${XML_DECLARATION}<Tags><TagSet>${set.join("")}</TagSet></Tags>`);
  await client.request({ ...PUT, path, query: { comp: "tags" }, body });
}

/** Whether one Put Blob writes everything, so that its past can come with it. */
export function isPutWhole(revision: BlobRevision): boolean {
  const { type, blocks = [], body, control, expires } = revision;
  const isOne = type === "BlockBlob" && blocks.length === 0 && body.bytes <= PUT_BYTES_MAX;
  const keepsMd5 = revision.contentMd5 !== undefined || revision.computesMd5 === true;
  const isMore = control !== undefined || expires !== undefined || hasLongTags(revision);
  return isOne && keepsMd5 && !isMore;
}

/** The first version with the tier Cold. */
const COLD_SINCE = "2021-12-02";

export function blobHeaders(revision: BlobRevision): Record<string, string> {
  const tags = tagsText(revision);
  return {
    "x-ms-blob-type": revision.type,
    ...contentHeaders(revision, "x-ms-blob-"),
    ...metadataHeaders(revision.metadata),
    ...(tags === "" || tags.length > TAGS_HEADER_CHARS_MAX ? {} : { "x-ms-tags": tags }),
    ...(revision.tier === undefined ? {} : { "x-ms-access-tier": revision.tier }),
    ...(revision.tier === "Cold" ? { "x-ms-version": COLD_SINCE } : {}),
  };
}

/** Creates a blob without bytes. */
async function create(client: RestClient, path: string, headers: Headers): Promise<boolean> {
  const { status } = await client.request({ ...PUT, path, headers, expects: TAKEN });
  return status < 300;
}

export const TAKEN = ["BlobAlreadyExists"];

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

/** What was appended to a file of Data Lake and not flushed, at its position. */
async function append(client: RestClient, path: string, at: string, body: Body): Promise<void> {
  const query = { action: "append", position: `${Number(at)}` };
  await client.request({ service: "blob", method: "PATCH", path, query, body });
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

/** As many blocks as were appended, of about the same length: nobody knows where they began. */
function appendedParts({ body, appended }: BlobRevision): { body: Body }[] {
  const fewest = Math.ceil(body.bytes / WRITE_BYTES_MAX);
  const count = Math.min(Math.max(appended ?? fewest, fewest), body.bytes);
  const startOf = (at: number) => Math.floor((body.bytes * at) / count);
  return Array.from({ length: count }, (_, at) => ({
    body: part(body, startOf(at), startOf(at + 1) - startOf(at)),
  }));
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
