import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { LazuliProcess } from "../command/process.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { blobsAt } from "./fill-account.ts";
import { continueLake, describePasts, describeRestored, fillPasts } from "./pasts.ts";
import { withServer } from "./served.ts";
import { sharesAt } from "./shares.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-pasts-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
let names = 0;
const newPath = () => join(scratch, `path${++names}`);

const config = join(scratch, "lazuli.json");
const blob = { versioning: true, containerRetentionDays: 9 };
const accounts = [{ name: ACCOUNT, keys: [KEY], blob, file: { shareRetentionDays: 8 } }];
writeFileSync(config, JSON.stringify({ accounts }));
const served = ["--config", config];

async function done(...args: string[]): Promise<string> {
  const { code, out, err } = await new LazuliProcess(args).ended();
  assert.equal(code, 0, `${args.join(" ")}: ${err}`);
  return out;
}

const filled = (async () => {
  const location = newPath();
  const expected = await withServer(
    location,
    async (urls) => {
      await fillPasts(urls);
      return describePasts(urls);
    },
    served,
  );
  return { location, expected };
})();

for (const end of ["", ".tar"]) {
  test(`an export to ${end || "a folder"} brings deleted containers and shares, ETags and times`, async () => {
    const { location, expected } = await filled;
    const target = `${newPath()}${end}`;
    await done("export", target, "--location", location);
    const copy = newPath();
    await done("import", target, "--location", copy);
    assert.deepEqual(await withServer(copy, describePasts, served), expected);
    // A second import finds everything.
    await done(
      "import",
      target,
      "--location",
      copy,
      "--existing",
      "skip",
      "--only",
      "blob:*,table:*",
    );
    await withServer(
      copy,
      async (urls) => {
        assert.deepEqual(await describePasts(urls), expected);
        assert.equal(await continueLake(urls), "hello next behind!");
      },
      served,
    );
    // Clients cannot read archived blobs, so a second export shows what the import has written.
    const again = newPath();
    await done("export", again, "--location", copy, "--only", "blob:gone");
    const archived = (name: string) => readFileSync(join(again, "blobs/gone", name), "utf8");
    assert.deepEqual(["archived", "blocks"].map(archived), ["archived", "archived block"]);
  });
}

test("an import that fails leaves nothing, although the account keeps what is deleted", async () => {
  const { location } = await filled;
  const target = newPath();
  await done("export", target, "--location", location);
  const copy = newPath();
  await withServer(
    copy,
    async ({ blob: url, file }) => {
      // The last share of the export exists, so that everything before it is removed again.
      await sharesAt(file).getShareClient("zoo").create();
      const given = ["import", target, "--location", copy, "--config", config];
      const { code, err } = await new LazuliProcess(given).ended();
      assert.equal(code, 1, err);
      assert.match(err, /The share zoo exists already\. Choose with --existing/);
      const found: string[] = [];
      const all = { includeDeleted: true };
      for await (const { name } of blobsAt(url).listContainers(all)) found.push(name);
      for await (const { name } of sharesAt(file).listShares(all)) found.push(name);
      assert.deepEqual(found, ["zoo"]);
    },
    served,
  );
});

test("what was deleted is restored with everything in it", async () => {
  const { location } = await filled;
  const target = newPath();
  await done("export", target, "--location", location);
  const copy = newPath();
  await done("import", target, "--location", copy);
  const expected = await withServer(location, describeRestored, served);
  assert.deepEqual(await withServer(copy, describeRestored, served), expected);
});
