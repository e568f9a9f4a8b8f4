import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { start } from "lazuli";
import { CERTIFICATE, CERTIFICATE_KEY } from "../sdk/certificate.ts";
import { freePort } from "./free-ports.ts";
import { type Ended, LazuliProcess } from "./process.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-health-"));
after(() => rmSync(scratch, { recursive: true }));

function health(...args: string[]): Promise<Ended> {
  return new LazuliProcess(["health", ...args]).ended();
}

function portOf(url: string | undefined): string {
  return new URL(url ?? "").port;
}

/** Starts a server that answers each request with a status and a text. */
async function answering(t: TestContext, status: number, text: string): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(text));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => new Promise((resolve) => server.close(resolve)));
  return `${(server.address() as AddressInfo).port}`;
}

test("a serving server is healthy: exit code 0, asked at any of its services", async (t) => {
  const server = await start();
  t.after(() => server.stop());
  for (const service of ["blob", "queue", "table", "file", "dfs"] as const) {
    const url = server.urls[service];
    const ended = await health(`--${service}Port`, portOf(url), "--host", "0.0.0.0");
    assert.deepEqual(ended, { code: 0, out: `healthy: ${url} says: ok\n`, err: "" });
  }
});

test("HTTPS needs no flag, and no certificate that the client trusts", async (t) => {
  const [cert, key] = [join(scratch, "cert.pem"), join(scratch, "key.pem")];
  writeFileSync(cert, CERTIFICATE);
  writeFileSync(key, CERTIFICATE_KEY);
  const server = await start({ services: ["blob"], cert, key });
  t.after(() => server.stop());
  assert.equal((await health("--blobPort", portOf(server.urls.blob))).code, 0);
});

test("a server that cannot serve is unhealthy: exit code 1, with its reason", async (t) => {
  const port = await answering(t, 503, "not serving\n");
  const { code, out, err } = await health("--blobPort", port);
  assert.deepEqual([code, out], [1, ""]);
  assert.equal(err, `unhealthy: http://127.0.0.1:${port} answers 503: not serving\n`);
});

test("where nothing answers, one line says what to do, and the next service is asked", async (t) => {
  const free = `${await freePort()}`;
  const { code, out, err } = await health("--blobPort", free);
  assert.deepEqual([code, out], [1, ""]);
  assert.match(
    err,
    /^unhealthy: nothing answers at http:\/\/127\.0\.0\.1:\d+ \(.*ECONNREFUSED.*\)\. Start the server, or name its port with --blobPort or the like\.\n$/,
  );
  const queues = await start({ services: ["queue"] });
  t.after(() => queues.stop());
  const ports = ["--blobPort", free, "--queuePort", portOf(queues.urls.queue)];
  assert.equal((await health(...ports)).code, 0);
});

test("flags that make no sense are refused with exit code 2", async () => {
  const cases: [args: string[], message: string][] = [
    [["--blobPort", "0"], "--blobPort 0 names no server: give the port that it printed."],
    [["--location", "data"], "--location has no meaning for `lazuli health`."],
    [["--smbPort", "445"], "--smbPort has no meaning for `lazuli health`."],
  ];
  for (const [args, message] of cases) {
    assert.deepEqual(await health(...args), { code: 2, out: "", err: `${message}\n` });
  }
});
