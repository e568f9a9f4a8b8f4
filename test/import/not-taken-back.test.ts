import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { LazuliProcess } from "../command/process.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { blobsAt } from "./fill-account.ts";
import { withProxy } from "./rest-proxy.ts";
import { withServer } from "./served.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-not-taken-back-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

test("what a failed import cannot remove is named beside the reason, and the rest is removed", async () => {
  const source = join(scratch, "source");
  await withServer(source, async ({ blob }) => {
    for (const name of ["first", "second", "third"]) await blobsAt(blob).createContainer(name);
  });
  const target = join(scratch, "export");
  const exported = await new LazuliProcess(["export", target, "--location", source]).ended();
  assert.equal(exported.code, 0, exported.err);
  await withServer(join(scratch, "data"), async ({ blob: url }) => {
    const service = blobsAt(url);
    await service.createContainer("third");
    // Somebody leases a container of the import, which can then not be deleted.
    const meddle = async (line: string) => {
      if (!/^PUT \S+\/third\?/.test(line)) return undefined;
      await service.getContainerClient("first").getBlobLeaseClient().acquireLease(-1);
      return undefined;
    };
    await withProxy(url, meddle, async (proxied) => {
      const server = `AccountName=${ACCOUNT};AccountKey=${KEY};BlobEndpoint=${proxied}`;
      const given = ["import", target, "--server", server, "--only", "blob:*"];
      const { code, err } = await new LazuliProcess(given).ended();
      assert.equal(code, 1, err);
      assert.match(err, /^The container third exists already\. /m);
      assert.match(err, /^Not everything .* be taken back: container first \(.*\)\. Remove it, /m);
    });
    const found: string[] = [];
    for await (const { name } of service.listContainers()) found.push(name);
    assert.deepEqual(found, ["first", "third"]);
  });
});
