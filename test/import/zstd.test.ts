import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import * as zlib from "node:zlib";
import { LazuliProcess } from "../command/process.ts";
import { blobsAt } from "./fill-account.ts";
import { withServer } from "./served.ts";

/** Also runs on Node 22 and 24 (`npm test -- nodes`): older ones have no zstd. */

const scratch = mkdtempSync(join(tmpdir(), "lazuli-zstd-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

const hasZstd = "createZstdCompress" in zlib;
const [location, copy] = [join(scratch, "data"), join(scratch, "copy")];
const target = join(scratch, "export.tar.zst");
const BYTES = 3_000_000;
const ZSTD_MAGIC = "28b52ffd";

const run = (...args: string[]) => new LazuliProcess(args).ended();

async function fill(): Promise<void> {
  await withServer(location, async ({ blob }) => {
    const box = blobsAt(blob).getContainerClient("box");
    await box.create();
    await box.getBlockBlobClient("a").upload(Buffer.alloc(BYTES, "lazuli"), BYTES);
    await box.getBlockBlobClient("empty").upload("", 0);
  });
}

test("an export to .tar.zst is compressed, is read back, and is refused if it is cut short", {
  skip: !hasZstd && "this Node has no zstd",
}, async () => {
  await fill();
  const exported = await run("export", target, "--location", location);
  assert.equal(exported.code, 0, exported.err);
  const bytes = readFileSync(target);
  assert.equal(bytes.subarray(0, 4).toString("hex"), ZSTD_MAGIC);
  assert.ok(bytes.length < BYTES / 10, `${bytes.length} bytes`);
  const imported = await run("import", target, "--location", copy);
  assert.equal(imported.code, 0, imported.err);
  await withServer(copy, async ({ blob }) => {
    const box = blobsAt(blob).getContainerClient("box");
    const found = await box.getBlobClient("a").downloadToBuffer();
    assert.ok(found.equals(Buffer.alloc(BYTES, "lazuli")));
    assert.equal(await box.getBlobClient("empty").exists(), true);
  });
  const cut = join(scratch, "cut.tar.zst");
  writeFileSync(cut, bytes.subarray(0, bytes.length / 2));
  const { code, err } = await run("import", cut, "--location", join(scratch, "other"));
  assert.equal(code, 1);
  assert.match(err, /cannot be unpacked \(.*\)\. It is damaged or cut short\.\n$/);
});

test("zstd is refused by a Node that has none", {
  skip: hasZstd && "this Node has it",
}, async () => {
  await fill();
  const { code, err } = await run("export", target, "--location", location);
  assert.equal(code, 1);
  assert.match(err, /zstd takes Node 22\.15 or later, and this is v.*Use \.tar\.gz instead\.\n$/);
});
