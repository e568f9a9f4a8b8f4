import type { Target } from "./existing.ts";
import { heldIfSmall } from "./gathered.ts";
import type { DirectoryItem, FileItem, FileTerms, RemovalItem, Written } from "./item.ts";
import { versionHeaders } from "./past.ts";
import { partsOf } from "./put-blob.ts";
import { removeHalfWritten } from "./remove-half-written.ts";
import type { Asked, RestClient } from "./rest-client.ts";
import { TransferError } from "./transfer-error.ts";
import { contentHeaders, metadataHeaders } from "./written-headers.ts";

const PUT = { service: "file", method: "PUT" } as const;
/** A longer descriptor goes through a request of its own. */
const PERMISSION_CHARS_MAX = 8_000;

/**
 * Creates a file, writes its ranges, and sets its times, which the writes have changed. A file that
 * is read-only takes no writes, so it becomes so at the end. One that cannot be written whole is
 * removed: later it would be taken for whole.
 */
export async function putFile(
  client: RestClient,
  given: FileItem,
  target: Target,
): Promise<Written> {
  const path = `${given.share}/${given.path}`;
  const mayBeThere = !target.isNew;
  if (mayBeThere && target.existing !== "overwrite" && (await isThere(client, path))) {
    return "skipped";
  }
  // What cannot be read must not cost the file that is there.
  const item = mayBeThere ? { ...given, body: await heldIfSmall(given.body) } : given;
  const terms = await termsHeaders(client, item.share, item);
  const past = await versionHeaders(client, "file", item);
  const writable = { ...terms, "x-ms-file-attributes": attributesOf(item, (one) => one !== RO) };
  const size = { "x-ms-type": "file", "x-ms-content-length": `${item.body.bytes}` };
  const content = contentHeaders(item, "x-ms-");
  const metadata = metadataHeaders(item.metadata);
  await changeOf(client, path, {
    headers: { ...size, ...content, ...writable, ...past, ...metadata },
  });
  try {
    const isWritten = await putRanges(client, path, item);
    if (isWritten || isReadOnly(item)) {
      const query = { comp: "properties" };
      const headers = { ...content, ...terms, ...past };
      // A request that is repeated finds the file read-only.
      const expects = isReadOnly(item) ? [READ_ONLY_REFUSAL] : [];
      await client.request({ ...PUT, path, query, headers, expects });
    }
  } catch (error) {
    if (error instanceof TransferError) await removeHalfWritten(client, { ...DELETE, path });
    throw error;
  }
  return "written";
}

/** Whether anything was written. */
async function putRanges(client: RestClient, path: string, item: FileItem): Promise<boolean> {
  let isWritten = false;
  for (const [from, until] of item.ranges ?? [[0, item.body.bytes] as const]) {
    for (const { at, body } of partsOf(item.body, from, until)) {
      const range = `bytes=${at}-${at + body.bytes - 1}`;
      const headers = { "x-ms-write": "update", "x-ms-range": range };
      await client.request({ ...PUT, path, query: { comp: "range" }, headers, body });
      isWritten = true;
    }
  }
  return isWritten;
}

const RO = "ReadOnly";
const READ_ONLY_REFUSAL = "ReadOnlyAttribute";
const DELETE = { service: "file", method: "DELETE" } as const;

function attributesOf({ attributes = "None" }: FileTerms, has: (name: string) => boolean): string {
  const names = attributes.split("|").map((name) => name.trim());
  return names.filter(has).join("|") || "None";
}

function isReadOnly(terms: FileTerms): boolean {
  return attributesOf(terms, (name) => name === RO) === RO;
}

/** Replaces or removes a file. One that is read-only there is made writable before. */
async function changeOf(client: RestClient, path: string, asked: Partial<Asked>): Promise<void> {
  const change = { ...PUT, path, ...asked };
  const expects = [...(asked.expects ?? []), READ_ONLY_REFUSAL];
  const { code } = await client.request({ ...change, expects });
  if (code !== READ_ONLY_REFUSAL) return;
  const headers = {
    "x-ms-file-attributes": "None",
    "x-ms-file-creation-time": "preserve",
    "x-ms-file-last-write-time": "preserve",
    "x-ms-file-permission": "preserve",
  };
  await client.request({ ...PUT, path, query: { comp: "properties" }, headers });
  await client.request(change);
}

async function isThere(client: RestClient, path: string): Promise<boolean> {
  const { status } = await client.request({
    service: "file",
    method: "HEAD",
    path,
    expects: [404],
  });
  return status !== 404;
}

/** Creates a directory, or changes one that is there. */
export async function putDirectory(
  client: RestClient,
  item: DirectoryItem,
  target: Target,
): Promise<Written> {
  const path = item.path === "" ? item.share : `${item.share}/${item.path}`;
  const query = { restype: "directory" };
  const terms = await termsHeaders(client, item.share, item);
  const metadata = metadataHeaders(item.metadata);
  if (item.path !== "") {
    const headers = { ...terms, ...metadata };
    const expects = ["ResourceAlreadyExists"];
    const { status } = await client.request({ ...PUT, path, query, headers, expects });
    if (status < 300) return "written";
    if (!target.isNew && target.existing !== "overwrite") return "skipped";
  }
  const change = (comp: string, headers: Record<string, string>) =>
    client.request({ ...PUT, path, query: { ...query, comp }, headers });
  await change("metadata", metadata);
  await setTerms(client, item);
  return "written";
}

/** Removes a file or an empty directory. */
export async function removeItem(client: RestClient, item: RemovalItem): Promise<void> {
  await changeOf(client, `${item.share}/${item.path}`, {
    method: "DELETE",
    ...(item.isDirectory ? { query: { restype: "directory" } } : {}),
    expects: [404],
  });
}

/** Sets the times of a directory again, after its children were written. */
export async function setTerms(client: RestClient, item: DirectoryItem): Promise<void> {
  const terms = await termsHeaders(client, item.share, item);
  const headers = { ...terms, ...(await versionHeaders(client, "file", item)) };
  const path = item.path === "" ? item.share : `${item.share}/${item.path}`;
  const query = { restype: "directory", comp: "properties" };
  await client.request({ ...PUT, path, query, headers });
}

async function termsHeaders(
  client: RestClient,
  share: string,
  { attributes, created, written, changed, permission }: FileTerms,
): Promise<Record<string, string>> {
  return {
    "x-ms-file-attributes": attributes ?? "None",
    "x-ms-file-creation-time": created ?? "now",
    "x-ms-file-last-write-time": written ?? "now",
    ...(changed === undefined ? {} : { "x-ms-file-change-time": changed }),
    ...(await permissionHeaders(client, share, permission)),
  };
}

async function permissionHeaders(
  client: RestClient,
  share: string,
  permission: string | undefined,
): Promise<Record<string, string>> {
  if (permission === undefined) return { "x-ms-file-permission": "inherit" };
  if (permission.length <= PERMISSION_CHARS_MAX) return { "x-ms-file-permission": permission };
  const answer = await client.request({
    ...PUT,
    path: share,
    query: { restype: "share", comp: "filepermission" },
    headers: { "Content-Type": "application/json" },
    body: Buffer.from(JSON.stringify({ permission })),
  });
  return { "x-ms-file-permission-key": answer.header("x-ms-file-permission-key") ?? "" };
}
