import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, type ClientRequest, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import {
  BlobSASPermissions,
  type BlobServiceClient,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { refused } from "../sdk/refused.ts";
import { TestSource } from "../sdk/test-source.ts";
import { newKey, ReloadedServer } from "./reloading.ts";

const [KEY1, KEY2, KEY3] = [newKey(), newKey(), newKey()];
const NO_KEY = new RegExp([KEY1, KEY2, KEY3].map((key) => key.replaceAll("+", "\\+")).join("|"));

async function list(client: BlobServiceClient): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of client.listContainers()) names.push(name);
  return names;
}

test("SIGHUP takes over accounts and keys, and one line names them", async (t) => {
  const server = new ReloadedServer(t, {
    accounts: [
      { name: "shop", keys: [KEY1, KEY2] },
      { name: "old", keys: [KEY1] },
    ],
  });
  await (await server.blobs("shop", KEY1)).createContainer("box");
  const line = await server.hangUp({
    accounts: [
      { name: "shop", keys: [KEY3, KEY2] },
      { name: "fresh", keys: [KEY1] },
    ],
  });
  assert.equal(
    line,
    "The configuration is reloaded: added the account fresh; removed the account old; " +
      "other keys of the account shop.",
  );
  await refused(list(await server.blobs("shop", KEY1)), 403, "AuthenticationFailed");
  assert.deepEqual(await list(await server.blobs("shop", KEY2)), ["box"]);
  assert.deepEqual(await list(await server.blobs("shop", KEY3)), ["box"]);
  assert.deepEqual(await list(await server.blobs("fresh", KEY1)), []);
  const error = await refused(list(await server.blobs("old", KEY1)), 403, "AuthenticationFailed");
  assert.match(JSON.stringify(error.details), /The account 'old' is unknown/);
  assert.equal(
    await server.hangUp(),
    "The configuration is reloaded: nothing has changed.",
    "the file is the same",
  );
  assert.doesNotMatch(server.process.errors, NO_KEY);
});

/** The URL of a blob, with a SAS that one key has made. */
async function signedUrl(server: ReloadedServer, key: string): Promise<string> {
  const credential = new StorageSharedKeyCredential("shop", key);
  const permissions = BlobSASPermissions.parse("rcw");
  const expiresOn = new Date(Date.now() + 3_600_000);
  const at = { containerName: "box", blobName: "blob", permissions, expiresOn };
  const sas = generateBlobSASQueryParameters(at, credential);
  return `${await server.origin()}/shop/box/blob?${sas}`;
}

/** Begins an upload of 4 bytes, and resolves once the server has accepted it and wants them. */
async function beginPut(url: string, agent: Agent): Promise<ClientRequest> {
  const headers = { "x-ms-blob-type": "BlockBlob", "content-length": 4, expect: "100-continue" };
  const put = request(url, { method: "PUT", headers, agent });
  put.flushHeaders();
  await once(put, "continue");
  return put;
}

async function answerTo(sent: ClientRequest): Promise<[status: number, localPort: number]> {
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  const { port } = answer.socket.address() as AddressInfo;
  answer.resume();
  await once(answer, "end");
  return [answer.statusCode ?? 0, port];
}

test("a request that began under the old settings ends under them, and its connection stays", async (t) => {
  const server = new ReloadedServer(t, { accounts: [{ name: "shop", keys: [KEY1] }] });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  await (await server.blobs("shop", KEY1)).createContainer("box");
  const url = await signedUrl(server, KEY1);
  const put = await beginPut(url, agent);
  await server.hangUp({ accounts: [{ name: "shop", keys: [KEY2] }] });
  put.end("data");
  const [status, port] = await answerTo(put);
  assert.equal(status, 201);
  const get = request(url, { agent });
  get.end();
  assert.deepEqual(await answerTo(get), [403, port], "the next one on it is refused");
  assert.equal((await fetch(await signedUrl(server, KEY2))).status, 200);
});

test("a bad file is refused with file, line and field, and the old settings stay", async (t) => {
  const good = { accounts: [{ name: "shop", keys: [KEY1] }] };
  const server = new ReloadedServer(t, good);
  const client = await server.blobs("shop", KEY1);
  await client.createContainer("box");
  const account = `{"name": "shop", "keys": ["${KEY2}"]}`;
  for (const [text, place, message] of [
    [`{\n  "accounts": [\n    ${account},\n  ]\n}`, "4:3", "this is not valid JSON"],
    [`{\n  "accounts": [\n    ${account},\n    ${account}\n  ]\n}`, "4:5", '"accounts[1]"'],
    [`{\n  "accounts": [${account}],\n  "frob": 1\n}`, "3:3", '"frob" is not known here'],
    ['{"oauth": {"issuer": "x", "keysUrl": "https://x.example"}}', null, "needs HTTPS"],
  ] as const) {
    const line = await server.hangUp(text);
    assert.match(line, /^The configuration is not reloaded, and the old one stays: /);
    if (place !== null) assert.ok(line.includes(`${server.config}:${place}: `), line);
    assert.ok(line.includes(message), line);
    assert.deepEqual(await list(client), ["box"]);
  }
  assert.doesNotMatch(server.process.errors, NO_KEY);
  assert.match(await server.hangUp({ accounts: [{ name: "shop", keys: [KEY2] }] }), /other keys/);
  await refused(list(client), 403, "AuthenticationFailed");
});

test("a reload takes over domains and settings of accounts, and sources of copies", async (t) => {
  const elsewhere = await TestSource.start();
  t.after(() => elsewhere.close());
  const account = { name: "shop", keys: [KEY1] };
  const server = new ReloadedServer(t, { accounts: [account] });
  const client = await server.blobs("shop", KEY1);
  await client.createContainer("box");
  const blob = client.getContainerClient("box").getBlockBlobClient("blob");
  assert.equal((await blob.upload("a", 1)).versionId, undefined);
  await refused(blob.syncCopyFromURL(`${elsewhere.origin}/object`), 403, "CannotVerifyCopySource");
  const domains = ["files.example"];
  const line = await server.hangUp({
    accounts: [{ ...account, domains, blob: { versioning: true } }],
    copySources: { origins: [elsewhere.origin] },
    maxConnectionsPerAddress: 7,
  });
  assert.equal(
    line,
    "The configuration is reloaded: other domains of the account shop; other settings of the " +
      "account shop; other sources of copies; another limit of connections per address.",
  );
  assert.notEqual((await blob.upload("b", 1)).versionId, undefined);
  await blob.syncCopyFromURL(`${elsewhere.origin}/object`);
  assert.equal((await blob.downloadToBuffer()).toString(), "from elsewhere");
  const asked = request(`${await server.origin()}/box/blob`, {
    headers: { host: "files.example" },
  });
  asked.end();
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  answer.resume();
  assert.equal(answer.headers["x-ms-error-code"], "ResourceNotFound", "the account is known");
});

test("many reloads at once are done one after another, and the last file counts", async (t) => {
  const server = new ReloadedServer(t, { accounts: [{ name: "a0", keys: [KEY1] }] });
  await server.origin();
  for (let round = 1; round <= 5; round++) {
    server.write({ accounts: [{ name: `a${round}`, keys: [KEY1] }] });
    server.process.signal("SIGHUP");
  }
  // Signals that come at once may be delivered as one.
  await server.process.printedError(/added the account a5[;.]/);
  assert.deepEqual(await list(await server.blobs("a5", KEY1)), []);
});

test("a parent process without signals sends the message reload", async (t) => {
  const server = new ReloadedServer(
    t,
    { accounts: [{ name: "shop", keys: [KEY1] }] },
    { ipc: true },
  );
  await server.origin();
  server.process.send("reload");
  assert.match(await server.nextLine(), /nothing has changed/);
});
