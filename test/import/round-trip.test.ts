import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { LazuliProcess } from "../command/process.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { describeAccount } from "./describe-account.ts";
import { blobsAt, fillAccount, queuesAt } from "./fill-account.ts";
import { type ServedUrls, withServer } from "./served.ts";
import { describeShares, fillShares, sharesAt } from "./shares.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-round-trip-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
let names = 0;
const newPath = () => join(scratch, `path${++names}`);

/** Long enough to be sent as it is read. */
const LARGE_BYTES = 900_000;

const run = (...args: string[]) => new LazuliProcess(args).ended();

async function done(...args: string[]): Promise<string> {
  const { code, out, err } = await run(...args);
  assert.equal(code, 0, `${args.join(" ")}: ${err}`);
  return out;
}

const describe = async (urls: ServedUrls) =>
  JSON.parse(
    JSON.stringify({ ...(await describeAccount(urls)), shares: await describeShares(urls.file) }),
  );

/** A folder with one of everything that the API can read and write. */
async function filledFolder(): Promise<{ location: string; expected: unknown }> {
  const location = newPath();
  const expected = await withServer(location, async (urls) => {
    await fillAccount(urls);
    await fillShares(urls.file);
    const box = blobsAt(urls.blob).getContainerClient("box");
    await box.getBlobClient("leased").getBlobLeaseClient().breakLease(0);
    await box.getBlockBlobClient("leased").upload("leased", 6);
    // Uncommitted blocks, and messages that others have received, cannot be read.
    await box.getBlockBlobClient("staged").upload("", 0);
    const { committedBlocks = [] } = await box
      .getBlockBlobClient("blocks")
      .getBlockList("committed");
    await box.getBlockBlobClient("blocks").commitBlockList(
      committedBlocks.map(({ name }) => name),
      { blobHTTPHeaders: { blobContentType: "text/blocks" } },
    );
    await box.getBlockBlobClient("large").upload(Buffer.alloc(LARGE_BYTES, 1), LARGE_BYTES);
    await box.getAppendBlobClient("sealed").create();
    await box.getAppendBlobClient("sealed").appendBlock("over", 4);
    await box.getAppendBlobClient("sealed").seal();
    for (const name of ["dots/./..", "a./b ", "con", "<>:|*"]) {
      await box.getBlockBlobClient(encodeURIComponent(name)).upload(name, name.length);
    }
    const work = queuesAt(urls.queue).getQueueClient("work");
    await work.clearMessages();
    await work.sendMessage("for ever", { messageTimeToLive: -1 });
    await work.sendMessage("<second>");
    return describe(urls);
  });
  return { location, expected };
}

const filled = filledFolder();

for (const end of ["", ".tar", ".tar.gz"]) {
  test(`what is exported to ${end || "a folder"} comes back whole`, async () => {
    const { location, expected } = await filled;
    const target = `${newPath()}${end}`;
    const out = await done("export", target, "--location", location);
    assert.match(out, /^Exported the account devstoreaccount1 of .*: \d+ objects, \d\.\d MiB\.\n$/);
    assert.deepEqual(
      readdirSync(scratch).filter((name) => name.includes("partial")),
      [],
    );
    const copy = newPath();
    await done("import", target, "--location", copy);
    assert.deepEqual(await withServer(copy, describe), expected);
  });
}

test("export and import go through a running server, and from account to account", async () => {
  const { location, expected } = await filled;
  const copy = newPath();
  await withServer(location, async (from) => {
    const target = newPath();
    await done("export", target, "--location", location, "--only", "blob:box");
    assert.ok(existsSync(join(target, "manifest.jsonl")));
    const endpoints = Object.entries({ Blob: from.blob, Queue: from.queue, Table: from.table })
      .concat([["File", from.file]])
      .map(([name, url]) => `${name}Endpoint=${url}`);
    const address = [`AccountName=${ACCOUNT}`, `AccountKey=${KEY}`, ...endpoints].join(";");
    await withServer(copy, async (to) => {
      const out = await done("import", address, "--location", copy);
      assert.ok(!out.includes(KEY), "no key is printed");
      assert.deepEqual(await describe(to), expected);
    });
  });
});

test("a damaged, missing or cut file of an export is named, and not written", async () => {
  const { location } = await filled;
  const target = newPath();
  await done("export", target, "--location", location, "--only", "blob:box");
  writeFileSync(join(target, "blobs/box/versions"), "tHird");
  rmSync(join(target, "blobs/box/cool"));
  const large = readFileSync(join(target, "blobs/box/large"));
  large[LARGE_BYTES - 1] = 0;
  writeFileSync(join(target, "blobs/box/large"), large);
  const copy = newPath();
  const { code, err } = await run("import", target, "--location", copy);
  assert.equal(code, 3);
  assert.match(err, /^failed: blob box\/versions: blobs\/box\/versions is damaged: .*SHA-256/m);
  assert.match(err, /^failed: blob box\/large: blobs\/box\/large is damaged: /m);
  const found = await withServer(copy, async ({ blob }) => {
    const box = blobsAt(blob).getContainerClient("box");
    return Promise.all(["large", "cool"].map((name) => box.getBlobClient(name).exists()));
  });
  assert.deepEqual(found, [false, false]);
  assert.match(err, /^failed: blob box\/cool: blobs\/box\/cool is missing in the export\./m);
  const lines = readFileSync(join(target, "manifest.jsonl"), "utf8").trimEnd().split("\n");
  writeFileSync(join(target, "manifest.jsonl"), lines.slice(0, -1).join("\n"));
  const cut = await run("import", target, "--location", newPath());
  assert.equal(cut.code, 1);
  assert.match(cut.err, /^manifest\.jsonl is cut short\. Export again\.\n$/m);
});

test("links within an export are not followed, neither for a body nor on the way to one", async () => {
  const { location } = await filled;
  const target = newPath();
  await done("export", target, "--location", location, "--only", "blob:box");
  const outside = newPath();
  cpSync(join(target, "blobs/box"), outside, { recursive: true });
  const importTo = async (copy: string) => {
    const { code, err } = await run("import", target, "--location", copy);
    const names = await withServer(copy, async ({ blob }) => {
      const found: string[] = [];
      for await (const { name } of blobsAt(blob).getContainerClient("box").listBlobsFlat()) {
        found.push(name);
      }
      return found;
    });
    return { code, err, names };
  };
  rmSync(join(target, "blobs/box/cool"));
  symlinkSync(join(outside, "cool"), join(target, "blobs/box/cool"));
  const one = await importTo(newPath());
  assert.equal(one.code, 3);
  assert.match(one.err, /^failed: blob box\/cool: blobs\/box\/cool is missing in the export\./m);
  assert.deepEqual([one.names.includes("cool"), one.names.includes("large")], [false, true]);
  rmSync(join(target, "blobs/box"), { recursive: true });
  symlinkSync(outside, join(target, "blobs/box"));
  const all = await importTo(newPath());
  assert.equal(all.code, 3);
  assert.match(all.err, /^failed: blob box\/large: "blobs\/box\/large" leads out of the source\./m);
  assert.deepEqual([all.names.includes("cool"), all.names.includes("large")], [false, false]);
});

/** A folder of plain files, with a link that leads out of it. */
function plainFiles(): string {
  const folder = newPath();
  mkdirSync(join(folder, "sub"), { recursive: true });
  writeFileSync(join(folder, "one.txt"), "one");
  writeFileSync(join(folder, "sub", "two ü.txt"), "two");
  utimesSync(join(folder, "sub", "two ü.txt"), 1_000_000_000, 1_000_000_000);
  writeFileSync(join(folder, "sub", "fixed"), "fixed", { mode: 0o444 });
  symlinkSync("/etc/hostname", join(folder, "sub", "link"));
  return folder;
}

test("files of a folder or a tar become blobs or files; links are named and left out", async () => {
  const folder = plainFiles();
  const tar = `${newPath()}.tar`;
  execFileSync("tar", ["-cf", tar, "-C", folder, "."]);
  const packed = `${newPath()}.tgz`;
  execFileSync("tar", ["-czf", packed, "-C", folder, "."]);
  for (const source of [folder, tar, packed]) {
    const location = newPath();
    for (const into of ["blob:box/some/prefix", "file:docs/some/folder"]) {
      const { code, err } = await run("import", source, "--location", location, "--into", into);
      assert.equal(code, 3, err);
      assert.match(err, /^failed: sub\/link: is a link or a device, and is not followed$/m);
    }
    await withServer(location, async ({ blob, file }) => {
      const box = blobsAt(blob).getContainerClient("box");
      const found: string[] = [];
      for await (const { name } of box.listBlobsFlat()) found.push(name);
      assert.deepEqual(found, [
        "some/prefix/one.txt",
        "some/prefix/sub/fixed",
        "some/prefix/sub/two ü.txt",
      ]);
      const one = await box.getBlobClient("some/prefix/one.txt").downloadToBuffer();
      assert.equal(one.toString(), "one");
      const share = sharesAt(file).getShareClient("docs");
      const two = share.getDirectoryClient("some/folder/sub").getFileClient("two ü.txt");
      assert.equal((await two.downloadToBuffer()).toString(), "two");
      const { fileLastWriteOn } = await two.getProperties();
      assert.equal(fileLastWriteOn?.getTime(), 1_000_000_000_000);
    });
  }
});

test("names like a drive are taken, and a name that is not UTF-8 is left out", async (t) => {
  if (process.platform !== "linux") return t.skip("other systems have no such names");
  const folder = newPath();
  mkdirSync(folder);
  const all = ["a:b", "..\\c", "d"];
  for (const name of all) writeFileSync(join(folder, name), name);
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/e`), Buffer.from([0xff])]), "odd");
  const location = newPath();
  const into = ["--location", location, "--into", "blob:box"];
  const { code, err } = await run("import", folder, ...into);
  assert.equal(code, 3, err);
  assert.match(err, /^failed: e\ufffd: has a name that is not UTF-8$/m);
  await withServer(location, async ({ blob }) => {
    for (const name of all) {
      const found = blobsAt(blob).getContainerClient("box").getBlobClient(name);
      assert.equal(`${await found.downloadToBuffer()}`, name);
    }
  });
});

test("a folder's files keep their creation time and are read-only, also when they are replaced", async () => {
  const folder = plainFiles();
  const path = join(folder, "sub", "fixed");
  const location = newPath();
  const into = ["--location", location, "--into", "file:docs", "--existing", "overwrite"];
  for (const content of ["fixed", "fixed again"]) {
    rmSync(path);
    writeFileSync(path, content, { mode: 0o444 });
    const { code, err } = await run("import", folder, ...into);
    assert.deepEqual([code, err.match(/^failed:.*$/gm)?.length], [3, 1], err);
    await withServer(location, async ({ file }) => {
      const share = sharesAt(file).getShareClient("docs");
      const fixed = share.getDirectoryClient("sub").getFileClient("fixed");
      assert.equal(`${await fixed.downloadToBuffer()}`, content);
      const { fileAttributes, fileCreatedOn } = await fixed.getProperties();
      assert.equal(fileAttributes, "ReadOnly");
      assert.equal(fileCreatedOn?.getTime(), Math.trunc(statSync(path).birthtimeMs));
    });
  }
});

test("a tar.gz that others unpack has the files of the export; one that is cut short is refused", async () => {
  const { location } = await filled;
  const target = `${newPath()}.tar.gz`;
  await done("export", target, "--location", location, "--only", "blob:box");
  const folder = newPath();
  mkdirSync(folder);
  execFileSync("tar", ["-xzf", target, "-C", folder]);
  assert.equal(readFileSync(join(folder, "blobs/box/versions"), "utf8"), "third");
  assert.equal(readFileSync(join(folder, "blobs/box/large")).length, LARGE_BYTES);
  await done("import", folder, "--location", newPath());
  const bytes = readFileSync(target);
  writeFileSync(target, bytes.subarray(0, bytes.length / 2));
  const { code, err } = await run("import", target, "--location", newPath());
  assert.equal(code, 1);
  assert.match(err, /cannot be unpacked \(.*\)\. It is damaged or cut short\.\n$/);
});

test("a tar whose names lead out of it is refused", async () => {
  const folder = plainFiles();
  const tar = `${newPath()}.tar`;
  const rename = "s,^one.txt,../one.txt,";
  execFileSync("tar", ["-cPf", tar, "-C", folder, "--transform", rename, "one.txt"]);
  const { code, err } = await run("import", tar, "--location", newPath(), "--into", "blob:box");
  assert.deepEqual([code, err], [1, '"../one.txt" leads out of the source. It is not read.\n']);
});

test("an export refuses a folder that is not empty, and a place without data", async () => {
  const folder = plainFiles();
  const { location } = await filled;
  const taken = await run("export", folder, "--location", location);
  assert.equal(taken.code, 1);
  assert.match(taken.err, /is not empty\. Choose a new folder\.\n$/);
  const nothing = await run("export", newPath(), "--location", newPath());
  assert.equal(nothing.code, 1);
  assert.match(nothing.err, /is not a data folder\. Say where the data lives/);
});
