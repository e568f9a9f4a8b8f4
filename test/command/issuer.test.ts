import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { SignJWT } from "jose";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { askSecurely, TENANT, USER } from "../sdk/bearer.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../sdk/certificate.ts";
import type { TestService } from "../sdk/server.ts";
import { freePort } from "./free-ports.ts";
import { LazuliProcess } from "./process.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-"));
after(() => rmSync(scratch, { recursive: true }));
const [cert, key] = [join(scratch, "cert.pem"), join(scratch, "key.pem")];
writeFileSync(cert, CERTIFICATE);
writeFileSync(key, CERTIFICATE_KEY);

const ISSUER = "https://login.example.org/";
const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-384" });
const SET = JSON.stringify({ keys: [{ ...publicKey.export({ format: "jwk" }), kid: "ec" }] });

/** Starts a server that trusts an issuer; returns its Blob service, too. */
async function startTrusting(t: TestContext, from: object): Promise<[TestService, LazuliProcess]> {
  const config = join(scratch, "lazuli.json");
  writeFileSync(config, JSON.stringify({ oauth: { issuer: ISSUER, ...from } }));
  const files = ["--cert", cert, "--key", key, "--config", config];
  const lazuli = new LazuliProcess(["--inMemoryPersistence", ...ANY_PORTS, ...files]);
  t.after(() => lazuli.kill());
  const origin = await lazuli.printed(/^Blob service .* at (\S+)$/m);
  return [{ url: `${origin}/devstoreaccount1` } as TestService, lazuli];
}

async function statusOf(server: TestService, claims: object, header: object = {}): Promise<number> {
  const seconds = Math.floor(Date.now() / 1_000);
  const all = { aud: "https://storage.azure.com", oid: USER, tid: TENANT, iss: ISSUER, ...claims };
  const token = await new SignJWT({ exp: seconds + 3_600, ...all })
    .setProtectedHeader({ alg: "ES384", kid: "ec", ...header })
    .sign(privateKey);
  const headers = { authorization: `Bearer ${token}` };
  return (await askSecurely(server, "GET", "/?comp=list", headers)).status;
}

async function expectVerdicts(server: TestService): Promise<void> {
  assert.equal(await statusOf(server, {}), 200);
  assert.equal(await statusOf(server, { aud: "https://other.blob.core.windows.net" }), 401);
  assert.equal(await statusOf(server, { iss: "https://evil.example/" }), 401);
  assert.equal(await statusOf(server, { exp: 1 }), 401);
  assert.equal(await statusOf(server, {}, { kid: "invented" }), 401);
}

test("a server fetches its issuer's keys from a URL", async (t) => {
  let hits = 0;
  const issuer = createServer((_, answer) => {
    hits++;
    answer.end(SET);
  });
  await new Promise<void>((resolve) => issuer.listen(0, "127.0.0.1", resolve));
  t.after(() => issuer.close());
  const keysUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/keys`;
  const [server] = await startTrusting(t, { keysUrl });
  assert.equal(hits, 0, "the issuer is not contacted before the first token");
  await expectVerdicts(server);
  assert.equal(hits, 1);
});

test("a server reads its issuer's keys from a file", async (t) => {
  const keysFile = join(scratch, "keys.json");
  writeFileSync(keysFile, SET);
  const [server] = await startTrusting(t, { keysFile });
  await expectVerdicts(server);
});

test("while the issuer is unreachable tokens get a 503, and one line says why", async (t) => {
  const keysUrl = `http://127.0.0.1:${await freePort()}/keys`;
  const [server, lazuli] = await startTrusting(t, { keysUrl });
  assert.equal(await statusOf(server, {}), 503);
  assert.equal(await statusOf(server, {}), 503);
  lazuli.signal("SIGTERM");
  const { err } = await lazuli.ended();
  assert.match(err, /^\S+ keys of the issuer: http:\S+keys: connect ECONNREFUSED[^\n]*\n$/);
});
