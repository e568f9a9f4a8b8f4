import assert from "node:assert/strict";
import { request } from "node:http";
import { type TestContext, test } from "node:test";
import { labUnderTest } from "./lab.fixture.ts";
import { openLabListener } from "./lab-listener.ts";

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

async function listening(t: TestContext) {
  const under = labUnderTest();
  const errors: unknown[] = [];
  const listener = await openLabListener({
    host: "127.0.0.1",
    port: 0,
    bodyMibMax: 1,
    lab: under.lab,
    isLoopback: (host) => ["127.0.0.1", "localhost", "::1"].includes(host),
    onError: (error) => void errors.push(error),
  });
  t.after(() => listener.close());
  /** Fetch would not send a Host of the test's choice. */
  const ask = (method: string, path: string, body = "", headers = {}): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const sent = request(`${listener.origin}${path}`, { method, headers, agent: false });
      sent.on("error", reject).on("response", async (answer) => {
        let text = "";
        for await (const part of answer.setEncoding("utf8")) text += part;
        resolve({ status: answer.statusCode ?? 0, body: JSON.parse(text) });
      });
      sent.end(body);
    });
  return { ...under, listener, errors, ask };
}

test("pages of a browser and foreign names of this machine are refused", async (t) => {
  const { ask } = await listening(t);
  const statusOf = async (headers: object) => (await ask("GET", "/rules", "", headers)).status;
  for (const host of ["127.0.0.1", "localhost:1", "[::1]:10006"]) {
    assert.equal(await statusOf({ host }), 200, host);
  }
  assert.equal(await statusOf({ host: "lab.example:10006" }), 403);
  assert.equal(await statusOf({ origin: "http://127.0.0.1:1" }), 403);
  assert.equal(await statusOf({ "sec-fetch-site": "none" }), 403);
});

test("what is no request to the lab is refused with what is allowed", async (t) => {
  const { ask, errors } = await listening(t);
  for (const [method, path, body, status, message] of [
    ["GET", "/nothing", "", 404, /The lab has no \/nothing. It has GET \/, GET \/clock/],
    ["GET", "/states", "", 404, /The lab has no \/states/],
    ["PUT", "/clock", "", 405, /\/clock takes GET, POST/],
    ["GET", "/states/a/restore", "", 405, /\/states\/a\/restore takes POST/],
    ["POST", "/rules", "{", 400, /The body of a request to the lab is JSON/],
    ["POST", "/rules", "", 400, /A rule must be a JSON object/],
    ["GET", "/rules/1", "", 404, /There is no rule 1. None is set/],
    ["DELETE", "/rules/x", "", 400, /The id of a rule must be a whole number, 1 or more; not "x"/],
    ["GET", "/waiting?rul=1", "", 400, /takes the parameters rule, count and timeout; not "rul"/],
    ["GET", "/waiting?count=0", "", 400, /count must be a whole number/],
    ["GET", "/waiting?timeout=5", "", 400, /timeout must be a duration/],
    ["POST", "/release", '{"rules": 1}', 400, /A release has no field "rules"/],
    ["POST", "/release", '{"id": "1"}', 400, /id must be a whole number/],
    ["POST", "/seed", '{"seed": -1}', 400, /seed must be a whole number, from 0 to 4294967295/],
    ["POST", "/states/a%2Fb", "", 400, /letters, digits, dots, dashes and underscores/],
    ["POST", `/states/${"a".repeat(101)}`, "", 400, /up to 100 letters/],
    ["POST", "/states/a", "", 409, /Only a server in memory can save/],
    ["POST", "/reset", "", 409, /--inMemoryPersistence/],
    ["POST", "/scenes/fight", "", 404, /no scene "fight". There are lost-update/],
    [
      "POST",
      "/scenes/lost-update",
      '{"clients": 1}',
      400,
      /clients must be a whole number, from 2/,
    ],
    ["POST", "/scenes/lost-update", '{"actors": 2}', 400, /A scene has no field "actors"/],
  ] as const) {
    const answer = await ask(method, path, body);
    assert.equal(answer.status, status, path);
    assert.match((answer.body as { error: string }).error, message);
  }
  assert.deepEqual(errors, []);
});

test("a body beyond the limit is refused, and so is a scene while a recording runs", async (t) => {
  const { ask } = await listening(t);
  const { status: tooLong, body: why } = await ask("POST", "/rules", " ".repeat(1024 * 1024 + 1));
  assert.deepEqual([tooLong, why], [413, { error: "A request has 1 MiB at most." }]);
  await ask("POST", "/recording");
  const { status, body } = await ask("POST", "/scenes/lost-update");
  assert.equal(status, 409);
  assert.match((body as { error: string }).error, /A recording runs: stop it first/);
  assert.deepEqual((await ask("DELETE", "/recording")).body, {
    format: "lazuli-history/1",
    operations: [],
    skipped: {},
  });
});

test("rules, held requests and seeds are shown", async (t) => {
  const { ask, lab, put } = await listening(t);
  const rule = { operation: "PutBlob", hold: true, at: "arrival" };
  const shown = { id: 1, rule, at: "arrival", matched: 0, acted: 0, notes: [] };
  assert.deepEqual((await ask("POST", "/rules", JSON.stringify(rule))).body, shown);
  const held = put(async () => ({ status: 201, headers: [], body: null }));
  const { body } = await ask("GET", "/waiting?rule=1&count=1");
  const [waiting] = body as [object];
  assert.deepEqual(waiting, {
    id: 1,
    rule: 1,
    at: "arrival",
    service: "blob",
    operation: "PutBlob",
    method: "PUT",
    account: "near",
    container: "box",
    object: "doc",
    requestId: "1",
    clientRequestId: null,
    waitedMs: 0,
  });
  assert.deepEqual((await ask("POST", "/release", '{"rule": 1}')).body, { released: 1 });
  await held;
  const acted = { ...shown, matched: 1, acted: 1 };
  assert.deepEqual((await ask("GET", "/rules/1")).body, acted);
  assert.deepEqual((await ask("GET", "/rules")).body, [acted]);
  assert.deepEqual((await ask("POST", "/seed", '{"seed": 7}')).body, { seed: 7 });
  assert.equal(lab.rules.seed, 7);
  assert.deepEqual((await ask("GET", "/rules")).body, []);
});

test("an error that is a bug is told to the server's log, and not to the client", async (t) => {
  const { ask, errors, lab } = await listening(t);
  lab.open({
    save: null,
    catchUp: () => Promise.reject(new Error("broken")),
    replace: async (work) => work(),
  });
  const { status, body } = await ask("POST", "/clock", '{"move": "1h"}');
  assert.equal(status, 500);
  assert.deepEqual(body, { error: "This is a bug: the server's log has more." });
  assert.match(`${errors}`, /broken/);
});

test("closing ends connections that wait for what does not come any more", async (t) => {
  const { ask, listener, lab } = await listening(t);
  const waiting = ask("GET", "/waiting?count=1&timeout=1h").catch(() => "cut");
  // Answered after the request before it has begun.
  await ask("GET", "/rules");
  await listener.close();
  assert.equal(await waiting, "cut");
  lab.close();
});
