import assert from "node:assert/strict";
import { test } from "node:test";
import { TableServiceClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { bearer, TAKES_TOKENS, TENANT } from "./bearer.ts";
import { CERTIFICATE } from "./certificate.ts";
import { startFileServer } from "./file-server.ts";
import { startQueueServer } from "./queue-server.ts";
import { forThisFile, startServer } from "./server.ts";
import { startTableServer } from "./table-server.ts";

/** Makes tokens for a wrong audience until a challenge names the tenant. */
class ChallengedCredential {
  readonly asked: [scopes: string | string[], tenant: string | undefined][] = [];

  async getToken(scopes: string | string[], { tenantId }: { tenantId?: string } = {}) {
    this.asked.push([scopes, tenantId]);
    const claims = tenantId === TENANT ? {} : { aud: "https://other.example.org" };
    const token = bearer(claims).authorization.slice("Bearer ".length);
    return { token, expiresOnTimestamp: Date.now() + 3_600_000 };
  }
}

const OPTIONS = { retryOptions: {}, tlsOptions: { ca: CERTIFICATE } };

const blobs = await forThisFile(startServer(TAKES_TOKENS));
const queues = await forThisFile(startQueueServer(TAKES_TOKENS));
const tables = await forThisFile(startTableServer(TAKES_TOKENS));
const files = await forThisFile(startFileServer(TAKES_TOKENS));

const FIRST_PAGES: [string, (credential: ChallengedCredential) => Promise<unknown>][] = [
  ["blob", (own) => new BlobServiceClient(blobs.url, own, OPTIONS).listContainers().next()],
  ["queue", (own) => new QueueServiceClient(queues.url, own, OPTIONS).listQueues().next()],
  ["table", (own) => new TableServiceClient(tables.url, own, OPTIONS).listTables().next()],
  [
    "file",
    (own) => {
      const options = { ...OPTIONS, fileRequestIntent: "backup" } as const;
      return new ShareServiceClient(files.url, own, options).listShares().next();
    },
  ],
];

for (const [name, firstPage] of FIRST_PAGES) {
  test(`${name}: a client whose token is refused finds tenant and scope in the challenge`, async () => {
    const credential = new ChallengedCredential();
    await firstPage(credential);
    assert.equal(credential.asked.length, 2);
    assert.deepEqual(credential.asked[1], [["https://storage.azure.com/.default"], TENANT]);
  });
}
