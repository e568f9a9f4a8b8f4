import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { AccountSASPermissions } from "@azure/storage-blob";
import { LazuliProcess } from "../command/process.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { blobsAt } from "./fill-account.ts";
import { withServer } from "./served.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-small-blobs-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
let names = 0;
const newPath = () => join(scratch, `path${++names}`);

const run = (...args: string[]) => new LazuliProcess(args).ended();

/** More than two pipelines take; some are empty, and some too long for one. */
const FILES = 300;
const bytesOf = (at: number) =>
  Buffer.alloc(at % 100 === 0 ? (at / 100) * 66_000 : 7 * at, `${at}`);
const nameOf = (at: number) => `${at % 3}/file ${at}`;

function newFiles(): string {
  const folder = newPath();
  for (const part of ["0", "1", "2"]) mkdirSync(join(folder, part), { recursive: true });
  for (let at = 0; at < FILES; at++) writeFileSync(join(folder, nameOf(at)), bytesOf(at));
  return folder;
}

const addressAt = (url: string) => `AccountName=${ACCOUNT};AccountKey=${KEY};BlobEndpoint=${url}`;

/** Everything that a list shows, with the bytes. */
async function contentsAt(url: string) {
  const box = blobsAt(url).getContainerClient("box");
  const found = [];
  for await (const { name, properties } of box.listBlobsFlat()) {
    const { etag, createdOn, lastModified, contentType } = properties;
    const md5 = Buffer.from(properties.contentMD5 ?? []).toString("base64");
    const bytes = await box.getBlobClient(name).downloadToBuffer();
    found.push({ name, etag, createdOn, lastModified, contentType, md5, bytes });
  }
  return found;
}

const expected = () =>
  Array.from({ length: FILES }, (_, at) => ({ name: nameOf(at), bytes: bytesOf(at) })).toSorted(
    (a, b) => (a.name < b.name ? -1 : 1),
  );

test("many small blobs come in and go out again, each with its own outcome", async () => {
  const files = newFiles();
  const copy = newPath();
  await withServer(newPath(), async ({ blob }) => {
    const server = ["--server", addressAt(blob)];
    const into = ["--into", "blob:box", ...server];
    const first = await run("import", files, ...into);
    assert.equal(first.code, 0, first.err);
    const found = await contentsAt(blob);
    assert.deepEqual(
      found.map(({ name, bytes }) => ({ name, bytes })),
      expected(),
    );

    // Ids, times and digests come along, through a tar and from account to account.
    const tar = `${newPath()}.tar`;
    assert.equal((await run("export", tar, ...server)).code, 0);
    for (const source of [tar, addressAt(blob)]) {
      const target = newPath();
      assert.equal((await run("import", source, "--location", target)).code, 0);
      assert.deepEqual(await withServer(target, (urls) => contentsAt(urls.blob)), found);
    }

    const box = blobsAt(blob).getContainerClient("box");
    for (const at of [7, 8, 9]) await box.deleteBlob(nameOf(at));
    await box.getBlockBlobClient(nameOf(10)).upload("newer", 5);
    const skipped = await run("import", files, ...into, "--existing", "skip");
    assert.equal(skipped.code, 0, skipped.err);
    assert.match(skipped.out, /: 3 objects, .*; 298 were there already\./);
    assert.equal(`${await box.getBlobClient(nameOf(10)).downloadToBuffer()}`, "newer");

    await box.getBlobClient(nameOf(11)).getBlobLeaseClient().acquireLease(-1);
    rmSync(join(files, nameOf(12)));
    const replaced = await run("import", files, ...into, "--existing", "overwrite");
    assert.equal(replaced.code, 3);
    assert.match(replaced.err, /^failed: blob box\/2\/file 11: .*LeaseIdMissing/m);
    assert.equal(replaced.err.match(/^failed:/gm)?.length, 1, replaced.err);
    const after = await contentsAt(blob);
    assert.deepEqual(
      after.map(({ name, bytes }) => ({ name, bytes })),
      expected(),
    );

    // A SAS permits no pipelines: the same comes of single requests.
    const all = AccountSASPermissions.parse("rwdlactf");
    const sas = blobsAt(blob).generateAccountSasUrl(undefined, all, "sco");
    const alone = await run("import", sas, "--location", copy);
    assert.equal(alone.code, 0, alone.err);
  });
  const bySas = await withServer(copy, (urls) => contentsAt(urls.blob));
  assert.deepEqual(
    bySas.map(({ name, bytes }) => ({ name, bytes })),
    expected(),
  );
});
