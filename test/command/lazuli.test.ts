import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { get, globalAgent } from "node:https";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { anyPorts } from "../../src/main/any-ports.fixture.ts";
import { CERTIFICATE, CERTIFICATE_KEY, CERTIFICATE_PFX } from "../sdk/certificate.ts";
import { CREDENTIAL } from "../sdk/server.ts";
import { freePort } from "./free-ports.ts";
import { LazuliProcess } from "./process.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-"));
after(() => rmSync(scratch, { recursive: true }));

const KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const READY = /^Blob service is successfully listening at (https?:\/\/\S+:\d+)$/m;

const OTHER_PORTS = anyPorts(["queue", "table", "file", "dfs", "smb"]);

function start(t: TestContext, ...args: string[]): LazuliProcess {
  const lazuli = new LazuliProcess([...args, ...OTHER_PORTS]);
  t.after(() => lazuli.kill());
  return lazuli;
}

async function originOf(lazuli: LazuliProcess): Promise<string> {
  return (await lazuli.printed(READY)) as string;
}

function clientAt(origin: string): BlobServiceClient {
  return BlobServiceClient.fromConnectionString(
    `DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=${KEY};BlobEndpoint=${origin}/devstoreaccount1;`,
  );
}

test("the start prints version, data and accounts, then a ready line with the real port for each service", async (t) => {
  const lazuli = start(t, "--inMemoryPersistence", "--blobPort", "0");
  const origin = await originOf(lazuli);
  const health = await fetch(`${origin}/healthz`);
  assert.equal(health.status, 200);
  lazuli.signal("SIGTERM");
  const { code, out, err } = await lazuli.ended();
  assert.deepEqual([code, err], [0, ""]);
  const [version, data, accounts, ...lines] = out.trimEnd().split("\n");
  const ready = lines.slice(0, -1);
  assert.match(lines.at(-1) ?? "", /^Console: http:\/\/127\.0\.0\.1:\d+\/#token=[\w-]+$/);
  assert.match(version ?? "", /^Lazuli \d+\.\d+\.\d+$/);
  assert.deepEqual([data, accounts], ["Data: in memory", "Accounts: devstoreaccount1"]);
  for (const line of ready) assert.match(line, /^\w+ service is successfully listening at \S+$/);
});

test("data survives a stop and a kill", async (t) => {
  const location = join(scratch, "kept");
  const args = ["start", "--location", location, "--blobPort", "0"];
  const names: string[] = [];
  for (const signal of ["SIGINT", "SIGKILL", "SIGTERM"] as const) {
    const lazuli = start(t, ...args);
    const client = clientAt(await originOf(lazuli));
    const container = client.getContainerClient("kept");
    await container.createIfNotExists();
    for (const name of names) {
      const blob = await container.getBlockBlobClient(name).downloadToBuffer();
      assert.equal(String(blob.subarray(0, 7)), name.slice(0, 7));
    }
    const name = `${signal} `;
    // One body that is stored in its record, and one that is not.
    await container.getBlockBlobClient(name).upload(name, name.length);
    const long = name.repeat(10_000);
    await container.getBlockBlobClient(`${name}long`).upload(long, long.length);
    names.push(name, `${name}long`);
    lazuli.signal(signal);
    const { code } = await lazuli.ended();
    assert.equal(code, signal === "SIGKILL" ? null : 0);
  }
});

test("--silent prints nothing; --log and --debug write files without secrets", async (t) => {
  const [log, debug] = [join(scratch, "access.log"), join(scratch, "debug.log")];
  const port = String(await freePort());
  const args = ["--inMemoryPersistence", "--silent", "--log", log, "--debug", debug];
  const lazuli = start(t, ...args, "--blobPort", port);
  const origin = `http://127.0.0.1:${port}`;
  await untilHealthy(lazuli, origin);
  await clientAt(origin).createContainer("seen");
  lazuli.signal("SIGTERM");
  const { code, out, err } = await lazuli.ended();
  assert.deepEqual([code, out, err], [0, "", ""]);
  const line = / blob 127\.0\.0\.1 "PUT \/devstoreaccount1\/seen\?restype=container" 201 0 0 /;
  assert.match(readFileSync(log, "utf8"), line);
  const text = readFileSync(debug, "utf8");
  assert.match(text, /SharedKey devstoreaccount1:\[redacted\]/i);
  assert.doesNotMatch(text, /SharedKey devstoreaccount1:[A-Za-z0-9+/]{20}/i);
});

test("--cert serves HTTPS, with the key in its own file or in the same one", async (t) => {
  const cert = join(scratch, "cert.pem");
  const key = join(scratch, "key.pem");
  const both = join(scratch, "both.pem");
  writeFileSync(cert, CERTIFICATE);
  writeFileSync(key, CERTIFICATE_KEY);
  writeFileSync(both, Buffer.concat([CERTIFICATE_KEY, CERTIFICATE]));
  for (const files of [
    ["--cert", cert, "--key", key],
    ["--cert", both],
  ]) {
    const lazuli = start(t, "--inMemoryPersistence", "--blobPort", "0", ...files);
    const { hostname, port, protocol } = new URL(await originOf(lazuli));
    assert.equal(protocol, "https:");
    const request = get({ hostname, port, path: "/healthz", ca: CERTIFICATE });
    const [answer] = await once(request, "response");
    assert.equal(answer.statusCode, 200);
    answer.resume();
  }
});

test("--cert with a PFX file and --pwd serves an SDK over HTTPS", async (t) => {
  const cert = join(scratch, "both.pfx");
  writeFileSync(cert, CERTIFICATE_PFX);
  const memory = ["--inMemoryPersistence", "--blobPort", "0"];
  const lazuli = start(t, ...memory, "--cert", cert, "--pwd", "secret");
  const origin = await originOf(lazuli);
  assert.match(origin, /^https:/);
  // The SDK has no option for certificates: it uses those of the global agent.
  globalAgent.options.ca = CERTIFICATE;
  t.after(() => {
    delete globalAgent.options.ca;
  });
  const options = { keepAliveOptions: { enable: false }, retryOptions: { maxTries: 1 } };
  const client = new BlobServiceClient(`${origin}/devstoreaccount1`, CREDENTIAL, options);
  const container = client.getContainerClient("pfx");
  await container.create();
  await container.getBlockBlobClient("b").upload("text", 4);
  assert.equal(String(await container.getBlockBlobClient("b").downloadToBuffer()), "text");

  const wrong = await start(t, ...memory, "--cert", cert, "--pwd", "other").ended();
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /^The certificate .*both\.pfx cannot be used[^\n]*--pwd[^\n]*\n$/);
});

test("a failed start prints one line on standard error that says what to do", async (t) => {
  const file = join(scratch, "a-file");
  writeFileSync(file, "");
  const shortKey = join(scratch, "short-key.json");
  const accounts = [{ name: "shop", keys: [Buffer.alloc(15).toString("base64")] }];
  writeFileSync(shortKey, JSON.stringify({ accounts }));
  const taken = createServer().listen(0, "127.0.0.1");
  t.after(() => taken.close());
  const port = await new Promise<string>((resolve) => {
    taken.on("listening", () => resolve(String((taken.address() as { port: number }).port)));
  });
  const memory = ["--inMemoryPersistence", "--blobPort"];
  const wrong: [number, RegExp, ...string[]][] = [
    [2, /There is no flag --blobprt/, "--blobprt", "1"],
    [2, /--blobPort needs a port/, "--blobPort", "x"],
    [2, /well-known development key/, "--host", "0.0.0.0"],
    [2, /"shop" is shorter than 16 bytes/, "--host", "0.0.0.0", "--config", shortKey],
    [1, /the port is in use\. .*choose a port with --blobPort/, ...memory, port],
    [
      1,
      /Give an address of this machine with --blobHost/,
      ...memory,
      "0",
      "--blobHost",
      "localhost.invalid",
      "--trustNetwork",
    ],
    [
      1,
      /choose another folder with --location/,
      "--location",
      join(file, "below"),
      "--blobPort",
      "0",
    ],
    [1, /none\.pem cannot be read/, "--cert", join(scratch, "none.pem")],
  ];
  for (const [code, message, ...args] of wrong) {
    const ended = await start(t, ...args).ended();
    assert.match(ended.err, message);
    assert.match(ended.err, /^[^\n]+\n$/, "one line");
    assert.deepEqual([ended.code, ended.out], [code, ""]);
  }
  assert.equal(existsSync("lazuli-data"), false, "nothing was left behind");
});

test("two servers cannot use one data folder", async (t) => {
  const args = ["--location", join(scratch, "shared"), "--blobPort", "0"];
  await originOf(start(t, ...args));
  const { code, err } = await start(t, ...args).ended();
  assert.equal(code, 1);
  assert.match(err, /^[^\n]+\n$/, "one line");
});

test("--help and --version print and end with 0", async (t) => {
  const help = await start(t, "--help").ended();
  assert.equal(help.code, 0);
  assert.match(help.out, /^Lazuli serves .*\n\nUsage: lazuli \[command\] \[flags\]\n/);
  const version = await start(t, "-v").ended();
  assert.deepEqual([version.code, version.err], [0, ""]);
  assert.match(version.out, /^\d+\.\d+\.\d+\n$/);
});

/** Waits for the health endpoint, as a silent server does not say when it is ready. */
async function untilHealthy(lazuli: LazuliProcess, origin: string): Promise<void> {
  while (lazuli.isRunning) {
    const answer = await fetch(`${origin}/healthz`).catch(() => null);
    if (answer?.status === 200) return;
  }
}
