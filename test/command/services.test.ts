import assert from "node:assert/strict";
import { test } from "node:test";
import { QueueServiceClient, StorageSharedKeyCredential } from "@azure/storage-queue";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { LazuliProcess } from "./process.ts";

test("--services starts only the services that it names", async (t) => {
  const ports = ["--queuePort", "0", "--smbPort", "0"];
  const lazuli = new LazuliProcess(["--inMemoryPersistence", "--services", "smb,queue", ...ports]);
  t.after(() => lazuli.kill());
  await lazuli.printed(/^SMB service .* at (\S+)$/m);
  const url = await lazuli.urlOf("Queue");
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  await new QueueServiceClient(url, credential).createQueue("tasks");
  lazuli.signal("SIGTERM");
  const { code, out } = await lazuli.ended();
  assert.equal(code, 0);
  const started = [...out.matchAll(/^(\w+) service is successfully listening/gm)];
  assert.deepEqual(
    started.map(([, title]) => title),
    ["Queue", "SMB"],
  );
});
