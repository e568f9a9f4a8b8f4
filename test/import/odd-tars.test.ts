import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { LazuliProcess } from "../command/process.ts";
import { blobsAt } from "./fill-account.ts";
import { withServer } from "./served.ts";
import { sharesAt } from "./shares.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-odd-tars-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
let names = 0;
const newPath = () => join(scratch, `path${++names}`);
const skip = process.platform !== "linux" && "needs GNU tar, and names that are not UTF-8";

const run = (...args: string[]) => new LazuliProcess(args).ended();

function newFolder(): string {
  const folder = newPath();
  mkdirSync(folder);
  return folder;
}

/** The tar of a folder, as GNU tar writes it with these options. */
function packed(folder: string, ...options: string[]): string {
  const tar = `${newPath()}.tar`;
  execFileSync("tar", ["-cf", tar, ...options, "-C", folder, "."]);
  return tar;
}

const BLOCK = 512;

test("a tar that is cut short is refused, wherever it is cut", { skip }, async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "one"), "1");
  writeFileSync(join(folder, "two"), "2");
  // A folder, and two files of two blocks.
  for (const bytes of [0, 100, BLOCK, 3 * BLOCK - 1, 3 * BLOCK, 3 * BLOCK + 200, 5 * BLOCK]) {
    const tar = packed(folder);
    truncateSync(tar, bytes);
    const location = newPath();
    const { code, err } = await run("import", tar, "--location", location, "--into", "blob:box");
    assert.deepEqual([code, err], [1, `${tar} is cut short. Pack it again.\n`], `${bytes}`);
  }
});

test("a size below zero does not lead back in a tar", { skip }, async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "one"), "1");
  const tar = packed(folder);
  const bytes = readFileSync(tar);
  bytes.write("-0000001000", BLOCK + 124, "latin1");
  bytes.write("        ", BLOCK + 148, "latin1");
  const sum = bytes.subarray(BLOCK, 2 * BLOCK).reduce((all, byte) => all + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, BLOCK + 148, "latin1");
  writeFileSync(tar, bytes);
  const { code, err } = await run("import", tar, "--location", newPath(), "--into", "blob:box");
  assert.deepEqual([code, err], [1, `${tar} is not a tar file, or is damaged.\n`]);
});

test("files of a tar that are sparse or have odd names are named, each of them", {
  skip,
}, async () => {
  for (const format of ["gnu", "posix"]) {
    const folder = newFolder();
    writeFileSync(join(folder, "holes"), "begin");
    truncateSync(join(folder, "holes"), 10_000_000);
    writeFileSync(join(folder, "plain"), "plain");
    for (const odd of [0xfe, 0xff]) {
      writeFileSync(Buffer.concat([Buffer.from(`${folder}/e`), Buffer.from([odd])]), "odd");
    }
    const tar = packed(folder, "--sparse", `--format=${format}`);
    const location = newPath();
    const into = ["--location", location, "--into", "blob:box"];
    const { code, err } = await run("import", tar, ...into);
    assert.equal(code, 3, err);
    assert.equal(err.match(/^failed: .*holes: is packed without its holes, .*$/gm)?.length, 1, err);
    assert.equal(err.match(/^failed: e\ufffd: has a name that is not UTF-8$/gm)?.length, 2, err);
    await withServer(location, async ({ blob }) => {
      const found: string[] = [];
      const box = blobsAt(blob).getContainerClient("box");
      for await (const { name } of box.listBlobsFlat()) found.push(name);
      assert.deepEqual(found, ["plain"]);
    });
  }
});

test("a file of a tar that is older than 1970 comes in", { skip }, async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "old"), "old");
  // Node takes no time before 1970.
  execFileSync("touch", ["-d", "1960-01-01", join(folder, "old")]);
  for (const format of ["gnu", "posix"]) {
    const location = newPath();
    const into = ["--location", location, "--into", "file:docs"];
    const { code, err } = await run("import", packed(folder, `--format=${format}`), ...into);
    assert.equal(code, 0, err);
    await withServer(location, async ({ file }) => {
      const old = sharesAt(file).getShareClient("docs").getDirectoryClient("").getFileClient("old");
      assert.equal(`${await old.downloadToBuffer()}`, "old");
    });
  }
});
