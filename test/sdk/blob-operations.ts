import type { BlockBlobClient, ContainerClient } from "@azure/storage-blob";
import { type RawAnswer, rawRequest } from "./raw-request.ts";
import type { TestServer } from "./server.ts";

/** A row of the table of blob operations: what each returns and accepts. */
export interface BlobOperation {
  readonly name: string;
  readonly kind: "creates" | "updates" | "deletes" | "reads" | "stages" | "snapshots" | "copies";
  /** The blob type it is for, if not block blobs. */
  readonly on?: "PageBlob" | "AppendBlob";
  readonly returnsEtag: boolean;
  readonly acceptsConditions: boolean;
  readonly method: string;
  readonly query: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const BLOCK_ID = Buffer.from("block").toString("base64");

/** As a copy source: the target blob itself. */
const ITSELF = "itself";

/** All blob operations except Lease Blob, which has its own tests. */
export const BLOB_OPERATIONS: readonly BlobOperation[] = [
  {
    name: "Put Blob",
    kind: "creates",
    returnsEtag: true,
    acceptsConditions: true,
    method: "PUT",
    query: "",
    headers: { "x-ms-blob-type": "BlockBlob", "content-type": "text/plain" },
    body: "text",
  },
  {
    name: "Get Blob",
    kind: "reads",
    returnsEtag: true,
    acceptsConditions: true,
    method: "GET",
    query: "",
  },
  {
    name: "Get Blob Properties",
    kind: "reads",
    returnsEtag: true,
    acceptsConditions: true,
    method: "HEAD",
    query: "",
  },
  {
    name: "Set Blob Properties",
    kind: "updates",
    returnsEtag: true,
    acceptsConditions: true,
    method: "PUT",
    query: "comp=properties",
    headers: { "x-ms-blob-content-type": "text/plain" },
  },
  {
    name: "Get Blob Metadata",
    kind: "reads",
    returnsEtag: true,
    acceptsConditions: true,
    method: "GET",
    query: "comp=metadata",
  },
  {
    name: "Set Blob Metadata",
    kind: "updates",
    returnsEtag: true,
    acceptsConditions: true,
    method: "PUT",
    query: "comp=metadata",
    headers: { "x-ms-meta-colour": "blue" },
  },
  {
    name: "Delete Blob",
    kind: "deletes",
    returnsEtag: false,
    acceptsConditions: true,
    method: "DELETE",
    query: "",
  },
  {
    name: "Put Block",
    kind: "stages",
    returnsEtag: false,
    acceptsConditions: false,
    method: "PUT",
    query: `comp=block&blockid=${encodeURIComponent(BLOCK_ID)}`,
    headers: { "content-type": "text/plain" },
    body: "block",
  },
  {
    name: "Put Block List",
    kind: "creates",
    returnsEtag: true,
    acceptsConditions: true,
    method: "PUT",
    query: "comp=blocklist",
    body: "<BlockList></BlockList>",
  },
  {
    name: "Get Block List",
    kind: "reads",
    returnsEtag: true,
    acceptsConditions: false,
    method: "GET",
    query: "comp=blocklist&blocklisttype=all",
  },
  {
    name: "Put Page",
    kind: "updates",
    on: "PageBlob",
    returnsEtag: true,
    acceptsConditions: true,
    method: "PUT",
    query: "comp=page",
    headers: { "x-ms-page-write": "update", "x-ms-range": "bytes=0-511" },
    body: "x".repeat(512),
  },
  {
    name: "Clear Page",
    kind: "updates",
    on: "PageBlob",
    returnsEtag: true,
    acceptsConditions: true,
    method: "PUT",
    query: "comp=page",
    headers: { "x-ms-page-write": "clear", "x-ms-range": "bytes=0-511" },
  },
  {
    name: "Get Page Ranges",
    kind: "reads",
    on: "PageBlob",
    returnsEtag: true,
    acceptsConditions: true,
    method: "GET",
    query: "comp=pagelist",
  },
  {
    name: "Append Block",
    kind: "updates",
    on: "AppendBlob",
    returnsEtag: true,
    acceptsConditions: true,
    method: "PUT",
    query: "comp=appendblock",
    headers: { "content-type": "text/plain" },
    body: "block",
  },
  {
    name: "Append Blob Seal",
    kind: "updates",
    on: "AppendBlob",
    returnsEtag: true,
    acceptsConditions: true,
    method: "PUT",
    query: "comp=seal",
  },
  {
    name: "Snapshot Blob",
    kind: "snapshots",
    returnsEtag: true,
    acceptsConditions: true,
    method: "PUT",
    query: "comp=snapshot",
  },
  {
    name: "Copy Blob",
    kind: "copies",
    returnsEtag: true,
    acceptsConditions: true,
    method: "PUT",
    query: "",
    headers: { "x-ms-copy-source": ITSELF },
  },
  {
    name: "Copy Blob From URL",
    kind: "copies",
    returnsEtag: true,
    acceptsConditions: true,
    method: "PUT",
    query: "",
    headers: { "x-ms-copy-source": ITSELF, "x-ms-requires-sync": "true" },
  },
];

/** Creates a blob of the type that an operation is for, and returns a generic client for it. */
export async function newBlobFor(
  container: ContainerClient,
  name: string,
  on?: BlobOperation["on"],
): Promise<BlockBlobClient> {
  const blob = container.getBlockBlobClient(name);
  if (on === "PageBlob") await container.getPageBlobClient(name).create(1_024);
  else if (on === "AppendBlob") await container.getAppendBlobClient(name).create();
  else await blob.upload("old", 3);
  return blob;
}

/** Requests an operation on `/container/blob`, with these additional headers. */
export function askFor(
  server: TestServer,
  operation: BlobOperation,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<RawAnswer> {
  const isCopy = operation.headers?.["x-ms-copy-source"] === ITSELF;
  const source: Record<string, string> = isCopy ? { "x-ms-copy-source": server.url + path } : {};
  return rawRequest(server, {
    method: operation.method,
    path: operation.query === "" ? path : `${path}?${operation.query}`,
    headers: { ...operation.headers, ...source, ...headers },
    ...(operation.body !== undefined && { body: operation.body }),
  });
}
