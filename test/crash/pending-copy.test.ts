import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { CREDENTIAL } from "../sdk/server.ts";
import { TestSource } from "../sdk/test-source.ts";
import { startProcess } from "./server-process.ts";

test("a copy that was pending when the server was killed has failed after the restart", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-copy-"));
  const elsewhere = await TestSource.start();
  t.after(async () => {
    await elsewhere.close();
    await rm(folder, { recursive: true, force: true });
  });
  const config = join(folder, "config.json");
  await writeFile(config, JSON.stringify({ copySources: { origins: [elsewhere.origin] } }));
  const start = async () => {
    const server = await startProcess(join(folder, "data"), ["--config", config]);
    const options = { retryOptions: { maxTries: 1 } };
    const client = new BlobServiceClient(server.url, CREDENTIAL, options);
    return { server, copy: client.getContainerClient("box").getBlockBlobClient("copy"), client };
  };

  const first = await start();
  await first.client.createContainer("box");
  await first.copy.upload("old", 3);
  elsewhere.hold(5);
  const held = elsewhere.held();
  await first.copy.beginCopyFromURL(`${elsewhere.origin}/object`);
  await held;
  await first.server.kill();

  const second = await start();
  const found = await second.copy.getProperties();
  assert.deepEqual([found.copyStatus, found.contentLength], ["failed", 0]);
  assert.match(found.copyStatusDescription ?? "", /server stopped/);
  await second.copy.upload("new", 3);
  assert.equal(await second.server.stop(), 0);
});
