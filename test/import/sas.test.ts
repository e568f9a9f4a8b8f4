import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { AccountSASPermissions } from "@azure/storage-blob";
import { LazuliProcess } from "../command/process.ts";
import { blobsAt } from "./fill-account.ts";
import { withServer } from "./served.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-sas-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

test("an account is read with a SAS, which is not printed", async () => {
  await withServer(join(scratch, "from"), async (from) => {
    const service = blobsAt(from.blob);
    await service.getContainerClient("box").create({ metadata: { made: "before" } });
    await service.getContainerClient("box").getBlockBlobClient("a").upload("hello", 5);
    const permissions = AccountSASPermissions.parse("rl");
    const url = new URL(service.generateAccountSasUrl(undefined, permissions, "sco"));
    const sas = url.search.slice(1);
    const address = `BlobEndpoint=${from.blob};SharedAccessSignature=${sas}`;
    await withServer(join(scratch, "to"), async (to) => {
      const flags = ["--location", join(scratch, "to"), "--only", "blob:*"];
      const { code, out, err } = await new LazuliProcess(["import", address, ...flags]).ended();
      assert.equal(code, 0, err);
      assert.ok(!(out + err).includes(new URLSearchParams(sas).get("sig") ?? ""), "no signature");
      const copy = blobsAt(to.blob).getContainerClient("box").getBlobClient("a");
      assert.equal((await copy.downloadToBuffer()).toString(), "hello");
    });
  });
});

test("tags that a SAS does not permit to read are named, and the blob comes along", async () => {
  await withServer(join(scratch, "tagged"), async (from) => {
    const service = blobsAt(from.blob);
    const box = service.getContainerClient("box");
    await box.create();
    await box.getBlockBlobClient("a").upload("hello", 5, { tags: { colour: "blue" } });
    await box.getBlockBlobClient("b").upload("hello", 5);
    for (const [letters, code, lines] of [
      ["rl", 3, 1],
      ["rlt", 0, 0],
    ] as const) {
      const permissions = AccountSASPermissions.parse(letters);
      const url = service.generateAccountSasUrl(undefined, permissions, "sco");
      const location = join(scratch, `to-${letters}`);
      const done = await new LazuliProcess(["import", url, "--location", location]).ended();
      assert.equal(done.code, code, done.err);
      const named = /^failed: tags of the blob box\/a: The SAS does not permit to read tags\./gm;
      assert.equal(done.err.match(named)?.length ?? 0, lines, done.err);
      await withServer(location, async (to) => {
        const copy = blobsAt(to.blob).getContainerClient("box").getBlobClient("a");
        assert.deepEqual((await copy.getTags()).tags, lines === 0 ? { colour: "blue" } : {});
      });
    }
  });
});
