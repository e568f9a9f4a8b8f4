import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { LazuliProcess } from "./process.ts";

function start(t: TestContext, accounts: string, ...args: string[]): LazuliProcess {
  const all = ["--inMemoryPersistence", ...ANY_PORTS, ...args];
  const lazuli = new LazuliProcess(all, { AZURITE_ACCOUNTS: accounts });
  t.after(() => lazuli.kill());
  return lazuli;
}

for (const [key, weakness] of [
  ["key1", "is shorter than 16 bytes"],
  ["my test key", "is not canonical Base64"],
  ["Zm9yIHRlc3RzIG9ubHksIG5vdCBmb3IgYSBuZXR3b3JrIQ", "is not canonical Base64"],
] as const) {
  test(`a key that ${weakness} (${key.length} characters) works on loopback, with a warning`, async (t) => {
    const lazuli = start(t, `shop:${key}`);
    const origin = (await lazuli.printed(/^Blob service is .* at (\S+)$/m)) ?? "";
    const credential = new StorageSharedKeyCredential("shop", key);
    await new BlobServiceClient(`${origin}/shop`, credential).createContainer("box");
    lazuli.signal("SIGTERM");
    const { code, err } = await lazuli.ended();
    assert.equal(code, 0);
    assert.match(err, new RegExp(`warning: a key of the account "shop" ${weakness}`));
    assert.ok(!err.includes(key), "the key is not printed");
  });

  test(`a key that ${weakness} (${key.length} characters) is refused beyond loopback`, async (t) => {
    const lazuli = start(t, `shop:${key}`, "--blobHost", "0.0.0.0");
    await assert.rejects(lazuli.firstLine(), "it serves");
    const { code, err } = await lazuli.ended();
    assert.equal(code, 2);
    assert.match(err, new RegExp(`"shop" ${weakness}`));
    assert.ok(!err.includes(key), "the key is not printed");
  });
}
