import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { LazuliProcess } from "../command/process.ts";
import { blobsAt } from "./fill-account.ts";
import { type ServedUrls, withServer } from "./served.ts";
import { sharesAt } from "./shares.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-damaged-bodies-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
let names = 0;
const newPath = () => join(scratch, `path${++names}`);

const run = (...args: string[]) => new LazuliProcess(args).ended();

const at = ({ blob, file }: ServedUrls) => ({
  box: blobsAt(blob).getContainerClient("box"),
  share: sharesAt(file).getShareClient("docs"),
});

/** Every kind of body of which a part is written before its last bytes are read. */
async function fill(urls: ServedUrls): Promise<void> {
  const { box, share } = at(urls);
  await box.create();
  const pages = box.getPageBlobClient("pages");
  await pages.create(8_192);
  for (const offset of [0, 4_096]) await pages.uploadPages(Buffer.alloc(512, 1), offset, 512);
  const log = box.getAppendBlobClient("log");
  await log.create();
  for (const word of ["one", "two"]) await log.appendBlock(word, word.length);
  const doc = box.getBlockBlobClient("doc");
  await doc.upload("first", 5);
  await doc.createSnapshot();
  await doc.upload("second", 6);
  await box.getBlockBlobClient("small").upload("small", 5);
  await share.create();
  const file = share.getDirectoryClient("").getFileClient("file");
  await file.create(8_192);
  for (const offset of [0, 4_096]) await file.uploadRange(Buffer.alloc(512, 1), offset, 512);
}

/** Changes the last byte that is not zero in each body of an export. */
function damage(folder: string): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const path = join(folder, name);
    if (!statSync(path).isFile() || name.endsWith(".jsonl") || name.includes("%@")) continue;
    const bytes = readFileSync(path);
    const last = bytes.findLastIndex((byte) => byte !== 0);
    bytes[last] = (bytes[last] as number) ^ 1;
    writeFileSync(path, bytes);
  }
}

async function contents(urls: ServedUrls): Promise<Record<string, string>> {
  const { box, share } = at(urls);
  const found: Record<string, string> = {};
  for await (const { name, snapshot } of box.listBlobsFlat({ includeSnapshots: true })) {
    const blob = snapshot
      ? box.getBlobClient(name).withSnapshot(snapshot)
      : box.getBlobClient(name);
    found[`${name} ${snapshot === undefined ? "" : "as it was"}`] =
      `${await blob.downloadToBuffer()}`;
  }
  for await (const { name } of share.getDirectoryClient("").listFilesAndDirectories()) {
    found[name] = `${await share.getDirectoryClient("").getFileClient(name).downloadToBuffer()}`;
  }
  return found;
}

test("damaged bodies leave nothing half written, and do not replace what is there", async () => {
  const [location, target] = [newPath(), newPath()];
  const before = await withServer(location, async (urls) => {
    await fill(urls);
    return contents(urls);
  });
  assert.equal(Object.keys(before).length, 6);
  assert.equal((await run("export", target, "--location", location)).code, 0);
  damage(target);

  const copy = newPath();
  const first = await run("import", target, "--location", copy);
  assert.deepEqual([first.code, first.err.match(/^failed: .* is damaged: /gm)?.length], [3, 5]);
  assert.deepEqual(await withServer(copy, contents), {});

  const again = await run("import", target, "--location", location, "--existing", "overwrite");
  assert.deepEqual([again.code, again.err.match(/^failed: .* is damaged: /gm)?.length], [3, 5]);
  assert.deepEqual(await withServer(location, contents), before);
});
