import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import type { ShareClient } from "@azure/storage-file-share";
import { LazuliProcess } from "../command/process.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { withProxy } from "./rest-proxy.ts";
import { withServer } from "./served.ts";
import { sharesAt } from "./shares.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-continued-shares-"));
after(() => rmSync(scratch, { recursive: true, force: true }));
let names = 0;
const newPath = () => join(scratch, `path${++names}`);

const serverAt = (url: string) => [
  "--server",
  `AccountName=${ACCOUNT};AccountKey=${KEY};FileEndpoint=${url}`,
];

const run = (...args: string[]) => new LazuliProcess(args).ended();

async function put(share: ShareClient, path: string, text: string): Promise<void> {
  const file = share.getDirectoryClient("").getFileClient(path);
  await file.create(text.length);
  await file.uploadRange(text, 0, text.length);
}

/** A share that each snapshot shows with other files, and its export. */
const filled = (async () => {
  const [location, target] = [newPath(), newPath()];
  const expected = await withServer(location, async ({ file: url }) => {
    const share = sharesAt(url).getShareClient("album");
    const folder = (path: string) => share.getDirectoryClient(path);
    await share.create({ quota: 5 });
    for (const path of ["a", "b"]) await folder(path).create({ metadata: { at: path } });
    for (const path of ["a/same", "a/changed", "b/in"]) await put(share, path, `first ${path}`);
    await share.createSnapshot({ metadata: { of: "the first" } });
    await put(share, "a/changed", "second");
    await put(share, "a/more", "only in the second");
    await share.createSnapshot();
    await folder("b").deleteFile("in");
    await folder("b").delete();
    await folder("a").deleteFile("more");
    await put(share, "b", "a file now");
    await put(share, "a/changed", "third");
    return describe(url);
  });
  const { code, err } = await run("export", target, "--location", location, "--only", "file:*");
  assert.equal(code, 0, err);
  return { target, expected };
})();

/** What the share and its snapshots hold. */
async function describe(url: string): Promise<unknown[]> {
  const found: unknown[] = [];
  const service = sharesAt(url);
  const all = { includeSnapshots: true, includeMetadata: true };
  for await (const { name, snapshot = "", metadata } of service.listShares(all)) {
    const share = service.getShareClient(name).withSnapshot(snapshot);
    const paths: string[] = [];
    await describeFolder(share, "", paths);
    found.push({ name, snapshot, metadata, paths });
  }
  return found;
}

async function describeFolder(share: ShareClient, path: string, found: string[]): Promise<void> {
  const folder = share.getDirectoryClient(path);
  for await (const { kind, name } of folder.listFilesAndDirectories()) {
    const own = path === "" ? name : `${path}/${name}`;
    if (kind === "directory") {
      const { etag, metadata } = await folder.getDirectoryClient(name).getProperties();
      found.push(`${own}/ ${etag} ${metadata?.at}`);
      await describeFolder(share, own, found);
      continue;
    }
    const { etag } = await folder.getFileClient(name).getProperties();
    const bytes = await folder.getFileClient(name).downloadToBuffer();
    found.push(`${own} ${etag} ${bytes}`);
  }
}

/** Interrupts a command at the first request that fits. */
async function interrupted(url: string, pattern: RegExp, ...args: string[]): Promise<void> {
  let command: LazuliProcess | null = null;
  const meddle = (line: string) => {
    if (!pattern.test(line)) return undefined;
    command?.signal("SIGINT");
    command = null;
    return undefined;
  };
  await withProxy(url, meddle, async (proxied) => {
    const started = new LazuliProcess([...args, ...serverAt(proxied), "--parallel", "1"]);
    command = started;
    const { code } = await started.ended();
    assert.deepEqual([code, command], [130, null], `${pattern}`);
  });
}

const MOMENTS = [
  /^PUT \S+\/album\/a\/same\?comp=range/,
  /^PUT \S+\/album\?\S*comp=snapshot/,
  /^PUT \S+\/album\/a\/more\?comp=range/,
  /^DELETE \S+\/album\/b\/in/,
  /^DELETE \S+\/album\/b\?/,
  /^PUT \S+\/album\/b\?comp=range/,
];

test("an import of a share with snapshots goes on where it was interrupted", async () => {
  const { target, expected } = await filled;
  for (const moment of MOMENTS) {
    await withServer(newPath(), async ({ file: url }) => {
      const args = ["import", target, "--existing", "skip"];
      await interrupted(url, moment, ...args);
      const { code, err } = await run(...args, ...serverAt(url));
      assert.equal(code, 0, err);
      assert.deepEqual(await describe(url), expected, `${moment}`);
    });
  }
});

test("a share that is whole stays as clients have changed it since", async () => {
  const { target } = await filled;
  await withServer(newPath(), async ({ file: url }) => {
    const again = ["import", target, "--existing", "skip", ...serverAt(url)];
    assert.equal((await run(...again)).code, 0);
    const share = sharesAt(url).getShareClient("album");
    await put(share, "a/changed", "by a client");
    await put(share, "a/more", "by a client");
    const changed = await describe(url);
    const { code, err } = await run(...again);
    assert.equal(code, 0, err);
    assert.deepEqual(await describe(url), changed);
  });
});

test("a share with snapshots of its own is not continued", async () => {
  const { target } = await filled;
  await withServer(newPath(), async ({ file: url }) => {
    const share = sharesAt(url).getShareClient("album");
    await share.create();
    await share.createSnapshot();
    const before = await describe(url);
    const { code, err } = await run("import", target, "--existing", "skip", ...serverAt(url));
    assert.equal(code, 1, err);
    assert.match(err, /^The share album has snapshots, .*Delete it, or leave it out /m);
    assert.deepEqual(await describe(url), before);
  });
});
