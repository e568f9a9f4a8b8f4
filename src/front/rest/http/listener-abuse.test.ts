import assert from "node:assert/strict";
import fc from "fast-check";
import { KIB } from "../../../base/limits.ts";
import { DONE, GET, isOnNode, listen, testOnBoth } from "./listener.fixture.ts";

const lines = (...rest: string[]) => `PUT / HTTP/1.1\r\nHost: x\r\n${rest.join("\r\n")}\r\n\r\n`;

testOnBoth("what is no request is refused and logged, and its connection closed", async (t) => {
  const running = await listen(t, () => assert.fail("was asked"));
  const wrong: [string, number][] = [
    ["\x16\x03\x01 not http", 400],
    ["GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    [lines("Transfer-Encoding : chunked"), 400],
    [lines("x-ms-meta-a: 1", " folded"), 400],
    [lines("x-ms-meta-a: a\0b"), 400],
    [lines("x-ms-meta-a: 1\nx: 2"), 400],
    [lines(`x-ms-meta-a: ${"x".repeat(40 * KIB)}`), 431],
    [`GET /${"x".repeat(40 * KIB)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    [lines(...Array.from({ length: 10_000 }, (_, at) => `x-${at}: 1`)), 431],
    [lines("Expect: 200-maybe"), 417],
  ];
  for (const [text, status] of wrong) {
    const client = running.connect().send(text);
    const answer = await client.answer();
    assert.equal(answer.status, status, text);
    assert.equal(answer.headers.get("server"), "Lazuli/1.2.3");
    assert.equal(answer.headers.get("date"), "Tue, 01 Jan 2030 12:00:00 GMT");
    const noted = running.outcomes.at(-1);
    assert.deepEqual([noted?.method, noted?.target, noted?.status], [null, null, status]);
    assert.equal(answer.headers.get("x-ms-request-id"), noted?.requestId);
    await client.closed;
  }
  assert.equal(running.outcomes.length, wrong.length);
  assert.deepEqual(running.failures, []);
});

testOnBoth("garbage behind a request is refused after the answer to that request", async (t) => {
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const running = await listen(t, async ({ path }) => {
    if (path === "/other") return DONE;
    await finished;
    return { status: 200, headers: [], body: "hello" };
  });
  const client = running.connect().send(`${GET}no request at all\r\n\r\n`);
  // Once others have their answers, the server has read what came before.
  const other = running.connect();
  for (let time = 0; time < 3; time++) await other.send(GET.replace("/a/c/b", "/other")).answer();
  assert.equal(client.received, "");
  finish();
  const { status, body } = await client.answer();
  assert.deepEqual([status, body], [200, "hello"]);
  assert.equal((await client.answer()).status, 400);
  assert.equal(await client.closed, "");
});

/**
 * Node's parser refuses these heads before anybody can ask the service: on that listener their
 * answer is a 400 without a body.
 */
const BY_PARSER = "refused by Node's parser";

testOnBoth("a request with unclear length or host is refused in the service's words", async (t) => {
  const running = await listen(t, () => assert.fail("was asked"));
  const wrong: [text: string, code: string, onNode?: string][] = [
    ["GET / HTTP/1.1\r\n\r\n", "HostInformationNotPresent"],
    [lines("Host: y"), "InvalidHeaderValue"],
    [lines("Content-Length: 1", "Transfer-Encoding: chunked"), "InvalidHeaderValue", BY_PARSER],
    [lines("Content-Length: 1", "Content-Length: 2"), "InvalidHeaderValue", BY_PARSER],
    [lines("Content-Length: 1", "Content-Length: 1"), "InvalidHeaderValue", BY_PARSER],
    [lines("Content-Length: -1"), "InvalidHeaderValue", BY_PARSER],
    [lines("Content-Length: 1x"), "InvalidHeaderValue", BY_PARSER],
    [lines("Content-Length: 99999999999999999999"), "InvalidHeaderValue", BY_PARSER],
    [lines("Transfer-Encoding: xchunked"), "InvalidHeaderValue"],
  ];
  for (const [text, code, onNode] of wrong) {
    const client = running.connect().send(text + GET);
    const { status, headers, body } = await client.answer();
    const isByParser = isOnNode(t) && onNode === BY_PARSER;
    const wanted = isByParser ? undefined : code;
    assert.deepEqual([status, headers.get("x-ms-error-code")], [400, wanted], text);
    const requestId = running.outcomes.at(-1)?.requestId;
    assert.equal(headers.get("x-ms-request-id"), requestId);
    assert.match(body, isByParser ? /^$/ : new RegExp(`RequestId:${requestId}`));
    assert.equal(headers.get("connection"), "close");
    assert.equal(await client.closed, "", "nothing behind it is taken for a request");
  }
  assert.equal(running.outcomes.length, wrong.length);
});

testOnBoth("an unknown verb is refused by name, and the next request served", async (t) => {
  const running = await listen(t, () => DONE);
  let client = running.connect();
  for (const [verb, status, code, onNode] of [
    ["FROB", 400, "InvalidHttpVerb", BY_PARSER],
    ["get", 400, "InvalidHttpVerb", BY_PARSER],
    ["PROPFIND", 405, "UnsupportedHttpVerb", undefined],
  ] as const) {
    const body = "Content-Length: 3\r\n\r\nabc";
    const refused = await client.send(`${verb} / HTTP/1.1\r\nHost: x\r\n${body}`).answer();
    if (isOnNode(t) && onNode === BY_PARSER) {
      assert.deepEqual([refused.status, refused.body], [400, ""]);
      assert.equal(await client.closed, "");
      client = running.connect();
    } else {
      assert.deepEqual([refused.status, refused.headers.get("x-ms-error-code")], [status, code]);
      assert.match(refused.body, new RegExp(`<Method>${verb}</Method>`));
    }
    assert.equal((await client.send(GET).answer()).status, 201);
  }
});

testOnBoth("headers that Azure allows fit: 8 KiB of metadata, and a copy source", async (t) => {
  const running = await listen(t, (asked) => {
    assert.equal(asked.headers.raw.length, 2 * 1_102);
    return DONE;
  });
  const metadata = Array.from({ length: 1_000 }, (_, at) => `x-ms-meta-${at}: 1234\r\n`).join("");
  const others = Array.from({ length: 100 }, (_, at) => `x-other-${at}: 1\r\n`).join("");
  const source = `x-ms-copy-source: ${"s".repeat(2 * KIB)}\r\n`;
  const head = `GET / HTTP/1.1\r\nHost: x\r\n${metadata}${others}${source}\r\n`;
  assert.equal((await running.connect().send(head).answer()).status, 201);
});

testOnBoth("an unfinished head gets a 408, and a silent connection is closed", async (t) => {
  const running = await listen(t, () => assert.fail("was asked"), {
    limits: { headersMs: 1, headersCheckMs: 1 },
  });
  await running.connect().closed;
  assert.match(await running.connect().send("GET / HTTP/1.1\r\nHost:").closed, /^HTTP\/1\.1 408 /);
});

testOnBoth("an idle connection is closed after the time that its answers announce", async (t) => {
  const running = await listen(t, () => DONE);
  const { headers } = await running.connect().send(GET).answer();
  assert.equal(headers.get("keep-alive"), "timeout=300");
  const hasty = await listen(t, () => DONE, { limits: { keepAliveMs: 1 } });
  const client = hasty.connect();
  await client.send(GET).answer();
  await client.closed;
});

testOnBoth("after any sequence of bytes the next client is served", async (t) => {
  const running = await listen(t, () => DONE, { limits: { headersMs: 1, headersCheckMs: 1 } });
  const piece = fc.oneof(
    fc.constantFrom(
      ...["GET ", "PUT ", "/", "/a?b=%", " HTTP/1.1", " HTTP/1.0", "\r\n", "\r\n\r\n", "\n", ": "],
      ...["Host: x\r\n", "Content-Length: 3\r\n", "Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n"],
      ...["Expect: 100-continue\r\n", "Connection: upgrade\r\nUpgrade: x\r\n", "CONNECT ", "*"],
    ),
    fc.string({ unit: "binary", maxLength: 5 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 15 }), async (pieces) => {
      const client = running.connect().send(pieces.join(""));
      client.socket.end();
      await client.closed;
    }),
    { numRuns: 200 },
  );
  const patient = await listen(t, () => DONE);
  assert.equal((await patient.connect().send(GET).answer()).status, 201);
  assert.deepEqual(running.failures, []);
});
