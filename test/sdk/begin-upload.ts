import { once } from "node:events";
import { type ClientRequest, request } from "node:http";
import { BlobSASPermissions, type BlockBlobClient } from "@azure/storage-blob";
import { MIB } from "../../src/base/limits.ts";
import { someBytes } from "../../src/store/bodies.fixture.ts";

/** Enough that the server starts two syncs before the body is complete. */
const SENT_BYTES = 40 * MIB;

/** Sends most of a blob, then stalls. */
export async function beginUpload(blob: BlockBlobClient): Promise<ClientRequest> {
  const url = await blob.generateSasUrl({
    permissions: BlobSASPermissions.parse("cw"),
    expiresOn: new Date(Date.now() + 3_600_000),
  });
  const headers = {
    "x-ms-version": "2024-11-04",
    "x-ms-blob-type": "BlockBlob",
    "content-length": String(2 * SENT_BYTES),
  };
  const upload = request(url, { method: "PUT", headers, agent: false });
  const broken = once(upload, "error");
  const part = someBytes(MIB, 1);
  for (let sent = 0; sent < SENT_BYTES && !upload.destroyed; sent += MIB) {
    if (!upload.write(part)) await Promise.race([once(upload, "drain"), broken]);
  }
  return upload;
}
