import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { BlobServiceClient } from "@azure/storage-blob";
import { type RunningServer, start } from "lazuli";
import { LAB_ROUTES } from "../../src/lab/api.ts";
import { freePort } from "./free-ports.ts";

const LAZULI = fileURLToPath(new URL("../../../bin/lazuli.cjs", import.meta.url));
const REFERENCE = new URL("../../../docs/reference/lab-api.md", import.meta.url);

interface Done {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

async function lazuli(...args: string[]): Promise<Done> {
  try {
    const { stdout, stderr } = await promisify(execFile)(process.execPath, [LAZULI, ...args]);
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as Done;
  }
}

function labOf(server: RunningServer) {
  const port = new URL(server.labUrl ?? "").port;
  return (...args: string[]) => lazuli("lab", ...args, "--labPort", port);
}

test("commands change clocks, set rules, save and restore", async (t) => {
  const server = await start({ services: ["blob"], lab: true });
  t.after(() => server.stop());
  const lab = labOf(server);
  assert.match((await lab("clock", "set", "2030-01-01T00:00:00Z")).stdout, /^2030-01-01T00:00:0/);
  assert.match((await lab("clock", "freeze")).stdout, /\(frozen, \d+ s ahead\)\n$/);
  const { stdout } = await lab("clock", "back", "1d", "--account", "devstoreaccount1");
  assert.match(stdout, /\ndevstoreaccount1: 2029-12-31T00:00:0/);
  assert.equal(
    (await lab("rule", "operation=PutBlob", "answer=503", "times=2")).stdout,
    "rule 1\n",
  );
  assert.equal((await lab("rule", '{"hold": true, "object": "a b"}')).stdout, "rule 2\n");
  assert.equal((await lab("clear", "2")).stdout, "done\n");
  const status = JSON.parse((await lab("status")).stdout);
  assert.deepEqual(status.rules[0].rule, { operation: "PutBlob", answer: 503, times: 2 });
  assert.equal(status.rules.length, 1);
  assert.equal((await lab("waiting")).stdout, "[]\n");
  assert.equal((await lab("release")).stdout, "released: 0\n");
  assert.equal((await lab("seed", "7")).stdout, "done\n");
  assert.equal((await lab("save", "here")).stdout, "done\n");
  assert.equal((await lab("restore", "here")).stdout, "done\n");
  assert.equal((await lab("reset")).stdout, "done\n");
});

test("a refusal of the lab, and a missing lab, print one line", async (t) => {
  const server = await start({ services: ["blob"], lab: true });
  t.after(() => server.stop());
  const lab = labOf(server);
  const { code, stderr } = await lab("clock", "move", "soon");
  assert.equal(code, 1);
  assert.match(stderr, /^move must be a duration such as "500ms", "20s"/);
  assert.match((await lab("clock", "forward")).stderr, /Say move 20s, back 5m, set/);
  assert.match((await lab("rule", "PutBlob")).stderr, /"PutBlob" is no field of a rule/);
  assert.match(
    (await lab("clock")).stderr,
    /`lazuli lab clock` needs a change…: lazuli lab clock <change…>/,
  );
  const gone = await lazuli("lab", "status", "--labPort", `${await freePort()}`);
  assert.match(gone.stderr, /^No lab answers at http:.*Start the server with --lab/);
});

test("the lab is refused beyond loopback and without --lab, and to pages of a browser", async (t) => {
  const open = await lazuli(
    "--lab",
    "--host",
    "0.0.0.0",
    "--trustNetwork",
    "--inMemoryPersistence",
  );
  assert.match(open.stderr, /^Refusing to listen on 0\.0\.0\.0 with --lab/);
  assert.match((await lazuli("--labPort", "1")).stderr, /switch it on with --lab/);
  const plain = await start({ services: ["blob"] });
  t.after(() => plain.stop());
  assert.equal(plain.labUrl, null);
  const server = await start({ services: ["blob"], lab: true });
  t.after(() => server.stop());
  const ask = async (headers: Record<string, string>) =>
    (await fetch(`${server.labUrl}/rules`, { headers })).status;
  assert.equal(await ask({}), 200);
  assert.equal(await ask({ origin: "http://evil.example" }), 403);
  assert.equal(await ask({ origin: server.labUrl ?? "" }), 403);
});

test("a recording is checked and drawn by commands, and so is a scene", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-check-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const server = await start({ services: ["blob"], lab: true });
  t.after(() => server.stop());
  const lab = labOf(server);
  const svg = join(folder, "scene.svg");
  const scene = await lab("scene", "lost-update", "--clients", "2", "--svg", svg);
  assert.match(scene.stdout, /\d\. client \d: put If-Match → 412 ConditionNotMet\n/);
  assert.match(scene.stdout, /All answers about 1 objects can be explained\n$/);
  assert.match(readFileSync(svg, "utf8"), /^<svg /);
  assert.equal((await lab("record", "start")).stdout, "recording\n");
  const blobs = BlobServiceClient.fromConnectionString(server.connectionString);
  const container = blobs.getContainerClient("box");
  await container.create();
  const { etag } = await container.getBlockBlobClient("doc").upload("one", 3);
  await container.getBlockBlobClient("doc").getProperties();
  assert.match((await lab("scene", "batch-race")).stderr, /A recording runs: stop it first/);
  const { stdout: text } = await lab("record", "stop");
  const file = join(folder, "history.json");
  writeFileSync(file, text);
  const good = await lazuli("check", file, "--svg", svg);
  assert.equal(good.code, 0, good.stderr);
  assert.match(good.stdout, /\/box\/doc: 2 operations, in an order that explains all\n/);
  // A read that shows what nobody wrote.
  const at = text.lastIndexOf(`${etag}`.replaceAll('"', ""));
  writeFileSync(file, `${text.slice(0, at)}0x1${text.slice(at + 3)}`);
  const bad = await lazuli("check", file);
  assert.equal(bad.code, 3);
  assert.match(bad.stdout, /no order explains more than 1 of 2 operations/);
  writeFileSync(file, "{}");
  const none = await lazuli("check", file);
  assert.equal(none.code, 1);
  assert.match(none.stderr, /is no history: it must be \{"format": "lazuli-history\/1"/);
});

test("the reference lists exactly the requests of the API", () => {
  const rows = readFileSync(REFERENCE, "utf8").matchAll(/^\| `((?:GET|POST|DELETE) \/[^`]*)` \|/gm);
  const listed = [...rows].map(([, route]) => route);
  assert.deepEqual(listed.toSorted(), Object.keys(LAB_ROUTES).toSorted());
});
