import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import { type RunningServer, type StartOptions, start } from "lazuli";
import { Lab, type LabRuleHandle } from "lazuli/lab";

/** A server with a lab, and clients that try each request once. */
export interface Served {
  readonly server: RunningServer;
  readonly lab: Lab;
  readonly blobs: BlobServiceClient;
}

export const ONE_TRY = { retryOptions: { maxTries: 1, maxRetries: 0 } };

export async function served(t: TestContext, options: StartOptions = {}): Promise<Served> {
  const server = await start({ services: ["blob", "queue", "table"], ...options, lab: true });
  t.after(() => server.stop());
  const blobs = BlobServiceClient.fromConnectionString(server.connectionString, ONE_TRY);
  return { server, lab: new Lab(server), blobs };
}

export async function newContainer({ blobs }: Served, name = "box"): Promise<ContainerClient> {
  const container = blobs.getContainerClient(name);
  await container.create();
  return container;
}

/** What waits at a rule. A request that is answered without waiting there fails the test at once. */
export function heldAt({ reached }: LabRuleHandle, ...requests: readonly Promise<unknown>[]) {
  const early = requests.map(async (request) => {
    await request.catch((error) => assert.fail(`a request that should wait failed: ${error}`));
    assert.fail("a request was answered, and did not wait at the rule");
  });
  return Promise.race([reached(requests.length), ...early]);
}

/** The text of a blob. */
export async function textOf(container: ContainerClient, name: string): Promise<string> {
  return (await container.getBlockBlobClient(name).downloadToBuffer()).toString("utf8");
}

/** Puts a blob. */
export function put(container: ContainerClient, name: string, text: string, ifMatch?: string) {
  const conditions = ifMatch === undefined ? {} : { ifMatch };
  return container.getBlockBlobClient(name).upload(text, Buffer.byteLength(text), { conditions });
}
