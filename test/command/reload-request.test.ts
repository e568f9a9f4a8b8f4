import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Ended, LazuliProcess } from "./process.ts";
import { newKey, ReloadedServer } from "./reloading.ts";

const CONFIG = { accounts: [{ name: "shop", keys: [newKey()] }] };
const OTHER = { accounts: [{ name: "other", keys: [newKey()] }] };

function controlOf({ location }: ReloadedServer): { path: string; token: string } {
  const path = join(location, "control.json");
  return { path, token: JSON.parse(readFileSync(path, "utf8")).token };
}

async function started(t: TestContext): Promise<[server: ReloadedServer, url: string]> {
  const server = new ReloadedServer(t, CONFIG);
  return [server, `${await server.origin()}/-/reload`];
}

async function post(
  url: string,
  authorization?: string,
  method = "POST",
): Promise<[number, string]> {
  const headers = authorization === undefined ? {} : { authorization };
  const answer = await fetch(url, { method, headers });
  return [answer.status, await answer.text()];
}

test("a request with the server's token reloads, and answers with the line", async (t) => {
  const [server, url] = await started(t);
  const { token } = controlOf(server);
  server.write(OTHER);
  const line = "The configuration is reloaded: added the account other; removed the account shop.";
  assert.deepEqual(await post(url, `Bearer ${token}`), [200, `${line}\n`]);
  assert.equal(await server.nextLine(), line, "the log has it, too");
  server.write('{\n"frob": 1}');
  const [status, text] = await post(url, `Bearer ${token}`);
  assert.equal(status, 422);
  assert.match(
    text,
    /not reloaded, and the old one stays: .*lazuli\.json:2:1: "frob" is not known/,
  );
  assert.deepEqual(await post(url, `Bearer ${token}`, "PUT"), [405, "/-/reload takes POST.\n"]);
});

test("a request without the token changes nothing", async (t) => {
  const [server, url] = await started(t);
  const { token } = controlOf(server);
  server.write(OTHER);
  const key = CONFIG.accounts[0]?.keys[0] ?? "";
  for (const credentials of [
    undefined,
    "Bearer",
    `Bearer ${token}x`,
    `Basic ${token}`,
    `Bearer ${key}`,
  ]) {
    const [status, text] = await post(url, credentials);
    assert.equal(status, 401, credentials);
    assert.match(text, /control\.json/);
  }
  assert.match((await post(url, `Bearer ${token}`))[1], /added the account other/);
});

test("the token is in a private file, is new at each start, and goes with the server", async (t) => {
  const [server] = await started(t);
  const { path, token } = controlOf(server);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  server.process.signal("SIGTERM");
  assert.equal((await server.process.ended()).code, 0);
  assert.equal(existsSync(path), false);
  const ports = ["--services", "blob", "--blobPort", "0", "--location", server.location];
  const next = new LazuliProcess(ports);
  t.after(() => next.kill());
  await next.printed(/^Blob service .* at (\S+)$/m);
  assert.notEqual(controlOf(server).token, token);
});

test("data in memory has no token, and so no such request", async (t) => {
  const args = ["--inMemoryPersistence", "--services", "blob", "--blobPort", "0"];
  const lazuli = new LazuliProcess(args);
  t.after(() => lazuli.kill());
  const origin = await lazuli.printed(/^Blob service .* at (\S+)$/m);
  const [status, text] = await post(`${origin}/-/reload`, "Bearer x");
  assert.equal(status, 403);
  assert.match(text, /The account '-' is unknown to this server/);
});

function command(...args: string[]): Promise<Ended> {
  return new LazuliProcess(args).ended();
}

test("lazuli reload prints the server's line, and fails if the file is refused", async (t) => {
  const [server] = await started(t);
  const reload = () => command("reload", "--location", server.location);
  assert.deepEqual(await reload(), {
    code: 0,
    out: "The configuration is reloaded: nothing has changed.\n",
    err: "",
  });
  server.write("{");
  const { code, out, err } = await reload();
  assert.deepEqual([code, out], [1, ""]);
  assert.match(err, /^The configuration is not reloaded.*lazuli\.json:1:2: .*\n$/);
});

test("lazuli reload says so if no server runs there, also after a kill", async (t) => {
  const [server] = await started(t);
  await server.process.kill();
  for (const folder of [server.location, server.folder]) {
    const { code, err } = await command("reload", "--location", folder);
    assert.equal(code, 1);
    assert.match(err, /^No server runs on .*--location.*SIGHUP.*\n$/);
  }
});
