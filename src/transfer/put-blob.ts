import { KIB, MIB } from "../base/limits.ts";
import { element, XML_DECLARATION } from "../front/rest/xml/write-xml.ts";
import { writeControl } from "./access-control.ts";
import type { Target } from "./existing.ts";
import type { BlobItem, BlobRevision, Block, Body, Pairs, Written } from "./item.ts";
import { listAll, nameAt } from "./listed.ts";
import { isoOf, pastHeaders } from "./past.ts";
import type { Asked, Headers, RestClient, Together } from "./rest-client.ts";
import { TransferError } from "./transfer-error.ts";
import { contentHeaders, metadataHeaders } from "./written-headers.ts";

/** The longest body of Put Blob. */
const PUT_BYTES_MAX = 5_000 * MIB;
/** The length of the blocks of a longer blob that has none of its own. */
const BLOCK_BYTES = 100 * MIB;
/** The most bytes of Put Page and Append Block. */
const WRITE_BYTES_MAX = 4 * MIB;
/** Blobs up to this length go together with others. */
const SMALL_BYTES_MAX = 64 * KIB;
/** A body from this length on is not sent to find out that the blob is there already. */
const LOOK_FIRST_BYTES = 64 * KIB;

/** Writes a blob with its other revisions and its uncommitted blocks. */
export async function putBlob(
  client: RestClient,
  item: BlobItem,
  target: Target,
): Promise<Written> {
  const path = `${item.container}/${item.name}`;
  const isLooked = !target.isNew && target.existing !== "overwrite";
  if (isLooked && (await isThere(client, path, item))) return "skipped";
  if (!target.isNew && target.existing === "overwrite") await deleteBlob(client, path);
  const once: Headers = isLooked ? { "If-None-Match": "*" } : {};
  const isOurs = await client.isOurs("blob");
  if (!isOurs) requireOrdinary(item);
  for (const [at, revision] of item.revisions.entries()) {
    const past = isOurs ? pastOf(revision) : {};
    // Put Blob takes the past with the bytes; the others need a request of their own.
    const isAtOnce = isPutWhole(revision);
    const headers = { ...(at === 0 ? once : {}), ...(isAtOnce ? past : {}) };
    if (!(await putRevision(client, path, revision, headers))) return "skipped";
    if (!isAtOnce && "x-lazuli-past" in past) await place(client, path, past);
    if (isOurs || revision.snapshot === undefined) continue;
    await client.request({ ...PUT, path, query: { comp: "snapshot" } });
  }
  const isDataLake = item.revisions.at(-1)?.dataLake === true;
  for (const { id, body } of item.staged ?? []) {
    await (isDataLake ? append(client, path, id, body) : putBlock(client, path, id, body));
  }
  return "written";
}

/** Whether one request writes the whole blob to a server of ours. */
export function isSmallPut({ revisions, staged = [] }: BlobItem, target: Target): boolean {
  const [revision] = revisions;
  if (revision === undefined || revisions.length > 1 || staged.length > 0) return false;
  if (revision.body.bytes > SMALL_BYTES_MAX || !isPutWhole(revision)) return false;
  return target.isNew || target.existing === "overwrite" || isCurrent(revision);
}

function isCurrent({ deleted, isEarlier }: BlobRevision): boolean {
  return deleted === undefined && isEarlier !== true;
}

/** Writes small blobs of one container, in few requests. */
export async function putSmallBlobs(
  client: RestClient,
  container: string,
  items: readonly BlobItem[],
  { isNew, existing }: Target,
): Promise<(Written | TransferError)[]> {
  const replaces = !isNew && existing === "overwrite";
  const once: Headers = isNew || replaces ? {} : { "If-None-Match": "*" };
  const pathOf = ({ name }: BlobItem) => `${container}/${name}`;
  const puts = (item: BlobItem): Asked => {
    const [revision] = item.revisions as readonly [BlobRevision];
    const headers = { ...blobHeaders(revision), ...once, ...pastOf(revision) };
    return { ...PUT, path: pathOf(item), headers, body: revision.body, expects: TAKEN };
  };
  const deletions = replaces ? items.map((item) => deletion(pathOf(item))) : [];
  const deleted = await client.together(container, deletions);
  const free = items.filter((_, at) => !(deleted[at] instanceof TransferError));
  const answers = await client.together(container, free.map(puts));
  const byItem = new Map(free.map((item, at) => [item, answers[at] as Together]));
  return items.map((item, at) => {
    const answer = byItem.get(item) ?? (deleted[at] as Together);
    if (answer instanceof TransferError) return answer;
    return answer.status < 300 ? "written" : "skipped";
  });
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
function pastOf(revision: BlobRevision): Headers {
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

const PUT = { service: "blob", method: "PUT" } as const;

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

function deletion(path: string): Asked {
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
      for (const [from, until] of revision.ranges ?? [[0, bytes] as const]) {
        await putPages(client, path, revision.body, from, until);
      }
      return true;
    }
    case "AppendBlob": {
      if (!(await create(client, path, headers))) return false;
      for (const { body } of appendedParts(revision)) {
        await client.request({ ...PUT, path, query: { comp: "appendblock" }, body });
      }
      if (revision.sealed) await client.request({ ...PUT, path, query: { comp: "seal" } });
      return true;
    }
  }
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
function isPutWhole(revision: BlobRevision): boolean {
  const { type, blocks = [], body, control, expires } = revision;
  const isOne = type === "BlockBlob" && blocks.length === 0 && body.bytes <= PUT_BYTES_MAX;
  const keepsMd5 = revision.contentMd5 !== undefined || revision.computesMd5 === true;
  const isMore = control !== undefined || expires !== undefined || hasLongTags(revision);
  return isOne && keepsMd5 && !isMore;
}

/** The first version with the tier Cold. */
const COLD_SINCE = "2021-12-02";

function blobHeaders(revision: BlobRevision): Record<string, string> {
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
