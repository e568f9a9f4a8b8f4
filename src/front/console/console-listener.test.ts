import assert from "node:assert/strict";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { Outcomes } from "../outcome.ts";
import { ApiCalls } from "./api-calls.ts";
import { ConsoleApi } from "./console-api.ts";
import type { ConsoleFacts } from "./console-facts.ts";
import { openConsoleListener } from "./console-listener.ts";
import { signatureOf } from "./sessions.ts";

const KEY = Buffer.alloc(32, 1).toString("base64");
const PAGE = { "x-lazuli-console": "1" };

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A console before one service, which answers with what it was asked. */
async function opened(t: TestContext) {
  const service = createServer((asked, answer) => {
    answer.writeHead(200, { "content-type": "text/html", "x-ms-request-id": "1" });
    answer.end(JSON.stringify({ url: asked.url, headers: asked.headers }));
  });
  await new Promise<void>((resolve) => service.listen(0, "127.0.0.1", resolve));
  const { port } = service.address() as AddressInfo;
  const figures = { atMs: 0, values: {}, durations: { bounds: [], counts: [] } };
  const accounts = ["one", "two"].map((name) => ({
    name,
    keys: [KEY],
    urls: {},
    connectionString: "",
  }));
  const held = { kind: "deletePending", isDirectory: false } as const;
  const holders = accounts.map(({ name }) => ({ account: name, container: "c", path: "", held }));
  const rows = accounts.map(({ name: account }, at) => ({
    service: "blob" as const,
    account,
    name: "c",
    amounts: { current: { objects: 1, bytes: at } },
  }));
  const total = { current: { objects: 2, bytes: 1 } };
  const disk = { databaseBytes: 1, extentBytes: 2, extentBytesInUse: 1 };
  const facts: ConsoleFacts = {
    version: "1",
    startedMs: 0,
    place: "in memory",
    urls: { blob: `http://127.0.0.1:${port}` },
    accounts: () => accounts,
    takesTokens: () => false,
    scenes: null,
    members: async () => null,
    judge: async () => null,
    begin: () => {},
    end: async () => {},
    holders: async () => ({ holders, atMs: 0, isCut: false }),
    figures: async () => figures,
    usage: async () => ({ usage: { rows, total, unreachable: {}, disk }, atMs: 1, progress: null }),
  };
  const outcomes = new Outcomes();
  const errors: unknown[] = [];
  const etag = '"etag"';
  const file = { contentType: "text/html", bytes: Buffer.from("page"), zipped: Buffer.from("") };
  const listener = await openConsoleListener({
    host: "127.0.0.1",
    port: 0,
    tls: null,
    isLoopback: true,
    clock: systemClock,
    outcomes,
    files: new Map([["/", { ...file, etag }]]),
    facts,
    calls: new ApiCalls(facts, systemClock),
    onError: (error) => errors.push(error),
  });
  t.after(async () => {
    await listener.drain();
    service.close();
    assert.deepEqual(errors, []);
  });
  const ask = (path: string, headers = {}, method = "GET", body = ""): Promise<Got> =>
    new Promise((resolve, reject) => {
      const sent = request(`${listener.origin}${path}`, { method, headers }, (answer) => {
        const parts: Buffer[] = [];
        answer.on("data", (part) => parts.push(part));
        answer.on("end", () =>
          resolve({
            status: answer.statusCode ?? 0,
            headers: answer.headers,
            text: Buffer.concat(parts).toString(),
          }),
        );
      });
      sent.on("error", reject).end(body);
    });
  const post = (path: string, json: object, headers = {}) =>
    ask(path, { ...PAGE, ...headers }, "POST", JSON.stringify(json));
  const cookieOf = ({ headers }: Got) => ({ cookie: headers["set-cookie"]?.[0]?.split(";")[0] });
  const token = listener.address.split("token=")[1] ?? "";
  return { ask, post, cookieOf, token, outcomes, origin: listener.origin };
}

test("the API takes a session, whose cookie no script and no other site can use", async (t) => {
  const { ask, post, cookieOf, token } = await opened(t);
  assert.equal((await ask("/api/holders")).status, 401);
  assert.equal((await post("/api/sign-in", { token: "wrong" })).status, 401);
  const signedIn = await post("/api/sign-in", { token });
  assert.equal(signedIn.status, 200);
  assert.match(signedIn.headers["set-cookie"]?.[0] ?? "", /HttpOnly; SameSite=Strict/);
  assert.equal(signedIn.headers["cache-control"], "no-store");
  assert.equal(signedIn.headers["x-content-type-options"], "nosniff");
  const cookie = cookieOf(signedIn);
  assert.equal(JSON.parse((await ask("/api/holders", cookie)).text).holders.length, 2);
  await post("/api/sign-out", {}, cookie);
  assert.equal((await ask("/api/holders", cookie)).status, 401);
});

test("an account's key opens that account only", async (t) => {
  const { ask, post, cookieOf } = await opened(t);
  const { challenge } = JSON.parse((await ask("/api/challenge")).text);
  const signature = signatureOf(challenge, KEY);
  const signedIn = await post("/api/sign-in", { account: "two", challenge, signature });
  const cookie = cookieOf(signedIn);
  const { holders } = JSON.parse((await ask("/api/holders", cookie)).text);
  assert.deepEqual(
    holders.map(({ account }: { account: string }) => account),
    ["two"],
  );
  const home = JSON.parse((await ask("/api/home", cookie)).text);
  assert.deepEqual(
    home.accounts.map(({ name }: { name: string }) => name),
    ["two"],
  );
  assert.equal(home.place, undefined);
  const usage = JSON.parse((await ask("/api/usage", cookie)).text);
  assert.deepEqual(Object.keys(usage), ["rows", "others", "atMs", "progress"]);
  assert.deepEqual(
    usage.rows.map(({ account }: { account: string }) => account),
    ["two"],
  );
  assert.equal((await ask("/api/figures", cookie)).status, 403);
  assert.equal((await ask("/api/events?of=figures", cookie)).status, 403);
});

test("the operator sees what takes space in all accounts, the largest first, and on the disk", async (t) => {
  const { ask, post, cookieOf, token } = await opened(t);
  const cookie = cookieOf(await post("/api/sign-in", { token }));
  const usage = JSON.parse((await ask("/api/usage", cookie)).text);
  assert.deepEqual(
    usage.rows.map(({ account }: { account: string }) => account),
    ["two", "one"],
  );
  assert.equal(usage.disk.extentBytes, 2);
  assert.equal(usage.total.current.objects, 2);
});

test("a POST without the page's header is refused, and so is the name of another site", async (t) => {
  const { ask, token } = await opened(t);
  const body = JSON.stringify({ token });
  const forged = await ask("/api/sign-in", { "content-type": "text/plain" }, "POST", body);
  assert.equal(forged.status, 403);
  for (const path of ["/", "/api/challenge", "/services/blob/one/c"]) {
    assert.equal((await ask(path, { host: "evil.example:10005" })).status, 421);
  }
  assert.equal((await ask("/", { host: "localhost:10005" })).status, 200);
});

test("answers to bad requests say what to do", async (t) => {
  const { ask, post, cookieOf, token } = await opened(t);
  assert.equal((await post("/api/sign-in", { account: "one" })).status, 400);
  assert.equal((await ask("/api/sign-in", PAGE, "POST", "{")).status, 400);
  assert.equal((await ask("/api/sign-in", PAGE, "POST", "x".repeat(100_000))).status, 400);
  const cookie = cookieOf(await post("/api/sign-in", { token }));
  assert.equal((await ask("/api/nothing", cookie)).status, 404);
  assert.equal((await ask("/api/requests?after=x", cookie)).status, 400);
  assert.equal((await ask("/api/explain?number=1", cookie)).status, 404);
  assert.equal((await ask("/api/events?of=nothing", cookie)).status, 400);
  assert.equal((await ask("/none")).status, 404);
  assert.equal((await ask("/", {}, "POST")).status, 405);
});

test("the page may run its own scripts only, and is validated when it is loaded again", async (t) => {
  const { ask } = await opened(t);
  const page = await ask("/");
  assert.equal(page.text, "page");
  assert.match(String(page.headers["content-security-policy"]), /script-src 'self';/);
  assert.doesNotMatch(String(page.headers["content-security-policy"]), /unsafe/);
  for (const part of ["default-src 'none'", "form-action 'none'", "frame-ancestors 'none'"]) {
    assert.ok(String(page.headers["content-security-policy"]).includes(part), part);
  }
  assert.equal(page.headers["x-content-type-options"], "nosniff");
  assert.equal(page.headers["referrer-policy"], "no-referrer");
  assert.equal((await ask("/", { "if-none-match": '"etag"' })).status, 304);
});

test("requests to services pass unchanged, without the cookie, and answers cannot run", async (t) => {
  const { ask } = await opened(t);
  const headers = { ...PAGE, authorization: "SharedKey one:x", cookie: "a=b", origin: "x" };
  const passed = await ask("/services/blob/one/c/a%20b?comp=list", headers);
  const seen = JSON.parse(passed.text);
  assert.equal(seen.url, "/one/c/a%20b?comp=list");
  assert.equal(seen.headers.authorization, "SharedKey one:x");
  for (const name of ["cookie", "origin", "x-lazuli-console"]) {
    assert.equal(seen.headers[name], undefined, name);
  }
  assert.match(String(passed.headers["content-security-policy"]), /^sandbox/);
  assert.equal(passed.headers["x-content-type-options"], "nosniff");
  assert.equal(passed.headers["content-disposition"], undefined);
  const followed = await ask("/services/blob/one/c/page.html");
  assert.equal(followed.headers["content-disposition"], "attachment");
  assert.equal((await ask("/services/blob/one/c", {}, "PUT")).status, 403);
  assert.equal((await ask("/services/smb/one/c", PAGE)).status, 404);
});

test("other machines sign in before their requests pass to services", () => {
  const facts = {} as ConsoleFacts;
  const api = new ConsoleApi({
    clock: systemClock,
    outcomes: new Outcomes(),
    facts,
    calls: new ApiCalls(facts, systemClock),
    isSecure: true,
    onError: assert.fail,
  });
  const from = (remoteAddress: string) =>
    api.mayForward({ socket: { remoteAddress }, headers: {} } as IncomingMessage);
  assert.deepEqual(["127.0.0.1", "::1", "::ffff:127.0.0.1"].map(from), [true, true, true]);
  assert.deepEqual(["192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1"].map(from), [
    false,
    false,
    false,
  ]);
  api.close();
});

test("the stream of a page ends when its session does, and its cookie lasts longer", async (t) => {
  const { ask, post, cookieOf, token } = await opened(t);
  const signedIn = await post("/api/sign-in", { token });
  assert.match(signedIn.headers["set-cookie"]?.[0] ?? "", /; Max-Age=2592000;/);
  const cookie = cookieOf(signedIn);
  const stream = ask("/api/events?of=requests", cookie);
  // Answered after the stream has begun.
  assert.equal((await ask("/api/holders", cookie)).status, 200);
  await post("/api/sign-out", {}, cookie);
  assert.match((await stream).text, /^: begin/);
  assert.equal((await ask("/api/events?of=requests", cookie)).status, 401);
});

test("outcomes are wanted only while somebody is signed in", async (t) => {
  const { post, cookieOf, token, outcomes } = await opened(t);
  assert.equal(outcomes.take, null);
  const signedIn = await post("/api/sign-in", { token });
  assert.notEqual(outcomes.take, null);
  await post("/api/sign-out", {}, cookieOf(signedIn));
  assert.equal(outcomes.take, null);
});
