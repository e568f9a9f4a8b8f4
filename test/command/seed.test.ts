import assert from "node:assert/strict";
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { start } from "lazuli";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { FolderServer, lazuli, scratchFolder } from "./folder-server.ts";

const SEED = `
services:
  blob:
    deleteRetentionDays: 3
    defaultServiceVersion: 2021-12-02
    cors:
      - allowedOrigins: ["https://app.example"]
        allowedMethods: [GET, PUT]
        maxAgeSeconds: 60
containers:
  - name: photos
    publicAccess: blob
    metadata: { owner: web, place: "Zürich €", said: voilà }
    policies:
      - { id: readers, permissions: r, expiry: 2099-01-01T00:00:00Z }
    load: files
queues:
  - name: work
    metadata: { team: ops }
    policies:
      - { id: workers, permissions: rp, start: 2026-01-01T00:00:00Z }
    messages:
      - text: hello
      - text: later
        hiddenSeconds: 3600
        lifeSeconds: -1
tables:
  - name: people
    policies:
      - { id: editors, permissions: raud, expiry: 2099-01-01T00:00:00Z }
    entities:
      - PartitionKey: p
        RowKey: r
        age: 7
        big@odata.type: Edm.Int64
        big: "1152921504606846976"
        exact@odata.type: Edm.Int64
        exact: 9007199254740993
        born@odata.type: Edm.DateTime
        born: 2020-01-02T03:04:05Z
shares:
  - name: docs
    quotaGib: 5
    metadata: { kind: papers }
    policies:
      - { id: users, permissions: rwl }
    load: files
accounts:
  - name: second
    queues:
      - name: other
`;

const CONFIG = { accounts: [ACCOUNT, "second"].map((name) => ({ name, keys: [KEY] })) };

function seedIn(t: TestContext, text = SEED, name = "seed.yaml") {
  const folder = scratchFolder(t);
  const file = join(folder, name);
  writeFileSync(file, text);
  mkdirSync(join(folder, "files", "deep"), { recursive: true });
  mkdirSync(join(folder, "files", "empty"));
  writeFileSync(join(folder, "files", "page.html"), "<p>hello</p>");
  writeFileSync(join(folder, "files", "deep", "bytes"), Buffer.alloc(100_000, 7));
  return { folder, file, location: join(folder, "data") };
}

/** Stored access policies without what differs from request to request. */
function identifiersOf({ signedIdentifiers }: { signedIdentifiers: unknown }) {
  return { signedIdentifiers };
}

/** Everything that a client can see of what the seed made, ETags included. */
async function seen(server: FolderServer): Promise<unknown> {
  const blobs = await server.blobs();
  const container = blobs.getContainerClient("photos");
  const properties = await container.getProperties();
  const { signedIdentifiers } = await container.getAccessPolicy();
  const all: unknown[] = [properties.etag, properties.metadata, signedIdentifiers];
  for await (const blob of container.listBlobsFlat()) {
    all.push([blob.name, blob.properties.etag, blob.properties.contentType]);
  }
  const service = await blobs.getProperties();
  all.push(service.cors, service.deleteRetentionPolicy, service.defaultServiceVersion);
  const queue = (await server.queues()).getQueueClient("work");
  all.push((await queue.getProperties()).approximateMessagesCount);
  all.push((await queue.getProperties()).metadata, identifiersOf(await queue.getAccessPolicy()));
  const table = await server.table("people");
  const entity = await table.getEntity("p", "r");
  all.push(entity.etag, entity.age, String(entity.big), entity.born);
  all.push(await table.getAccessPolicy());
  const share = (await server.shares()).getShareClient("docs");
  const file = share.getDirectoryClient("deep").getFileClient("bytes");
  all.push((await share.getProperties()).quota, (await file.getProperties()).etag);
  all.push((await share.getProperties()).metadata, identifiersOf(await share.getAccessPolicy()));
  all.push((await share.getDirectoryClient("empty").getProperties()).etag);
  all.push((await file.downloadToBuffer()).equals(Buffer.alloc(100_000, 7)));
  return all;
}

test("--seed makes everything before the first request, and a second time changes nothing", async (t) => {
  const { file, location } = seedIn(t);
  const server = new FolderServer(t, location, CONFIG, ["--seed", file]);
  const queue = (await server.queues()).getQueueClient("work");
  const first = await seen(server);
  assert.ok(Array.isArray(first));
  const { owner, place, said } = first[1];
  assert.equal(owner, "web");
  assert.equal(Buffer.from(place, "latin1").toString(), "Zürich €", "UTF-8, as clients send it");
  // The client takes the last byte of "à" for a blank, and cuts it off.
  assert.equal(Buffer.from(`${said.trim()}\u00a0`, "latin1").toString(), "voilà");
  assert.deepEqual(
    first
      .filter((one) => Array.isArray(one) && one.length === 3)
      .map(([name, , type]) => [name, type]),
    [
      ["deep/bytes", "application/octet-stream"],
      ["page.html", "text/html"],
    ],
  );
  const { receivedMessageItems: received } = await queue.receiveMessages({ numberOfMessages: 9 });
  assert.deepEqual(
    received.map(({ messageText }) => messageText),
    ["hello"],
  );
  const { signedIdentifiers: workers } = await queue.getAccessPolicy();
  assert.deepEqual(
    workers.map(({ id, accessPolicy }) => [
      id,
      accessPolicy.permissions,
      accessPolicy.startsOn?.toISOString(),
    ]),
    [["workers", "rp", "2026-01-01T00:00:00.000Z"]],
  );
  const [editors] = await (await server.table("people")).getAccessPolicy();
  assert.deepEqual([editors?.id, editors?.accessPolicy?.permission], ["editors", "raud"]);
  const docs = (await server.shares()).getShareClient("docs");
  const [users] = (await docs.getAccessPolicy()).signedIdentifiers;
  assert.deepEqual([users?.id, users?.accessPolicy?.permissions], ["users", "rwl"]);
  const entity = await (await server.table("people")).getEntity("p", "r", {
    disableTypeConversion: true,
  });
  assert.deepEqual(entity.exact, { type: "Int64", value: "9007199254740993" });
  const service = await (await server.blobs()).getProperties();
  assert.equal(service.defaultServiceVersion, "2021-12-02");
  assert.equal(service.cors?.[0]?.allowedMethods, "GET,PUT");
  const [message] = received;
  await queue.deleteMessage(message?.messageId ?? "", message?.popReceipt ?? "");
  const before = await seen(server);

  const again = await lazuli("seed", file, "--location", location);
  assert.equal(again.code, 0, again.err);
  assert.match(again.out, /seed\.yaml: of 13 objects, nothing has changed\.\n$/);
  assert.deepEqual(await seen(server), before, "no ETag, no message has changed");
  await server.stop();
  const next = new FolderServer(t, location, CONFIG, ["--seed", file]);
  assert.deepEqual(await seen(next), before);
});

test("lazuli seed changes what differs, and leaves alone what the seed does not name", async (t) => {
  const { file, folder, location } = seedIn(t);
  const server = new FolderServer(t, location, CONFIG);
  const photos = (await server.blobs()).getContainerClient("photos");
  await photos.create({ metadata: { owner: "old" } });
  await photos.getBlockBlobClient("mine").upload("mine", 4);
  const first = await lazuli("seed", file, "--location", location, "--json");
  assert.deepEqual(JSON.parse(first.out), { changed: 13, objects: 13 });
  assert.equal((await photos.getProperties()).metadata?.owner, "web");
  writeFileSync(join(folder, "files", "page.html"), "<p>changed</p>");
  const second = await lazuli("seed", file, "--location", location, "--json");
  assert.deepEqual(JSON.parse(second.out), { changed: 2, objects: 13 }, "the blob and the file");
  const page = await photos.getBlobClient("page.html").downloadToBuffer();
  assert.equal(String(page), "<p>changed</p>");
  assert.equal(String(await photos.getBlobClient("mine").downloadToBuffer()), "mine");
});

test("mistakes in a seed are named by line and column, and nothing is done then", async (t) => {
  const mistakes: [text: string, pattern: RegExp][] = [
    [
      "containers:\n  - name: a\n    colour: red\n",
      /seed\.yaml:3:5: "containers\[0\]\.colour" is not known/,
    ],
    ["containers:\n  - metadata: {}\n", /seed\.yaml:2:5: "containers\[0\]\.name" is missing/],
    ["queues: [\n", /seed\.yaml:\d+:\d+: this is not valid YAML: /],
    ["queues: &a []\ntables: *a\n", /seed\.yaml:2:9: .*aliases/],
    [
      "containers:\n  - name: ab1\n    load: nowhere\n",
      /seed\.yaml:3:11: .*nowhere is not a folder/,
    ],
    [
      "tables:\n  - name: abc\n    entities:\n      - RowKey: r\n",
      /seed\.yaml:4:9: .*no entity: Prop/,
    ],
    ["accounts:\n  - name: nobody\n", /seed\.yaml:2:11: .*must be an account of this server: dev/],
    [
      `tables:\n  - name: abc\n    entities:\n      - { PartitionKey: p, RowKey: r }\n      - { PartitionKey: p, RowKey: ${"r".repeat(1_025)} }\n`,
      /seed\.yaml:5:9: .*the service refuses it: KeyValueTooLarge/,
    ],
    ["queues:\n  - name: Work\n", /seed\.yaml:2:5: .*the service refuses it: /],
    ["queues:\n  - name: a\n    name: b\n", /seed\.yaml:3:5: .*given twice/],
    [
      'queues:\n  - name: abc\n    metadata:\n      a: "1\\n2"\n',
      /seed\.yaml:4:10: .*must be one line of text/,
    ],
    [
      "queues:\n  - name: abc\n    metadata:\n      one: a\n      One: b\n",
      /seed\.yaml:5:12: .*InvalidMetadata/,
    ],
    [
      `containers:\n  - name: abc\n    metadata:\n      a: ${"x".repeat(8_192)}\n`,
      /seed\.yaml:4:10: .*MetadataTooLarge/,
    ],
    [
      "services:\n  blob:\n    defaultServiceVersion: latest\n",
      /seed\.yaml:3:28: .*must be a version: a date like/,
    ],
    [
      'queues:\n  - name: abc\n    messages:\n      - text: "\\u0001"\n',
      /seed\.yaml:4:15: .*a character that the service cannot send/,
    ],
    [
      "tables:\n  - name: abc\n    entities:\n      - { PartitionKey: p, RowKey: r, n: .nan }\n",
      /seed\.yaml:4:42: .*is a number that JSON does not have/,
    ],
  ];
  const { location, folder, file } = seedIn(t, "containers:\n  - name: first\n");
  const server = new FolderServer(t, location, CONFIG);
  await server.connectionString();
  for (const [text, pattern] of mistakes) {
    writeFileSync(file, text);
    const { code, err } = await lazuli("seed", file, "--location", location);
    assert.notEqual(code, 0, text);
    assert.match(err, pattern);
  }
  symlinkSync("/etc", join(folder, "files", "link"));
  writeFileSync(file, "containers:\n  - name: first\n    load: files\n");
  assert.match((await lazuli("seed", file, "--location", location)).err, /link is no file/);
  rmSync(join(folder, "files", "link"));
  const blank = "x".repeat(1024 * 1024);
  writeFileSync(file, `queues:\n  - name: work # ${blank}\n`);
  assert.match((await lazuli("seed", file, "--location", location)).err, /takes 1 MiB: .*--seed/);
  writeFileSync(file, "shares:\n  - name: docs\n    load: files\n");
  writeFileSync(join(folder, "files", "deep", "what?"), "");
  assert.match(
    (await lazuli("seed", file, "--location", location)).err,
    /seed\.yaml:3:11: .*the service refuses .*files\/deep\/what\?: /,
  );
  await server.stop();
  writeFileSync(file, mistakes[0]?.[0] ?? "");
  const started = await lazuli("--location", location, "--seed", file, "--blobPort", "0");
  assert.equal(started.code, 2);
  assert.match(started.err, /seed\.yaml:3:5: /);
  const none = await lazuli("seed", file, "--location", location);
  assert.match(none.err, /No server runs on .*--seed/);
  assert.match(
    (await lazuli("seed", `${file}x`, "--location", location)).err,
    /cannot be read \(ENO/,
  );
});

test("a program starts a server with a seed as a file or as an object", async (t) => {
  const { file } = seedIn(t, JSON.stringify({ containers: [{ name: "from-file" }] }), "seed.json");
  for (const [seed, name] of [
    [file, "from-file"],
    [{ containers: [{ name: "from-object" }] }, "from-object"],
  ] as const) {
    const server = await start({ services: ["blob"], seed });
    t.after(() => server.stop());
    const blobs = BlobServiceClient.fromConnectionString(server.connectionString);
    assert.ok(await blobs.getContainerClient(name).exists());
  }
  const wrong = start({ seed: { containers: [{ name: "abc", nam: "x" }] } });
  await assert.rejects(wrong, /start\(\) seed\.json:5:7: "containers\[0\]\.nam" is not known/);
});
