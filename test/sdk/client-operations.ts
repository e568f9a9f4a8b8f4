import assert from "node:assert/strict";
import {
  type BlobClient,
  type BlobRequestConditions,
  BlobServiceClient,
  type ContainerClient,
  Pipeline,
  type RequestPolicyFactory,
} from "@azure/storage-blob";
import { BLOB_OPERATIONS, type BlobOperation } from "./blob-operations.ts";
import { CREDENTIAL, type TestServer } from "./server.ts";
import type { TestSource } from "./test-source.ts";

type Ask<Client> = (client: Client, conditions: BlobRequestConditions) => Promise<object>;

/** A row of the table of blob operations, requested with the SDK. */
export interface ClientOperation extends BlobOperation {
  readonly ask: Ask<BlobClient>;
}

/** How to request each operation. Copies go onto their own source. */
const ASKS: Readonly<Record<string, Ask<BlobClient>>> = {
  "Put Blob": (blob, conditions) => blob.getBlockBlobClient().upload("text", 4, { conditions }),
  "Get Blob": download,
  "Get Blob Properties": (blob, conditions) => blob.getProperties({ conditions }),
  "Set Blob Properties": (blob, conditions) =>
    blob.setHTTPHeaders({ blobContentType: "text/plain" }, { conditions }),
  "Set Blob Metadata": (blob, conditions) => blob.setMetadata({ colour: "blue" }, { conditions }),
  "Delete Blob": (blob, conditions) => blob.delete({ conditions }),
  "Put Block": (blob, conditions) =>
    blob.getBlockBlobClient().stageBlock("AAAA", "block", 5, { conditions }),
  "Put Block List": (blob, conditions) =>
    blob.getBlockBlobClient().commitBlockList([], { conditions }),
  "Get Block List": (blob, conditions) =>
    blob.getBlockBlobClient().getBlockList("all", { conditions }),
  "Put Page": (blob, conditions) =>
    blob.getPageBlobClient().uploadPages("x".repeat(512), 0, 512, { conditions }),
  "Clear Page": (blob, conditions) => blob.getPageBlobClient().clearPages(0, 512, { conditions }),
  "Get Page Ranges": (blob, conditions) =>
    blob.getPageBlobClient().getPageRanges(0, 1_024, { conditions }),
  "Append Block": (blob, conditions) =>
    blob.getAppendBlobClient().appendBlock("block", 5, { conditions }),
  "Append Blob Seal": (blob, conditions) => blob.getAppendBlobClient().seal({ conditions }),
  "Snapshot Blob": (blob, conditions) => blob.createSnapshot({ conditions }),
  "Copy Blob": async (blob, conditions) =>
    (await blob.beginCopyFromURL(blob.url, { conditions })).pollUntilDone(),
  "Copy Blob From URL": (blob, conditions) => blob.syncCopyFromURL(blob.url, { conditions }),
};

/** All blob operations of the SDK, which reads metadata with the properties only. */
export const CLIENT_OPERATIONS: readonly ClientOperation[] = BLOB_OPERATIONS.filter(
  ({ name }) => name !== "Get Blob Metadata",
).map((operation) => {
  const ask = ASKS[operation.name];
  assert.ok(ask !== undefined, `say how a client asks for ${operation.name}`);
  return { ...operation, ask };
});

async function download(blob: BlobClient, conditions: BlobRequestConditions): Promise<object> {
  const answer = await blob.download(0, undefined, { conditions });
  answer.readableStreamBody?.resume();
  return answer;
}

export interface ContainerOperation {
  readonly name: string;
  readonly kind: "reads" | "updates" | "deletes";
  /** Those of the four conditions that the SDK sends with it. */
  readonly conditions: readonly ("ifModifiedSince" | "ifUnmodifiedSince")[];
  /** Whether the SDK accepts a lease id and does not send it. */
  readonly dropsLeaseId?: true;
  readonly ask: Ask<ContainerClient>;
}

/**
 * Container operations of the SDK. It sends no ETag conditions on containers, no
 * If-Unmodified-Since with Set Container Metadata, and has no Get Container Metadata. Leasing has
 * its own tests.
 */
export const CONTAINER_OPERATIONS: readonly ContainerOperation[] = [
  {
    name: "Get Container Properties",
    kind: "reads",
    conditions: [],
    dropsLeaseId: true,
    ask: (container, conditions) => container.getProperties({ conditions }),
  },
  {
    name: "Set Container Metadata",
    kind: "updates",
    conditions: ["ifModifiedSince"],
    ask: (container, conditions) => container.setMetadata({ colour: "blue" }, { conditions }),
  },
  {
    name: "Get Container ACL",
    kind: "reads",
    conditions: [],
    ask: (container, conditions) => container.getAccessPolicy({ conditions }),
  },
  {
    name: "Set Container ACL",
    kind: "updates",
    conditions: ["ifModifiedSince", "ifUnmodifiedSince"],
    ask: (container, conditions) => container.setAccessPolicy("blob", [], { conditions }),
  },
  {
    name: "Delete Container",
    kind: "deletes",
    conditions: ["ifModifiedSince", "ifUnmodifiedSince"],
    ask: (container, conditions) => container.delete({ conditions }),
  },
];

/** Returns everything visible of the blobs in a container, which a refusal must not change. */
export async function blobsIn(container: ContainerClient): Promise<readonly object[]> {
  const found = [];
  for await (const item of container.listBlobsFlat({
    includeMetadata: true,
    includeSnapshots: true,
  })) {
    const blob = container.getBlockBlobClient(item.name).withSnapshot(item.snapshot ?? "");
    const bytes = await blob.downloadToBuffer();
    const isOfBlocks = item.properties.blobType === "BlockBlob";
    const blocks = isOfBlocks ? await blocksOf(container, item.name) : [];
    found.push({ item, bytes, blocks });
  }
  return found;
}

async function blocksOf(container: ContainerClient, name: string): Promise<readonly object[]> {
  const blob = container.getBlockBlobClient(name);
  const { committedBlocks = [], uncommittedBlocks = [] } = await blob.getBlockList("all");
  return [committedBlocks, uncommittedBlocks];
}

/** Returns everything visible of a container itself. */
export async function visibleStateOf(container: ContainerClient): Promise<object> {
  const { etag, lastModified, metadata, leaseState } = await container.getProperties();
  const { blobPublicAccess, signedIdentifiers } = await container.getAccessPolicy();
  return { etag, lastModified, metadata, leaseState, blobPublicAccess, signedIdentifiers };
}

/** Returns the ETag from the response headers, as some types of the SDK have no field for it. */
export function etagIn(answer: {
  readonly _response?: { readonly headers: { get(name: string): string | undefined } };
}): string | undefined {
  assert.ok(answer._response !== undefined);
  return answer._response.headers.get("etag");
}

/**
 * Makes a client that adds headers to every request before signing, since its methods omit some.
 */
export function clientThatAdds(
  server: TestServer,
  headers: Readonly<Record<string, string>>,
): BlobServiceClient {
  const adding: RequestPolicyFactory = {
    create: (next) => ({
      sendRequest(request) {
        for (const [name, value] of Object.entries(headers)) request.headers.set(name, value);
        return next.sendRequest(request);
      },
    }),
  };
  return new BlobServiceClient(server.url, new Pipeline([adding, CREDENTIAL]));
}

/** Starts a copy that stays pending until the source is released; returns its id. */
export async function beginPendingCopy(
  blob: BlobClient,
  elsewhere: TestSource,
  conditions: BlobRequestConditions = {},
): Promise<string> {
  elsewhere.hold(0);
  await blob.beginCopyFromURL(`${elsewhere.origin}/object`, { conditions });
  const { copyId, copyStatus } = await blob.getProperties();
  assert.equal(copyStatus, "pending");
  return copyId as string;
}
