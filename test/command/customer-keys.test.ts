import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { testKey } from "../sdk/customer-keys.ts";
import { type RawAsked, rawRequest } from "../sdk/raw-request.ts";
import { ACCOUNT } from "../sdk/server.ts";
import { LazuliProcess } from "./process.ts";
import { startOn } from "./stored-data.ts";

const KEY = testKey(0xa7);
const KEY_BYTES = Buffer.alloc(32, 0xa7);
/** In every body and every value of metadata that is sent with a key. */
const SECRET = "what nobody finds on the disk";
/** The same without a key: it shows that the search would find it. */
const KNOWN = "what everybody finds on the disk";
const LARGE_BYTES = 200_000;

const METADATA = { "x-ms-meta-colour": SECRET };
const BODIES = [SECRET, SECRET.repeat(100), SECRET.repeat(LARGE_BYTES / SECRET.length)];

async function ask(lazuli: LazuliProcess, asked: RawAsked): Promise<string> {
  const answer = await rawRequest({ url: await lazuli.urlOf("Blob"), account: ACCOUNT }, asked);
  assert.ok(answer.status < 300, `${asked.path}: ${answer.status} ${answer.text}`);
  return answer.text;
}

const put = (path: string, headers: object, body?: string): RawAsked => ({
  method: "PUT",
  path,
  headers: { ...KEY.headers, ...headers },
  ...(body !== undefined && { body }),
});

/** Writes secrets in every way, and returns what each path must show. */
async function write(lazuli: LazuliProcess): Promise<Map<string, string>> {
  const expected = new Map<string, string>();
  await ask(lazuli, { method: "PUT", path: "/box?restype=container" });
  const known = { "x-ms-blob-type": "BlockBlob" };
  await ask(lazuli, { method: "PUT", path: "/box/known", headers: known, body: KNOWN });
  for (const [at, body] of BODIES.entries()) {
    await ask(lazuli, put(`/box/whole${at}`, { ...METADATA, "x-ms-blob-type": "BlockBlob" }, body));
    expected.set(`/box/whole${at}`, body);
    await ask(lazuli, put(`/box/blocks?comp=block&blockid=AAA${at}`, {}, body));
  }
  const blocks = BODIES.map((_, at) => `<Latest>AAA${at}</Latest>`).join("");
  await ask(
    lazuli,
    put("/box/blocks?comp=blocklist", METADATA, `<BlockList>${blocks}</BlockList>`),
  );
  expected.set("/box/blocks", BODIES.join(""));
  await ask(lazuli, put("/box/log", { ...METADATA, "x-ms-blob-type": "AppendBlob" }));
  for (const body of BODIES) await ask(lazuli, put("/box/log?comp=appendblock", {}, body));
  expected.set("/box/log", BODIES.join(""));
  const size = { "x-ms-blob-content-length": "1024" };
  await ask(lazuli, put("/box/pages", { ...METADATA, ...size, "x-ms-blob-type": "PageBlob" }));
  const pages = SECRET.repeat(20).slice(0, 512);
  const range = { "x-ms-page-write": "update", "x-ms-range": "bytes=512-1023" };
  await ask(lazuli, put("/box/pages?comp=page", range, pages));
  expected.set("/box/pages", "\0".repeat(512) + pages);
  // Data Lake stages appended data, and a flush makes it part of the file.
  await ask(lazuli, put("/box/file?resource=file", {}));
  let position = 0;
  for (const body of BODIES) {
    const path = `/box/file?action=append&position=${position}`;
    await ask(lazuli, { ...put(path, {}, body), method: "PATCH" });
    position += body.length;
  }
  const flush = `/box/file?action=flush&position=${position}`;
  await ask(lazuli, { ...put(flush, {}), method: "PATCH" });
  expected.set("/box/file", BODIES.join(""));
  return expected;
}

function searched(folder: string, text: string | Buffer): boolean {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  return files
    .filter((file) => file.isFile())
    .some((file) => readFileSync(join(file.parentPath, file.name)).includes(text));
}

test("bytes and metadata that come with a key survive kills, and never lie readable on the disk", async (t: TestContext) => {
  const scratch = mkdtempSync(join(tmpdir(), "lazuli-keys-"));
  const folder = join(scratch, "data");
  let lazuli = startOn(folder);
  t.after(async () => {
    await lazuli.kill();
    rmSync(scratch, { recursive: true, force: true });
  });
  const expected = await write(lazuli);
  for (let round = 0; round < 2; round++) {
    await lazuli.kill();
    assert.equal(searched(folder, KNOWN), true);
    assert.equal(searched(folder, SECRET), false, `round ${round}`);
    assert.equal(searched(folder, KEY_BYTES), false, `round ${round}`);
    assert.equal(searched(folder, KEY_BYTES.toString("base64")), false, `round ${round}`);
    lazuli = startOn(folder);
    for (const [path, body] of expected) {
      assert.equal(await ask(lazuli, { path, headers: KEY.headers }), body, path);
    }
  }
  // A checkpoint writes the records to other files.
  lazuli.signal("SIGTERM");
  await lazuli.ended();
  assert.equal(searched(folder, SECRET), false);

  // A backup has the bytes as they are stored, and the key opens them where they are restored.
  const place = join(scratch, "backup");
  const restored = join(scratch, "restored");
  await run("backup", place, "--location", folder);
  await run("restore", place, "--location", restored);
  assert.equal(searched(place, SECRET), false);
  lazuli = startOn(restored);
  for (const [path, body] of expected) {
    assert.equal(await ask(lazuli, { path, headers: KEY.headers }), body, path);
  }
});

async function run(...args: string[]): Promise<void> {
  const { code, err } = await new LazuliProcess(args).ended();
  assert.equal(code, 0, err);
}
