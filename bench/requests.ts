import { randomBytes } from "node:crypto";
import type { Target } from "./server.ts";
import { ACCOUNT, signed } from "./shared-key.ts";

const CONTAINER = "/bench";

/** A blob and its size. The floor server reads the size from the end of the blob's name. */
export interface BlobSize {
  readonly index: number;
  readonly bytes: number;
}

export function createContainer(target: Target): Buffer {
  return signed(target.port, {
    method: "PUT",
    path: CONTAINER,
    query: { restype: "container" },
  });
}

export function putBlob(target: Target, blob: BlobSize): Buffer {
  return signed(target.port, {
    method: "PUT",
    path: pathOf(blob),
    headers: { "x-ms-blob-type": "BlockBlob" },
    body: bodyOf(blob.bytes),
  });
}

/** Creates a page blob with room for 16 writes of this size, or an empty append blob. */
export function createBlob(
  target: Target,
  type: "PageBlob" | "AppendBlob",
  blob: BlobSize,
): Buffer {
  const size = { "x-ms-blob-content-length": String(16 * blob.bytes) };
  return signed(target.port, {
    method: "PUT",
    path: pathOf(blob),
    headers: { "x-ms-blob-type": type, ...(type === "PageBlob" && size) },
  });
}

export function putPage(target: Target, blob: BlobSize): Buffer {
  const from = (blob.index % 16) * blob.bytes;
  return signed(target.port, {
    method: "PUT",
    path: pathOf(blob),
    query: { comp: "page" },
    headers: {
      "x-ms-page-write": "update",
      "x-ms-range": `bytes=${from}-${from + blob.bytes - 1}`,
    },
    body: bodyOf(blob.bytes),
  });
}

export function appendBlock(target: Target, blob: BlobSize): Buffer {
  return signed(target.port, {
    method: "PUT",
    path: pathOf(blob),
    query: { comp: "appendblock" },
    body: bodyOf(blob.bytes),
  });
}

/** Makes the head alone: the body of this many bytes is sent separately. */
export function putBlobHead(target: Target, blob: BlobSize): Buffer {
  return signed(target.port, {
    method: "PUT",
    path: pathOf(blob),
    headers: { "x-ms-blob-type": "BlockBlob" },
    bodyBytes: blob.bytes,
  });
}

/** Makes a Put Block request; blocks are numbered. */
export function putBlock(target: Target, blob: BlobSize, block = 0): Buffer {
  return signed(target.port, {
    method: "PUT",
    path: pathOf(blob),
    query: { comp: "block", blockid: blockId(block) },
    body: bodyOf(blob.bytes),
  });
}

export function putBlockList(target: Target, blob: BlobSize, blocks: readonly number[]): Buffer {
  const ids = blocks.map((block) => `<Latest>${blockId(block)}</Latest>`);
  return signed(target.port, {
    method: "PUT",
    path: pathOf(blob),
    query: { comp: "blocklist" },
    body: Buffer.from(
      `<?xml version="1.0" encoding="utf-8"?><BlockList>${ids.join("")}</BlockList>`,
    ),
  });
}

function blockId(block: number): string {
  return Buffer.from(`block-${String(block).padStart(6, "0")}`).toString("base64");
}

/** Copies a blob to the one with the next index. */
export function copyBlob(target: Target, blob: BlobSize): Buffer {
  return signed(target.port, {
    method: "PUT",
    path: pathOf({ ...blob, index: blob.index + 1 }),
    headers: { "x-ms-copy-source": urlOf(target, blob) },
  });
}

/** Stages a whole blob as one block of the one with the next index. */
export function putBlockFromUrl(target: Target, blob: BlobSize): Buffer {
  return signed(target.port, {
    method: "PUT",
    path: pathOf({ ...blob, index: blob.index + 1 }),
    query: { comp: "block", blockid: "AAAA" },
    headers: { "x-ms-copy-source": urlOf(target, blob) },
  });
}

export function getBlob(target: Target, blob: BlobSize): Buffer {
  return signed(target.port, { method: "GET", path: pathOf(blob) });
}

export function deleteBlob(target: Target, blob: BlobSize): Buffer {
  return signed(target.port, { method: "DELETE", path: pathOf(blob) });
}

export function headBlob(target: Target, blob: BlobSize): Buffer {
  return signed(target.port, { method: "HEAD", path: pathOf(blob) });
}

export function listBlobs(target: Target, resultsMax = 5_000): Buffer {
  const query = { restype: "container", comp: "list", maxresults: String(resultsMax) };
  return signed(target.port, { method: "GET", path: CONTAINER, query });
}

function pathOf(blob: BlobSize): string {
  return `${CONTAINER}/blob-${String(blob.index).padStart(6, "0")}.${blob.bytes}`;
}

function urlOf({ port }: Target, blob: BlobSize): string {
  return `http://127.0.0.1:${port}/${ACCOUNT}${pathOf(blob)}`;
}

const bodies = new Map<number, Buffer>();

/** Returns incompressible bytes, generated once per size. */
function bodyOf(bytes: number): Buffer {
  let body = bodies.get(bytes);
  if (body === undefined) {
    body = randomBytes(bytes);
    bodies.set(bytes, body);
  }
  return body;
}
