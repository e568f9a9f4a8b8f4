import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { LazuliProcess } from "../command/process.ts";
import { blobsAt } from "./fill-account.ts";
import { withServer } from "./served.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-stopping-"));
after(() => rmSync(scratch, { recursive: true, force: true }));

/** Far more than is moved between the first line of progress and the signal. */
const FILES = 5_000;

/** Runs a command, and interrupts it when it has begun. */
async function interrupted(...args: string[]): Promise<number | null> {
  const command = new LazuliProcess(args);
  await command.printedError(/objects/);
  command.signal("SIGINT");
  return (await command.ended()).code;
}

async function containersAt(url: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of blobsAt(url).listContainers()) found.push(name);
  return found;
}

test("Ctrl-C leaves nothing of an import or an export, and skip goes on later", async () => {
  const files = join(scratch, "files");
  mkdirSync(files);
  for (let at = 0; at < FILES; at++) writeFileSync(join(files, `${at}`), "");
  const location = join(scratch, "data");
  const target = join(scratch, "export");
  await withServer(location, async ({ blob }) => {
    const place = ["--location", location];
    const into = [...place, "--into", "blob:box"];
    assert.equal(await interrupted("import", files, ...into), 130);
    assert.deepEqual(await containersAt(blob), []);
    assert.equal(await interrupted("import", files, ...into, "--existing", "skip"), 130);
    const again = await new LazuliProcess(["import", files, ...into, "--existing", "skip"]).ended();
    assert.equal(again.code, 0, again.err);
    let blobs = 0;
    for await (const _ of blobsAt(blob).getContainerClient("box").listBlobsFlat()) blobs++;
    assert.equal(blobs, FILES);
    assert.equal(await interrupted("export", target, ...place), 130);
    assert.deepEqual(readdirSync(scratch).sort(), ["data", "files"]);
  });
});
