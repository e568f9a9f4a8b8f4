import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { SmbClient, TcpLine } from "../../src/front/smb/smb-client.fixture.ts";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../sdk/certificate.ts";
import { LazuliProcess } from "./process.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-connections-"));
after(() => rmSync(scratch, { recursive: true }));

function start(
  t: TestContext,
  args: readonly string[],
  env?: Record<string, string>,
): LazuliProcess {
  const lazuli = new LazuliProcess(["--inMemoryPersistence", ...ANY_PORTS, ...args], env);
  t.after(() => lazuli.kill());
  return lazuli;
}

async function portOf(lazuli: LazuliProcess, service: "Blob" | "SMB"): Promise<number> {
  return Number(await lazuli.printed(new RegExp(`^${service} service .*:(\\d+)$`, "m")));
}

/** Returns what a connection receives next; "" if it was closed. */
async function askHealth(socket: Socket): Promise<string> {
  if (socket.closed) return "";
  socket.write("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  return new Promise((resolve) => {
    socket.once("data", (bytes) => resolve(String(bytes)));
    socket.once("close", () => resolve(""));
  });
}

function connected(port: number): Socket {
  return connect(port, "127.0.0.1").on("error", () => {});
}

test("--maxConnections limits each REST service", async (t) => {
  const lazuli = start(t, ["--maxConnections", "1"]);
  const port = await portOf(lazuli, "Blob");
  const first = connected(port);
  assert.match(await askHealth(first), /^HTTP\/1.1 200 /);
  const second = connected(port);
  assert.match(await askHealth(second), /^HTTP\/1.1 200 /);
  assert.equal(await askHealth(first), "", "the first one idled, and made room");
  second.destroy();
});

test("--maxConnections limits SMB, too", async (t) => {
  const lazuli = start(t, ["--maxConnections", "1"]);
  const port = await portOf(lazuli, "SMB");
  const [first, second] = [await TcpLine.open(port), await TcpLine.open(port)];
  assert.equal((await new SmbClient(second).negotiate()).status, 0);
  await assert.rejects(new SmbClient(first).negotiate(), /closed the connection/);
  second.close();
});

/**
 * Starts a server that waits an hour for handshakes and for running work at its stop, so that only
 * the stop itself can close a connection in time.
 */
const LIMITS_FILE = new URL("../../src/front/rest/http/limits.js", import.meta.url);
const PATIENT = `--import=data:text/javascript,${encodeURIComponent(
  `import { DEFAULT_LIMITS } from "${LIMITS_FILE}";
   Object.assign(DEFAULT_LIMITS, { headersMs: 3_600_000, drainMs: 3_600_000 });`,
)}`;

test("SIGTERM does not wait for a connection that has not started TLS", async (t) => {
  const [cert, key] = [join(scratch, "cert.pem"), join(scratch, "key.pem")];
  writeFileSync(cert, CERTIFICATE);
  writeFileSync(key, CERTIFICATE_KEY);
  const lazuli = start(t, ["--cert", cert, "--key", key], { NODE_OPTIONS: PATIENT });
  const port = await portOf(lazuli, "Blob");
  const bare = connected(port);
  await once(bare, "connect");
  // Once this is answered, the server has accepted the previous connection.
  const request = get({ port, path: "/healthz", ca: CERTIFICATE, agent: false });
  const [answer] = await once(request, "response");
  answer.resume();
  await once(answer, "end");
  lazuli.signal("SIGTERM");
  assert.equal((await lazuli.ended()).code, 0);
});
