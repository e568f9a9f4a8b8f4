import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ACCOUNT } from "../sdk/server.ts";
import { FolderServer, lazuli, scratchFolder } from "./folder-server.ts";

interface Told {
  readonly holders: readonly {
    readonly container: string;
    readonly path: string;
    readonly held: { readonly kind: string };
  }[];
  readonly atMs: number;
}

async function heldIn(location: string, ...args: string[]): Promise<string[]> {
  const { code, out, err } = await lazuli("holders", ...args, "--json", "--location", location);
  assert.equal(code, 0, err);
  const { holders, atMs } = JSON.parse(out) as Told;
  assert.ok(atMs > 0);
  return holders.map(({ container, path, held }) => `${held.kind} ${container}/${path}`).sort();
}

/** A leased blob, a leased container, and a message that a client works on. */
async function holdSome(server: FolderServer): Promise<void> {
  const box = (await (await server.blobs()).createContainer("box")).containerClient;
  await box.getBlobLeaseClient().acquireLease(-1);
  const { blockBlobClient } = await box.uploadBlockBlob("docs/a.txt", "a", 1);
  await blockBlobClient.getBlobLeaseClient().acquireLease(-1);
  const queue = (await server.queues()).getQueueClient("work");
  await queue.create();
  await queue.sendMessage("job");
  await queue.receiveMessages({ visibilityTimeout: 600 });
}

test("lazuli holders tells who holds what, of a running server and of its folder later", async (t) => {
  const location = join(scratchFolder(t), "data");
  // The API for commands needs no console.
  const server = new FolderServer(t, location, null, ["--noConsole"]);
  await server.connectionString();
  const none = await lazuli("holders", "--location", location);
  assert.match(none.out, /^Nobody holds anything\. Seen at \d{4}-/);
  await holdSome(server);
  const all = ["lease box/", "lease box/docs/a.txt", "message work/"];
  assert.deepEqual(await heldIn(location), all);
  assert.deepEqual(await heldIn(location, `${ACCOUNT}/box`), all.slice(0, 2));
  assert.deepEqual(await heldIn(location, `${ACCOUNT}/box/docs/`), all.slice(1, 2));
  assert.deepEqual(await heldIn(location, `${ACCOUNT}/bo`), []);
  const { out } = await lazuli("holders", "--location", location);
  assert.match(out, /^what +held by +terms +time +on$/m);
  assert.match(out, /^container lease +lease \S+ +until released +- +devstoreaccount1\/box$/m);
  assert.match(out, /^hidden message +message \S+ +dequeued 1 time +\d+ min \d+ s left +/m);
  assert.match(out, /^3 holders\. Seen at \d{4}-/m);
  await server.stop();
  assert.deepEqual(await heldIn(location), all);
});

test("the API answers at a service's port, to those who can read the data folder", async (t) => {
  const location = join(scratchFolder(t), "data");
  const server = new FolderServer(t, location, null, ["--noConsole"]);
  await holdSome(server);
  const { origin, token } = JSON.parse(await readFile(join(location, "control.json"), "utf8"));
  const ask = async (path: string, options: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${origin}/-/api/${path}`, { headers, ...options });
    return { status: answer.status, type: answer.headers.get("content-type"), answer };
  };
  const { status, type, answer } = await ask("holders");
  assert.deepEqual([status, type], [200, "application/json"]);
  assert.equal(((await answer.json()) as Told).holders.length, 3);
  const home = (await (await ask("home")).answer.json()) as { accounts: { name: string }[] };
  assert.deepEqual(
    home.accounts.map(({ name }) => name),
    [ACCOUNT],
  );
  assert.equal((await ask("requests?after=-1")).status, 400);
  assert.equal((await ask("nothing")).status, 404);
  assert.equal((await ask("holders", { method: "DELETE" })).status, 404);
  assert.equal((await ask("why", { method: "POST", body: "{" })).status, 400);
  for (const headers of [{}, { authorization: "Bearer wrong" }]) {
    const refused = await ask("holders", { headers });
    assert.equal(refused.status, 401);
    assert.match(await refused.answer.text(), /control\.json of the data folder/);
  }
});

test("lazuli holders refuses a folder without data, and a second place", async (t) => {
  const folder = scratchFolder(t);
  const none = await lazuli("holders", "--location", folder);
  assert.equal(none.code, 1);
  assert.match(none.err, /is not a data folder/);
  const two = await lazuli("holders", "a/b", "c/d", "--location", folder);
  assert.equal(two.code, 2);
});
