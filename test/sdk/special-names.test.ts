import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, test } from "node:test";
import {
  AccountSASPermissions,
  BlobClient,
  BlobSASPermissions,
  BlobServiceClient,
  type ContainerClient,
  generateAccountSASQueryParameters,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { rawRequest } from "./raw-request.ts";
import { CREDENTIAL, startServer, type TestServer } from "./server.ts";

/** Valid blob names that a careless server might not preserve. */
const NAMES = [
  "with space",
  " leading and trailing ",
  "plus+plus",
  "percent%20encoded",
  "percent%2Fslash",
  "%",
  "%25%zz",
  "question?mark=1&other=2",
  "hash#tag",
  "semi;colon:comma,at@dollar$",
  "quotes'and\"more`",
  "<xml>&amp;</xml>",
  "[brackets]{braces}|pipe^caret~tilde",
  "a/",
  "a//",
  "//a",
  "/",
  "a/b/c.txt",
  "trailing.",
  "..trailing/..dots..",
  "...",
  "ünïcødé",
  "e\u0301",
  "\u00e9",
  "日本語/テスト",
  "\u{1f600}/\u{1f468}\u200d\u{1f469}",
  "\u202eright to left",
  "\ufeffmark",
  "\ufffenone",
  "\uffff",
  "x".repeat(1_024),
  "\u20ac".repeat(1_024),
  "\u{1f600}".repeat(512),
  Array.from({ length: 254 }, () => "s").join("/"),
  "CaSe",
  "case",
  "$root",
  "con",
  "null",
];

let server: TestServer;
let client: BlobServiceClient;
let container: ContainerClient;

before(async () => {
  server = await startServer({ blob: { versioning: true, containerRetentionDays: null } });
  client = server.client();
  container = client.getContainerClient("names");
  await container.create();
  await client.setProperties({ deleteRetentionPolicy: { enabled: true, days: 1 } });
});

after(async () => {
  assert.deepEqual(server.failures, []);
  await server.close();
});

const expiresOn = new Date(Date.now() + 3_600_000);

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

function sorted(names: readonly string[]): string[] {
  return names.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}

test("a blob with any name can be written, read, listed, signed for, deleted and restored", async () => {
  for (const name of NAMES) {
    const blob = container.getBlockBlobClient(name);
    assert.equal(blob.name, name);
    await blob.stageBlock("YQ==", name, Buffer.byteLength(name));
    await blob.commitBlockList(["YQ=="]);
    await blob.setMetadata({ length: String(name.length) });
    const { snapshot = "" } = await blob.createSnapshot();
    assert.equal((await blob.withSnapshot(snapshot).downloadToBuffer()).toString(), name);
    const sas = generateBlobSASQueryParameters(
      {
        containerName: "names",
        blobName: name,
        permissions: BlobSASPermissions.parse("r"),
        expiresOn,
      },
      CREDENTIAL,
    );
    const signed = new BlobServiceClient(`${server.url}?${sas}`).getContainerClient("names");
    const found = await signed.getBlobClient(name).getProperties();
    assert.deepEqual(found.metadata, { length: String(name.length) });
    await blob.delete({ deleteSnapshots: "include" });
    await blob.undelete();
    assert.equal((await blob.withSnapshot(snapshot).downloadToBuffer()).toString(), name);
    await blob.upload(name, Buffer.byteLength(name));
  }
  for (const pageSize of [1, 7, 5_000]) {
    const listed: string[] = [];
    for await (const page of container.listBlobsFlat().byPage({ maxPageSize: pageSize })) {
      listed.push(...page.segment.blobItems.map(({ name }) => name));
    }
    assert.deepEqual(listed, sorted(NAMES));
  }
  const states: string[] = [];
  const all = { includeSnapshots: true, includeVersions: true, includeDeleted: true };
  for await (const page of container.listBlobsFlat(all).byPage({ maxPageSize: 3 })) {
    states.push(...page.segment.blobItems.map(({ name }) => name));
  }
  assert.deepEqual([...new Set(states)], sorted(NAMES));
  for (const name of NAMES) {
    const [first] = await allOf(container.listBlobsFlat({ prefix: name }));
    assert.equal(first?.name, name);
  }
});

function everythingSas(): string {
  return generateAccountSASQueryParameters(
    {
      expiresOn,
      permissions: AccountSASPermissions.parse("rwdxylacuptfi"),
      resourceTypes: "sco",
      services: "b",
    },
    CREDENTIAL,
  ).toString();
}

/** Sends a path byte for byte, as clients normalize dots. */
function verbatim(method: string, path: string, body = ""): Promise<[number, string]> {
  const { hostname, port, pathname } = new URL(server.url);
  const separator = path.includes("?") ? "&" : "?";
  const headers = {
    "x-ms-version": "2026-04-06",
    "content-length": String(Buffer.byteLength(body)),
    ...(method === "PUT" && { "x-ms-blob-type": "BlockBlob" }),
  };
  return new Promise((resolve, reject) => {
    const asked = {
      method,
      hostname,
      port,
      headers,
      path: `${pathname}${path}${separator}${everythingSas()}`,
    };
    request(asked, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part));
      answer.on("end", () => {
        const text = Buffer.concat(parts).toString();
        const code = answer.headers["x-ms-error-code"];
        resolve([answer.statusCode ?? 0, typeof code === "string" ? code : text]);
      });
    })
      .on("error", reject)
      .end(body);
  });
}

test("dots are part of a name, encoded or not", async () => {
  const box = client.getContainerClient("dots");
  await box.create();
  const paths = ["a/./b", "a/../b", "..", "../..", "./a", "a/.", "a/.."];
  for (const path of paths) {
    assert.equal((await verbatim("PUT", `/dots/${path}`, path))[0], 201);
  }
  for (const path of paths) {
    assert.deepEqual(await verbatim("GET", `/dots/${path}`), [200, path]);
    const encoded = path.replaceAll(".", "%2e").replaceAll("/", "%2F");
    assert.deepEqual(await verbatim("GET", `/dots/${encoded}`), [200, path]);
  }
  const listed = (await allOf(box.listBlobsFlat())).map(({ name }) => name);
  assert.deepEqual(listed, sorted(paths));
});

test("a name is decoded once, and an invalid encoding is refused", async () => {
  assert.equal((await verbatim("PUT", "/names/%61%2520b", "text"))[0], 201);
  assert.deepEqual(await verbatim("GET", "/names/a%2520b"), [200, "text"]);
  assert.equal((await verbatim("GET", "/names/a%20b"))[0], 404);
  assert.deepEqual(await verbatim("GET", "/%6eames/a%2520b"), [200, "text"]);
  for (const name of ["%", "%z", "a%f", "%FF", "%C3", "%ED%A0%80"]) {
    assert.deepEqual(await verbatim("PUT", `/names/${name}`, "x"), [400, "InvalidUri"], name);
  }
  for (const name of ["%00", "a%07b", "%1F", "%7F", "%C2%85", "%0A"]) {
    assert.deepEqual(
      await verbatim("PUT", `/names/${name}`, "x"),
      [400, "InvalidResourceName"],
      name,
    );
  }
  assert.deepEqual(await verbatim("PUT", `/names/${"x".repeat(1_025)}`), [400, "InvalidUri"]);
  assert.deepEqual(await verbatim("PUT", `/names/${"s/".repeat(254)}`), [400, "InvalidUri"]);
});

test("a backslash in a name is a slash, for writers, readers, SAS and copies alike", async () => {
  const box = client.getContainerClient("backslashes");
  await box.create();
  const blob = box.getBlockBlobClient("a\\b\\c");
  assert.equal(blob.name, "a/b/c");
  assert.match(blob.url, /a%5Cb%5Cc$/);
  await blob.upload("text", 4);
  assert.deepEqual(
    (await allOf(box.listBlobsFlat())).map(({ name }) => name),
    ["a/b/c"],
  );
  assert.equal((await box.getBlobClient("a/b/c").downloadToBuffer()).toString(), "text");
  assert.deepEqual(await verbatim("GET", "/backslashes/a\\b/c"), [200, "text"]);
  const url = await blob.generateSasUrl({ permissions: BlobSASPermissions.parse("r"), expiresOn });
  assert.match(url, /a%5Cb%5Cc\?/);
  assert.equal((await new BlobClient(url).downloadToBuffer()).toString(), "text");
  const copy = box.getBlobClient("x\\copy");
  await copy.syncCopyFromURL(url);
  assert.equal((await box.getBlobClient("x/copy").downloadToBuffer()).toString(), "text");
  await client.getContainerClient("$root").createIfNotExists();
  assert.equal((await verbatim("PUT", "/at%5Croot", "text"))[0], 201);
  assert.deepEqual(await verbatim("GET", "/$root/at/root"), [200, "text"]);
  assert.equal((await verbatim("DELETE", "/$root/at/root"))[0], 202);
  await client.deleteContainer("$root");
});

test("a blob in $root is also found directly below the account", async () => {
  const path = "/crossdomain.xml";
  const type = { "x-ms-blob-type": "BlockBlob" };
  const put = () => rawRequest(server, { method: "PUT", path, headers: type, body: "<x/>" });
  assert.deepEqual([(await put()).status, (await put()).code], [404, "ContainerNotFound"]);
  const root = client.getContainerClient("$root");
  await root.create({ access: "blob" });
  assert.equal((await put()).status, 201);
  const blob = root.getBlockBlobClient("crossdomain.xml");
  assert.equal((await blob.downloadToBuffer()).toString(), "<x/>");
  assert.equal((await rawRequest(server, { path, signed: false })).text, "<x/>");
  assert.equal((await rawRequest(server, { path: `/$root${path}` })).text, "<x/>");
  assert.equal((await rawRequest(server, { method: "HEAD", path })).status, 200);
  const metadata = { "x-ms-meta-colour": "blue" };
  const set = { method: "PUT", path: `${path}?comp=metadata`, headers: metadata };
  assert.equal((await rawRequest(server, set)).status, 200);
  assert.deepEqual((await blob.getProperties()).metadata, { colour: "blue" });
  const sas = generateBlobSASQueryParameters(
    {
      containerName: "$root",
      blobName: "crossdomain.xml",
      permissions: BlobSASPermissions.parse("rd"),
      expiresOn,
    },
    CREDENTIAL,
  );
  const signed = { path: `${path}?${sas}`, signed: false };
  assert.equal((await rawRequest(server, { ...signed, method: "DELETE" })).status, 202);
  assert.equal((await rawRequest(server, { path })).status, 404);
  // A container of the same name is separate.
  await client.createContainer("both");
  await root.getBlockBlobClient("both").upload("blob", 4);
  assert.equal((await rawRequest(server, { path: "/both" })).text, "blob");
  assert.equal((await rawRequest(server, { path: "/both?restype=container" })).status, 200);
});

test("$logs and $web hold blobs like any container, and only $logs is hidden", async () => {
  for (const name of ["$logs", "$web"]) {
    const special = client.getContainerClient(name);
    await special.create();
    const blob = special.getBlockBlobClient("blob/2026/11/16/0000/000000.log");
    await blob.upload(name, name.length);
    assert.equal((await blob.downloadToBuffer()).toString(), name);
    const listed = await allOf(special.listBlobsFlat({ prefix: "blob/2026" }));
    assert.equal(listed.length, 1);
  }
  const names = async (includeSystem: boolean) =>
    (await allOf(client.listContainers({ includeSystem, prefix: "$" }))).map(({ name }) => name);
  assert.ok(!(await names(false)).includes("$logs"));
  assert.ok((await names(true)).includes("$logs"));
});

test("names that XML cannot carry are marked as encoded in lists of every kind", async () => {
  const box = client.getContainerClient("encoded");
  await box.create();
  const name = "folder\uffff/a\ufffe";
  const blob = box.getBlockBlobClient(name);
  await blob.upload("text", 4);
  await blob.createSnapshot();
  const path = "/encoded?restype=container&comp=list";
  const flat = await rawRequest(server, { path: `${path}&include=snapshots,versions` });
  const encoded = '<Name Encoded="true">folder%EF%BF%BF%2Fa%EF%BF%BE</Name>';
  assert.equal(flat.text.split(encoded).length, 4);
  const tree = await rawRequest(server, { path: `${path}&delimiter=/` });
  assert.match(tree.text, /<BlobPrefix><Name Encoded="true">folder%EF%BF%BF%2F<\/Name>/);
  const prefixed = await rawRequest(server, { path: `${path}&prefix=folder%EF%BF%BF` });
  assert.match(prefixed.text, /<Prefix Encoded="true">folder%EF%BF%BF<\/Prefix>/);
  const found = await allOf(box.listBlobsByHierarchy("/"));
  assert.deepEqual(
    found.map((item) => item.name),
    ["folder\uffff/"],
  );
});
