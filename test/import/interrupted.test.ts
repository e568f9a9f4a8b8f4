import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { LazuliProcess } from "../command/process.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { blobsAt, tableAt, tablesAt } from "./fill-account.ts";
import { withProxy } from "./rest-proxy.ts";
import { type ServedUrls, withServer } from "./served.ts";
import { sharesAt } from "./shares.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-interrupted-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
let names = 0;
const newPath = () => join(scratch, `path${++names}`);

type Service = "blob" | "file" | "table";

const addressAt = (service: Service, url: string) =>
  `AccountName=${ACCOUNT};AccountKey=${KEY};${service}Endpoint=${url}`;

/** Runs a command on one service, with a signal at the first request that fits. */
async function interrupted(
  urls: ServedUrls,
  service: Service,
  signal: "SIGINT" | "SIGKILL",
  pattern: RegExp,
  ...args: string[]
): Promise<number | null> {
  let command: LazuliProcess | null = null;
  const meddle = (line: string) => {
    if (command === null || !pattern.test(line)) return undefined;
    command.signal(signal);
    command = null;
    return undefined;
  };
  return withProxy(urls[service], meddle, async (url) => {
    const flags = ["--server", addressAt(service, url), "--parallel", "1"];
    const started = new LazuliProcess([...args, ...flags]);
    command = started;
    const { code } = await started.ended();
    assert.equal(command, null, "the signal was sent");
    return code;
  });
}

async function done(...args: string[]): Promise<void> {
  const { code, err } = await new LazuliProcess(args).ended();
  assert.equal(code, 0, err);
}

const FILES = 40;
const LARGE_BYTES = 9_000_000;

const filled = (async () => {
  const [location, target] = [newPath(), newPath()];
  const expected = await withServer(location, async (urls) => {
    const box = blobsAt(urls.blob).getContainerClient("box");
    await box.create();
    const share = sharesAt(urls.file).getShareClient("docs");
    await share.create();
    const table = tableAt(urls.table, "people");
    await table.createTable();
    for (let at = 0; at < FILES; at++) {
      await box.getBlockBlobClient(`${at}`).upload(Buffer.alloc(70_000, at), 70_000);
      const file = share.getDirectoryClient("").getFileClient(`${at}`);
      await file.create(4);
      await file.uploadRange("text", 0, 4);
      await table.createEntity({ partitionKey: `${at}`, rowKey: "" });
    }
    // Written with several requests.
    const large = share.getDirectoryClient("").getFileClient("0");
    await large.create(LARGE_BYTES);
    await large.uploadData(Buffer.alloc(LARGE_BYTES, 1));
    return describe(urls);
  });
  await done("export", target, "--location", location);
  return { location, target, expected };
})();

async function describe(urls: ServedUrls): Promise<Record<string, string[]>> {
  const found: Record<string, string[]> = { blob: [], file: [], table: [] };
  for await (const { name } of blobsAt(urls.blob).listContainers()) {
    const box = blobsAt(urls.blob).getContainerClient(name);
    for await (const { name: own } of box.listBlobsFlat()) found.blob?.push(own);
  }
  for await (const { name } of sharesAt(urls.file).listShares()) {
    const root = sharesAt(urls.file).getShareClient(name).getDirectoryClient("");
    for await (const { name: own } of root.listFilesAndDirectories()) {
      const bytes = await root.getFileClient(own).downloadToBuffer();
      found.file?.push(`${own}: ${bytes.length} ${bytes.indexOf(0)}`);
    }
  }
  for await (const { name = "" } of tablesAt(urls.table).listTables()) {
    for await (const { partitionKey } of tableAt(urls.table, name).listEntities()) {
      found.table?.push(`${partitionKey}`);
    }
  }
  return found;
}

const WRITES = [
  ["table", /^POST .*\/\$batch/],
  ["file", /^PUT .*\/docs\/\d+\?comp=range/],
] as const;

for (const [service, write] of WRITES) {
  test(`Ctrl-C within a ${service === "file" ? "share" : "table"} leaves nothing, and skip goes on later`, async () => {
    const { target, expected } = await filled;
    const only = ["--only", `${service}:*`];
    await withServer(newPath(), async (urls) => {
      const own = async () => (await describe(urls))[service];
      const run = (...flags: string[]) =>
        interrupted(urls, service, "SIGINT", write, "import", target, ...only, ...flags);
      assert.equal(await run(), 130);
      assert.deepEqual(await own(), []);
      assert.equal(await run("--existing", "skip"), 130);
      const server = ["--server", addressAt(service, urls[service])];
      await done("import", target, ...only, "--existing", "skip", ...server);
      assert.deepEqual(await own(), expected[service]);
    });
  });
}

test("an import that was killed is refused until it is told to overwrite what is there", async () => {
  const { target, expected } = await filled;
  await withServer(newPath(), async (urls) => {
    const only = ["--only", "file:*"];
    // The large file has its first bytes, and no others.
    const write = /^PUT .*\/docs\/0\?comp=range/;
    assert.equal(
      await interrupted(urls, "file", "SIGKILL", write, "import", target, ...only),
      null,
    );
    const server = ["--server", addressAt("file", urls.file)];
    const again = await new LazuliProcess(["import", target, ...only, ...server]).ended();
    assert.equal(again.code, 1);
    assert.match(again.err, /^The share docs exists already\./m);
    await done("import", target, ...only, ...server, "--existing", "overwrite");
    assert.deepEqual((await describe(urls)).file, expected.file);
  });
});

for (const end of ["", ".tar", ".tar.gz"]) {
  const what = end === "" ? "a folder" : `a ${end}`;
  test(`an export to ${what} leaves nothing after Ctrl-C, and nothing lasting after a kill`, async () => {
    const { location, expected } = await filled;
    const folder = newPath();
    const target = join(folder, `export${end}`);
    const read = /^(?:GET .*\/box\/\d+|POST .*lazuli-pipeline)/;
    await withServer(location, async (urls) => {
      const run = (signal: "SIGINT" | "SIGKILL") =>
        interrupted(urls, "blob", signal, read, "export", target);
      assert.equal(await run("SIGINT"), 130);
      assert.deepEqual(readdirSync(folder), []);
      assert.equal(await run("SIGKILL"), null);
      const left = readdirSync(folder);
      assert.ok(left.length > 0 && left.every((name) => name.includes(".partial")), `${left}`);
      await done("export", target, "--server", addressAt("blob", urls.blob));
      assert.deepEqual(readdirSync(folder), [`export${end}`]);
    });
    const copy = newPath();
    await done("import", target, "--location", copy);
    assert.deepEqual((await withServer(copy, describe)).blob, expected.blob);
  });
}
