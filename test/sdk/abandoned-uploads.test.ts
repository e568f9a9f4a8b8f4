import assert from "node:assert/strict";
import type { ClientRequest } from "node:http";
import { type TestContext, test } from "node:test";
import { hang } from "../../src/engine/embedded/slow-files.fixture.ts";
import { someBytes } from "../../src/store/bodies.fixture.ts";
import { beginUpload } from "./begin-upload.ts";
import { startServer, type TestServer } from "./server.ts";
import { sweep } from "./sweep.ts";

const UPLOADS = 4;

test("uploads abandoned by their clients while syncs hang do not stop the server", async (t) => {
  const server = await startServer({ engine: "embedded" });
  t.after(() => server.close());
  const container = await server.makeContainer();
  const ended = recordOutcomes(t, server);
  const syncs = await hang(t, "datasync");
  const uploads: ClientRequest[] = [];
  for (let at = 0; at < UPLOADS; at++) {
    uploads.push(await beginUpload(container.getBlockBlobClient(`abandoned-${at}`)));
  }
  await syncs.made(1);
  for (const upload of uploads) upload.destroy();
  assert.deepEqual(await ended(UPLOADS), Array(UPLOADS).fill("rejected"));
  await sweep(server);

  // The next upload gets a file while the old ones are still being synced.
  const next = container.getBlockBlobClient("next");
  await next.upload(someBytes(50_000, 1), 50_000);
  await syncs.release();
  await sweep(server);
  await next.upload(someBytes(50_000, 2), 50_000);
  assert.deepEqual(await next.downloadToBuffer(), someBytes(50_000, 2));
  assert.deepEqual(server.failures, []);
});

/** Waits until this many bodies are stored or aborted, and returns the status of each. */
function recordOutcomes(t: TestContext, { context }: TestServer) {
  const takes = t.mock.method(context.contents, "take").mock;
  return async (count: number) => {
    while (takes.callCount() < count) await new Promise(setImmediate);
    const ends = await Promise.allSettled(takes.calls.map(({ result }) => result));
    return ends.map(({ status }) => status);
  };
}
