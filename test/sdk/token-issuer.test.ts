import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, test } from "node:test";
import { SignJWT } from "jose";
import { ManualClock } from "../../src/base/clock.ts";
import { issuerOf, type OAuth } from "../../src/front/rest/auth/bearer.ts";
import { askSecurely, bearer, TENANT, USER } from "./bearer.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "./certificate.ts";
import { startFileServer } from "./file-server.ts";
import { startQueueServer } from "./queue-server.ts";
import { ACCOUNT, forThisFile, OTHER_ACCOUNT, startServer, type TestService } from "./server.ts";
import { startTableServer } from "./table-server.ts";

const ISSUER = "https://login.example.org/tenant/v2.0";
const TLS = { cert: CERTIFICATE, key: CERTIFICATE_KEY };
const HEADERS = { "x-ms-file-request-intent": "backup" };

/** An issuer on this machine that publishes keys, changes them, and fails. */
const pairs = new Map<string, { publicKey: KeyObject; privateKey: KeyObject }>();
const published = new Set<string>();
let isDown = false;
let hits = 0;
const issuer = createServer((_, answer) => {
  hits++;
  if (isDown) return answer.writeHead(503).end();
  const keys = [...published].map((kid) => ({
    ...pairs.get(kid)?.publicKey.export({ format: "jwk" }),
    kid,
    use: "sig",
    alg: "RS256",
  }));
  return answer.end(JSON.stringify({ keys }));
});
await new Promise<void>((resolve) => issuer.listen(0, "127.0.0.1", resolve));
after(() => issuer.close());
const keysUrl = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/keys`;

function publish(...kids: string[]): void {
  published.clear();
  for (const kid of kids) {
    if (!pairs.has(kid)) pairs.set(kid, generateKeyPairSync("rsa", { modulusLength: 2048 }));
    published.add(kid);
  }
}

const clock = new ManualClock(Date.now());

async function tokenBy(kid: string, claims: object = {}): Promise<object> {
  const seconds = Math.floor(clock.now() / 1_000);
  const all = { aud: "https://storage.azure.com", oid: USER, tid: TENANT, ...claims };
  const token = await new SignJWT({ iss: ISSUER, nbf: seconds, exp: seconds + 36_000, ...all })
    .setProtectedHeader({ alg: "RS256", kid })
    .sign(pairs.get(kid)?.privateKey as KeyObject);
  return { authorization: `Bearer ${token}`, ...HEADERS };
}

const oauth = issuerOf({ issuer: ISSUER, from: { url: keysUrl, networks: [] } });
const server = await forThisFile(startServer({ tls: TLS, oauth, requestClock: clock }));
const list = async (headers: object) => {
  const { status, code, text } = await askSecurely(server, "GET", "/?comp=list", headers);
  return { status, code, text };
};

const SERVERS: [string, TestService, TestService, string][] = [];
for (const [name, start, path] of [
  ["blob", startServer, "/?comp=list"],
  ["queue", startQueueServer, "/?comp=list"],
  ["table", startTableServer, "/Tables"],
  ["file", startFileServer, "/?comp=list"],
] as const) {
  const options = { tls: TLS, requestClock: clock, domains: ["files.example.org"] };
  const own: OAuth = issuerOf({ issuer: ISSUER, from: { url: keysUrl, networks: [] } });
  const started = (oauth: OAuth): Promise<TestService> => start({ ...options, oauth });
  const trusting = await forThisFile(started(own));
  const basic = await forThisFile(started({ mode: "basic" }));
  SERVERS.push([name, trusting, basic, path]);
}

test("keys are fetched from the issuer, again when they change, and survive its failure", async () => {
  publish("first");
  const first = await tokenBy("first");
  const together = await Promise.all(Array.from({ length: 20 }, () => list(first)));
  assert.deepEqual(
    together.map(({ status }) => status),
    Array.from({ length: 20 }, () => 200),
  );
  assert.equal(hits, 1, "many share one fetch");

  publish("first", "second");
  const second = await tokenBy("second");
  clock.advance(10_000);
  assert.equal((await list(second)).status, 200);
  assert.equal(hits, 2);

  isDown = true;
  clock.advance(3_600_000);
  assert.equal((await list(first)).status, 200, "old keys go on working");
  publish("first", "second", "third");
  clock.advance(10_000);
  const third = await tokenBy("third");
  const unknown = await list(third);
  assert.deepEqual([unknown.status, unknown.code], [503, "ServerBusy"]);
  assert.match(unknown.text, /keys could not be loaded/);

  isDown = false;
  clock.advance(10_000);
  assert.equal((await list(third)).status, 200);
  const before = hits;
  pairs.set("invented", generateKeyPairSync("rsa", { modulusLength: 2048 }));
  const invented = await tokenBy("invented");
  for (let i = 0; i < 10; i++) assert.equal((await list(invented)).status, 401);
  assert.ok(hits <= before + 1, "invented key ids do not reach the issuer");
});

for (const [name, trusting, basic, path] of SERVERS) {
  test(`${name}: a token for this account is valid, one for another gets 401`, async () => {
    publish("first");
    const own = `https://${ACCOUNT}.${name}.core.windows.net`;
    const foreign = `https://${OTHER_ACCOUNT}.${name}.core.windows.net`;
    const audiences: [string, number][] = [
      ["https://storage.azure.com", 200],
      [own, 200],
      ["https://files.example.org", 200],
      [foreign, 401],
      ["https://other.example.org", 401],
    ];
    const { port } = new URL(trusting.url);
    for (const [aud, status] of audiences) {
      const seconds = Math.floor(clock.now() / 1_000);
      const times = { nbf: seconds, exp: seconds + 3_600 };
      for (const [target, headers] of [
        [trusting, await tokenBy("first", { aud })],
        [basic, { ...bearer({ aud, ...times }), ...HEADERS }],
      ] as const) {
        const byPath = await askSecurely(target, "GET", path, headers);
        assert.equal(byPath.status, status, `${aud}: ${byPath.text}`);
        if (status === 401) assert.equal(byPath.code, "InvalidAuthenticationInfo");
        const atRoot = { ...target, url: new URL(target.url).origin };
        for (const host of [`${ACCOUNT}.${name}.localhost:${port}`, "files.example.org"]) {
          const byHost = await askSecurely(atRoot, "GET", path, { ...headers, host });
          assert.equal(byHost.status, status, `${aud} at ${host}: ${byHost.text}`);
        }
        const other = { ...target, url: target.url.replace(ACCOUNT, OTHER_ACCOUNT) };
        const elsewhere = await askSecurely(other, "GET", path, headers);
        const opens = aud === "https://storage.azure.com" || aud === foreign;
        assert.equal(elsewhere.status, opens ? 200 : 401, `${aud} at ${OTHER_ACCOUNT}`);
      }
    }
  });
}
