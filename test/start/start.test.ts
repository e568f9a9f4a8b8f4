import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import { type RunningServer, type StartOptions, start } from "lazuli";
import { freePort } from "../command/free-ports.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../sdk/certificate.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-start-"));
after(() => rmSync(scratch, { recursive: true }));

async function started(t: TestContext, options?: StartOptions): Promise<RunningServer> {
  const server = await start(options);
  t.after(() => server.stop());
  return server;
}

function blobsOf({ connectionString }: Pick<RunningServer, "connectionString">) {
  return BlobServiceClient.fromConnectionString(connectionString);
}

async function containersOf(server: Pick<RunningServer, "connectionString">): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of blobsOf(server).listContainers()) names.push(name);
  return names;
}

test("the connection string is good for the clients of all four services", async (t) => {
  const { connectionString } = await started(t);
  await blobsOf({ connectionString }).createContainer("box");
  await QueueServiceClient.fromConnectionString(connectionString).createQueue("work");
  await ShareServiceClient.fromConnectionString(connectionString).createShare("docs");
  const http = { allowInsecureConnection: true };
  await TableClient.fromConnectionString(connectionString, "people", http).createTable();
  assert.deepEqual(await containersOf({ connectionString }), ["box"]);
});

test("servers of one process have nothing in common, and stop in any order", async (t) => {
  const location = (name: string) => ({ location: join(scratch, name) });
  const servers = [
    await started(t),
    await started(t, location("first")),
    await started(t),
    await started(t, location("second")),
  ];
  await Promise.all(servers.map((server, at) => blobsOf(server).createContainer(`box-${at}`)));
  const left = new Map(servers.entries());
  for (const at of [1, 0, 3, 2]) {
    for (const [other, server] of left) {
      assert.deepEqual(await containersOf(server), [`box-${other}`]);
    }
    await servers[at]?.stop();
    left.delete(at);
  }
});

test("metrics are served if a port is given for them", async (t) => {
  const { metricsUrl } = await started(t, { services: ["blob"], metricsPort: 0 });
  assert.match(await (await fetch(metricsUrl ?? "")).text(), /^lazuli_build_info/m);
  assert.equal((await started(t, { services: ["blob"] })).metricsUrl, null);
});

test("only the chosen services listen, at the URLs that are returned", async (t) => {
  const { urls, accounts, connectionString } = await started(t, { services: ["queue", "smb"] });
  assert.deepEqual(Object.keys(urls), ["queue", "smb"]);
  assert.equal((await fetch(`${urls.queue}/healthz`)).status, 200);
  const { hostname, port } = new URL(urls.smb ?? "");
  await new Promise<void>((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => resolve(void socket.end()));
    socket.on("error", reject);
  });
  const account = accounts[ACCOUNT];
  assert.deepEqual([account?.name, account?.key], [ACCOUNT, KEY]);
  assert.deepEqual(account?.urls, { queue: `${urls.queue}/${ACCOUNT}` });
  assert.equal(account?.connectionString, connectionString);
});

test("each account gets a connection string with its own key", async (t) => {
  const keys = [1, 2].map((byte) => Buffer.alloc(64, byte).toString("base64"));
  const [shopKey = "", stockKey = ""] = keys;
  const { accounts, connectionString } = await started(t, {
    accounts: [
      { name: "shop", keys: [shopKey], blob: { versioning: true } },
      { name: "stock", keys: [stockKey, shopKey] },
    ],
  });
  assert.deepEqual(Object.keys(accounts), ["shop", "stock"]);
  assert.equal(accounts.shop?.connectionString, connectionString);
  assert.equal(accounts.stock?.key, stockKey);
  await blobsOf({ connectionString }).createContainer("box");
  const blob = blobsOf({ connectionString }).getContainerClient("box").getBlockBlobClient("a");
  assert.ok((await blob.upload("1", 1)).versionId);
  for (const account of Object.values(accounts)) {
    assert.deepEqual(await containersOf(account), account.name === "shop" ? ["box"] : []);
  }
});

test("a folder keeps what was written, and takes one server at a time", async (t) => {
  const options: StartOptions = { location: join(scratch, "kept"), services: ["blob"] };
  const first = await started(t, options);
  await blobsOf(first).createContainer("kept");
  await assert.rejects(start(options), /is in use by another Lazuli: stop that one/);
  await first.stop();
  assert.deepEqual(await containersOf(await started(t, options)), ["kept"]);
});

test("a start that is refused leaves nothing behind", async (t) => {
  const location = join(scratch, "refused");
  const { urls } = await started(t, { services: ["queue"] });
  const taken = Number(new URL(urls.queue ?? "").port);
  await assert.rejects(start({ location, queuePort: taken }), {
    message: `The Queue service cannot listen on 127.0.0.1, port ${taken}: the port is in use. Stop the other program, or choose a port with --queuePort.`,
  });
  await started(t, { location });
});

test("HTTPS is in the URLs, with the name that was asked for", async (t) => {
  const [cert, key] = [join(scratch, "cert.pem"), join(scratch, "key.pem")];
  writeFileSync(cert, CERTIFICATE);
  writeFileSync(key, CERTIFICATE_KEY);
  const { connectionString } = await started(t, { host: "localhost", cert, key });
  assert.match(connectionString, /^DefaultEndpointsProtocol=https;/);
  assert.match(connectionString, /BlobEndpoint=https:\/\/localhost:\d+\//);
});

test("lines reach the caller only, and process, console and signals stay as they were", async (t) => {
  const events = () => process.eventNames().map((name) => [name, process.listenerCount(name)]);
  const before = [events(), console.error, process.exitCode, process.env.UV_THREADPOOL_SIZE];
  const printed = t.mock.method(process.stderr, "write");
  const lines: string[] = [];
  const server = await started(t, {
    accounts: [{ name: "shop", keys: ["c2hvcnQ="] }],
    services: ["blob"],
    log: "-",
    onLine: (line) => lines.push(line),
  });
  await containersOf(server);
  assert.deepEqual(
    [events(), console.error, process.exitCode, process.env.UV_THREADPOOL_SIZE],
    before,
  );
  await server.stop();
  assert.equal(printed.mock.callCount(), 0);
  assert.match(lines.join("\n"), /a key of the account "shop" is shorter than 16 bytes/);
  assert.match(lines.join("\n"), /GET \/shop\/\?comp=list/);
});

test("stop can be called again, and a scope with `await using` stops the server at its end", async () => {
  let url = "";
  {
    await using server = await start({ services: ["blob"], blobPort: await freePort() });
    url = `${server.urls.blob}/healthz`;
    assert.equal((await fetch(url)).status, 200);
  }
  await assert.rejects(fetch(url));
  const server = await start({ services: ["blob"] });
  await Promise.all([server.stop(), server.stop()]);
  await server.stop();
});
