import type { Target } from "./existing.ts";
import type { DirectoryItem, FileItem, FileTerms, RemovalItem, Written } from "./item.ts";
import { versionHeaders } from "./past.ts";
import { partsOf } from "./put-blob.ts";
import type { RestClient } from "./rest-client.ts";
import { contentHeaders, metadataHeaders } from "./written-headers.ts";

const PUT = { service: "file", method: "PUT" } as const;
/** A longer descriptor goes through a request of its own. */
const PERMISSION_CHARS_MAX = 8_000;

/** Creates a file, writes its ranges, and sets its times, which the writes have changed. */
export async function putFile(
  client: RestClient,
  item: FileItem,
  target: Target,
): Promise<Written> {
  const path = `${item.share}/${item.path}`;
  if (!target.isNew && target.existing !== "overwrite" && (await isThere(client, path))) {
    return "skipped";
  }
  const terms = await termsHeaders(client, item.share, item);
  const { bytes } = item.body;
  const content = contentHeaders(item, "x-ms-");
  const size = { "x-ms-type": "file", "x-ms-content-length": `${bytes}` };
  const past = await versionHeaders(client, "file", item);
  const headers = { ...size, ...content, ...terms, ...past, ...metadataHeaders(item.metadata) };
  await client.request({ ...PUT, path, headers });
  let isWritten = false;
  for (const [from, until] of item.ranges ?? [[0, bytes] as const]) {
    for (const { at, body } of partsOf(item.body, from, until)) {
      const range = `bytes=${at}-${at + body.bytes - 1}`;
      const write = { "x-ms-write": "update", "x-ms-range": range };
      const query = { comp: "range" };
      await client.request({ ...PUT, path, query, headers: write, body });
      isWritten = true;
    }
  }
  if (isWritten) {
    const query = { comp: "properties" };
    await client.request({ ...PUT, path, query, headers: { ...content, ...terms, ...past } });
  }
  return "written";
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
  await client.request({
    service: "file",
    method: "DELETE",
    path: `${item.share}/${item.path}`,
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
