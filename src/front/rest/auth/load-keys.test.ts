import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { serve } from "../source/http-server.fixture.ts";
import { keysAtUrl, keysInFile } from "./load-keys.ts";

const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const KEY = { ...publicKey.export({ format: "jwk" }), kid: "rsa" };
const SET = JSON.stringify({ keys: [KEY] });
const LIMITS = { bytesMax: 10_000, totalMs: 5_000 };

test("keys are fetched from a URL that the operator configured", async (t) => {
  const asked: (string | undefined)[] = [];
  const origin = await serve(t, (request, answer) => {
    asked.push(request.method, request.url, request.headers.authorization);
    answer.end(SET);
  });
  assert.deepEqual(await keysAtUrl(`${origin}/keys?v=2`, [])(), [KEY]);
  assert.deepEqual(asked, ["GET", "/keys?v=2", undefined]);
});

test("a name that resolves to a private address is not contacted unless its network is listed", async (t) => {
  let hits = 0;
  const origin = await serve(t, (_, answer) => {
    hits++;
    answer.end(SET);
  });
  const named = `${origin.replace("127.0.0.1", "localhost")}/keys`;
  await assert.rejects(keysAtUrl(named, [])(), /not on the internet.*"oauth\.networks"/);
  assert.equal(hits, 0);
  const keys = await keysAtUrl(named, ["127.0.0.0/8", "::1/128"])();
  assert.deepEqual([keys.length, hits], [1, 1]);
});

test("redirects, errors and responses without keys are refused", async (t) => {
  let elsewhere = 0;
  const other = await serve(t, (_, answer) => {
    elsewhere++;
    answer.end(SET);
  });
  const origin = await serve(t, ({ url = "" }, answer) => {
    if (url === "/moved") answer.writeHead(302, { location: `${other}/` }).end();
    else if (url === "/broken") answer.writeHead(500).end(SET);
    else if (url === "/none") answer.end('{"keys":[]}');
    else if (url === "/secret") answer.end('{"keys":[{"kty":"oct","k":"AAAA"}]}');
    else if (url === "/list") answer.end("[]");
    else if (url === "/cut") answer.writeHead(200, { "content-length": 99_999 }).end("{").destroy();
    else if (url === "/long") answer.end(`${SET}${" ".repeat(LIMITS.bytesMax)}`);
    else answer.end("<html>");
  });
  for (const [path, reason] of [
    ["/moved", /status 302/],
    ["/broken", /status 500/],
    ["/none", /no usable signing key/],
    ["/secret", /no usable signing key.*of type oct/],
    ["/list", /not a JSON Web Key Set/],
    ["/html", /not a JSON Web Key Set/],
    ["/cut", /aborted/],
    ["/long", /longer than 10000 bytes/],
  ] as const) {
    await assert.rejects(keysAtUrl(origin + path, [], LIMITS)(), reason, path);
  }
  assert.equal(elsewhere, 0);
});

test("an issuer that does not answer, or never finishes, times out", async (t) => {
  const origin = await serve(t, ({ url }, answer) => {
    if (url === "/head") answer.writeHead(200).write("{");
  });
  const limits = { ...LIMITS, totalMs: 1 };
  await assert.rejects(keysAtUrl(`${origin}/silent`, [], limits)(), /no answer in time/);
  const head = { ...LIMITS, totalMs: 200 };
  await assert.rejects(keysAtUrl(`${origin}/head`, [], head)(), /too slow|no answer/);
});

test("keys are fetched over https, or from this machine", () => {
  for (const url of [
    "http://login.example.org/keys",
    "http://10.0.0.1/keys",
    "https://user:secret@login.example.org/keys",
    "file:///etc/passwd",
    "login.example.org/keys",
    "",
  ]) {
    assert.throws(() => keysAtUrl(url, []), /Give an https URL/, url);
  }
  keysAtUrl("https://login.example.org/keys", []);
  keysAtUrl("http://localhost:8080/keys", []);
  assert.throws(() => keysAtUrl("https://login.example.org/keys", ["10.0.0.1"]), /no network/);
});

test("keys in a file are read each time, and only their public parts are returned", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-keys-"));
  t.after(() => rm(folder, { recursive: true }));
  const file = join(folder, "keys.json");
  const load = keysInFile(file);
  await assert.rejects(load(), /keys\.json: ENOENT/);
  const encrypts = { ...KEY, kid: "enc", use: "enc" };
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
  const weak = { ...small.export({ format: "jwk" }), kid: "weak" };
  const whole = { ...privateKey.export({ format: "jwk" }), kid: "rsa" };
  await writeFile(file, JSON.stringify({ keys: [encrypts, weak, 7, { kty: "OKP" }, whole] }));
  assert.deepEqual(await load(), [KEY]);
  await writeFile(file, "{");
  await assert.rejects(load(), /not a JSON Web Key Set/);
});
