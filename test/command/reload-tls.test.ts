import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { connect, type TLSSocket } from "node:tls";
import { SignJWT } from "jose";
import { askSecurely, TENANT, USER } from "../sdk/bearer.ts";
import {
  CERTIFICATE,
  CERTIFICATE_KEY,
  RENEWED_CERTIFICATE,
  RENEWED_CERTIFICATE_KEY,
} from "../sdk/certificate.ts";
import type { TestService } from "../sdk/server.ts";
import { LazuliProcess } from "./process.ts";
import { newKey, ReloadedServer } from "./reloading.ts";

const ACCOUNT = { name: "shop", keys: [newKey()] };
const FILES = { "cert.pem": CERTIFICATE, "key.pem": CERTIFICATE_KEY };
const FLAGS = ["--cert", "cert.pem", "--key", "key.pem"];

async function connected(origin: string): Promise<TLSSocket> {
  const socket = connect({
    port: Number(new URL(origin).port),
    host: "127.0.0.1",
    ca: [CERTIFICATE, RENEWED_CERTIFICATE],
  });
  await once(socket, "secureConnect");
  return socket;
}

/** The status line of an answer on a connection that stays open. Fails if it was closed. */
async function askOn(socket: TLSSocket): Promise<string> {
  socket.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  return await new Promise((resolve, reject) => {
    const fail = () => reject(new Error("the connection was closed"));
    socket.once("close", fail).once("data", (bytes) => {
      socket.off("close", fail);
      resolve(String(bytes).split("\r\n")[0] ?? "");
    });
  });
}

const serialOf = (socket: TLSSocket) => socket.getPeerCertificate().serialNumber;

for (const listener of ["own", "node"]) {
  test(`a renewed certificate is shown to new connections, and old ones stay (${listener})`, async (t) => {
    const args = [...FLAGS, "--listener", listener];
    const server = new ReloadedServer(t, { accounts: [ACCOUNT] }, { args, files: FILES });
    const origin = await server.origin();
    const old = await connected(origin);
    assert.match(await askOn(old), / 200 /);
    server.save("cert.pem", RENEWED_CERTIFICATE);
    assert.match(
      await server.hangUp(),
      /The certificate .*cert\.pem cannot be used.*belong together/,
    );
    server.save("key.pem", RENEWED_CERTIFICATE_KEY);
    assert.equal(await server.hangUp(), "The configuration is reloaded: another certificate.");
    const fresh = await connected(origin);
    assert.match(await askOn(old), / 200 /);
    assert.match(await askOn(fresh), / 200 /);
    assert.notEqual(serialOf(fresh), serialOf(old));
    for (const socket of [old, fresh]) socket.destroy();
  });
}

test("lazuli reload reaches a server with a certificate of its own", async (t) => {
  const server = new ReloadedServer(t, { accounts: [ACCOUNT] }, { args: FLAGS, files: FILES });
  await server.origin();
  const command = new LazuliProcess(["reload", "--location", server.location]);
  const { code, out } = await command.ended();
  assert.deepEqual([code, out], [0, "The configuration is reloaded: nothing has changed.\n"]);
});

const ISSUER = "https://login.example.org/";
const PAIRS = ["first", "second"].map((kid) => ({
  kid,
  ...generateKeyPairSync("ec", { namedCurve: "P-256" }),
}));

function keySet(at: number): string {
  const { kid, publicKey } = PAIRS[at] as (typeof PAIRS)[number];
  return JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid }] });
}

async function statusOf(origin: string, at: number, issuer = ISSUER): Promise<number> {
  const { kid, privateKey } = PAIRS[at] as (typeof PAIRS)[number];
  const exp = Math.floor(Date.now() / 1_000) + 3_600;
  const aud = "https://storage.azure.com";
  const token = await new SignJWT({ exp, aud, oid: USER, tid: TENANT, iss: issuer })
    .setProtectedHeader({ alg: "ES256", kid })
    .sign(privateKey);
  const service = { url: `${origin}/shop` } as TestService;
  const headers = { authorization: `Bearer ${token}` };
  return (await askSecurely(service, "GET", "/?comp=list", headers)).status;
}

test("a reload reads an issuer's keys again, and takes over another issuer", async (t) => {
  const files = { ...FILES, "keys.json": keySet(0) };
  const server = new ReloadedServer(t, {}, { args: FLAGS, files });
  const origin = await server.origin();
  const oauth = { issuer: ISSUER, keysFile: join(server.folder, "keys.json") };
  const config = { accounts: [ACCOUNT], oauth };
  assert.match(await server.hangUp(config), /; another token issuer\.$/);
  assert.deepEqual([await statusOf(origin, 0), await statusOf(origin, 1)], [200, 401]);
  server.save("keys.json", keySet(1));
  assert.match(await server.hangUp(), /reloaded: other keys of the token issuer\.$/);
  assert.deepEqual([await statusOf(origin, 0), await statusOf(origin, 1)], [401, 200]);
  const other = { ...config, oauth: { ...oauth, issuer: "https://other.example/" } };
  assert.match(await server.hangUp(other), /reloaded: another token issuer\.$/);
  assert.equal(await statusOf(origin, 1), 401);
  assert.equal(await statusOf(origin, 1, "https://other.example/"), 200);
  assert.match(await server.hangUp({ accounts: [ACCOUNT] }), /reloaded: another token issuer\.$/);
  assert.equal(await statusOf(origin, 1, "https://other.example/"), 401);
});

test("while an issuer is unreachable, a reload leaves its loaded keys in use", async (t) => {
  const issuer = createServer((_, answer) => answer.end(keySet(0)));
  await new Promise<void>((resolve) => issuer.listen(0, "127.0.0.1", resolve));
  const keysUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/keys`;
  const config = { accounts: [ACCOUNT], oauth: { issuer: ISSUER, keysUrl } };
  const server = new ReloadedServer(t, config, { args: FLAGS, files: FILES });
  const origin = await server.origin();
  assert.equal(await statusOf(origin, 0), 200);
  issuer.closeAllConnections();
  await new Promise((resolve) => issuer.close(resolve));
  assert.match(await server.hangUp(), /nothing has changed/);
  assert.match(server.process.errors, /keys of the issuer: .*ECONNREFUSED/);
  assert.equal(await statusOf(origin, 0), 200);
});
