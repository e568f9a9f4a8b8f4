import assert from "node:assert/strict";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { parseHead, type RequestHead, UNKNOWN_LENGTH } from "./request-head.ts";

function lines(...all: string[]): string {
  return all.map((line) => `${line}\r\n`).join("");
}

function get(...headers: string[]): RequestHead {
  const head = parseHead(lines("GET / HTTP/1.1", "Host: x", ...headers));
  return typeof head === "number" ? assert.fail(`refused with ${head}`) : head;
}

test("headers are found in any case, and values have no blanks around them", () => {
  const { method, target, headers } = get("X-MS-Meta-A: \t a  b \t", "Empty:", "Tight:1");
  assert.deepEqual([method, target], ["GET", "/"]);
  assert.equal(headers.get("x-ms-meta-a"), "a  b");
  assert.equal(headers.get("empty"), "");
  assert.equal(headers.get("tight"), "1");
  assert.equal(headers.get("constructor"), undefined);
  assert.deepEqual(headers.raw.slice(2), ["X-MS-Meta-A", "a  b", "Empty", "", "Tight", "1"]);
});

test("if a header comes twice, its values are joined, or the first counts", () => {
  const { headers } = get("A: 1", "a: 2", "Authorization: first", "authorization: second");
  assert.equal(headers.get("a"), "1, 2");
  assert.equal(headers.get("authorization"), "first");
  assert.equal(headers.raw.length, 10);
});

test("a head with an unclear body length is refused", () => {
  assert.equal(get().bodyBytes, 0);
  assert.equal(get("Content-Length: 12").bodyBytes, 12);
  assert.equal(get("Transfer-Encoding: gzip, Chunked").bodyBytes, UNKNOWN_LENGTH);
  for (const headers of [
    ["Content-Length: "],
    ["Content-Length: +1"],
    ["Content-Length: 1, 1"],
    ["Content-Length: 9007199254740992"],
    ["Content-Length: 1", "content-length: 1"],
    ["Content-Length: 1", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
    ["Transfer-Encoding: chunked, gzip"],
    ["Transfer-Encoding: "],
  ]) {
    const text = lines("GET / HTTP/1.1", "Host: x", ...headers);
    assert.equal(refusalOf(text), "InvalidHeaderValue", headers.join());
  }
});

/** The code of the refusal. A refused request is the last one on its connection. */
function refusalOf(text: string): string | undefined {
  const head = parseHead(text);
  if (typeof head === "number") assert.fail(`refused with ${head}`);
  if (head.refusal !== null) assert.deepEqual([head.bodyBytes, head.keepsAlive], [0, false]);
  return head.refusal?.code;
}

test("the refusal of a length has the header's name and value", () => {
  const detailOf = (...headers: string[]) => get(...headers).refusal?.detail;
  const [name, value] = ["HeaderName", "HeaderValue"] as const;
  const wrong = detailOf("Content-Length: -1");
  assert.deepEqual([wrong?.[name], wrong?.[value]], ["Content-Length", "-1"]);
  const twice = detailOf("Content-Length: 1", "content-length: 2");
  assert.deepEqual([twice?.[name], twice?.[value]], ["content-length", "1, 2"]);
  const both = detailOf("Content-Length: 1", "Transfer-Encoding: chunked");
  assert.deepEqual([both?.[name], both?.[value]], ["Transfer-Encoding", "chunked"]);
});

test("a host comes exactly once; HTTP/1.0 may omit it", () => {
  assert.equal(refusalOf(lines("GET / HTTP/1.1")), "HostInformationNotPresent");
  assert.equal(refusalOf(lines("GET / HTTP/1.1", "Host: x", "Host: y")), "InvalidHeaderValue");
  assert.equal(refusalOf(lines("GET / HTTP/1.0")), undefined);
});

test("a head may have any verb", () => {
  for (const verb of ["BREW", "get", "M-SEARCH", "x.1"]) {
    assert.equal((parseHead(lines(`${verb} / HTTP/1.1`, "Host: x")) as RequestHead).method, verb);
  }
});

test("version and Connection header decide whether the connection stays open", () => {
  const goesOn = (version: string, ...headers: string[]) => {
    const head = parseHead(lines(`GET / HTTP/${version}`, "Host: x", ...headers));
    return (head as RequestHead).keepsAlive;
  };
  assert.equal(goesOn("1.1"), true);
  assert.equal(goesOn("1.1", "Connection: Keep-Alive, TE"), true);
  assert.equal(goesOn("1.1", "Connection: TE , Close"), false);
  assert.equal(goesOn("1.0"), false);
  assert.equal(goesOn("1.0", "Connection: keep-alive"), true);
});

test("HTTP/1.1 may expect 100-continue, and nothing else", () => {
  assert.equal(get("Expect: 100-Continue").waitsForContinue, true);
  assert.equal(get().waitsForContinue, false);
  assert.equal(parseHead(lines("GET / HTTP/1.1", "Host: x", "Expect: more")), 417);
  const older = parseHead(lines("GET / HTTP/1.0", "Expect: 100-continue")) as RequestHead;
  assert.equal(older.waitsForContinue, false);
});

test("a line that a proxy might read differently is refused", () => {
  for (const head of [
    lines("GET / HTTP/1.1", "Host: x", "a : 1"),
    lines("GET / HTTP/1.1", "Host: x", " folded"),
    lines("GET / HTTP/1.1", "Host: x", ": 1"),
    lines("GET / HTTP/1.1", "Host: x", "no colon"),
    lines("GET / HTTP/1.1", "Host: x", "a: 1\nb: 2"),
    lines("GET / HTTP/1.1", "Host: x", "a: 1\rb: 2"),
    lines("GET / HTTP/1.1", "Host: x", "a: \0"),
    lines("GET / HTTP/1.1", "Host: x", "\u00e9: 1"),
    lines("GET /a b HTTP/1.1", "Host: x"),
    lines("GET  / HTTP/1.1", "Host: x"),
    lines("GET / HTTP/1.2", "Host: x"),
    lines("GET / http/1.1", "Host: x"),
    lines("GE(T) / HTTP/1.1", "Host: x"),
    lines("GET /", "Host: x"),
  ]) {
    assert.equal(parseHead(head), 400, head);
  }
});

test("Node's parser accepts every head that ours accepts, and reads it in the same way", async (t) => {
  let heard: (message: IncomingMessage | null) => void = () => {};
  const server = createServer({ requireHostHeader: false }, (message, answer) => {
    heard(message);
    answer.destroy();
  });
  server.on("checkContinue", (message, answer) => server.emit("request", message, answer));
  server.on("clientError", (_, socket) => {
    heard(null);
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  const ask = (head: string) =>
    new Promise<IncomingMessage | null>((resolve) => {
      heard = resolve;
      connect(port, "127.0.0.1")
        .on("error", () => {})
        .end(`${head}\r\n`, "latin1");
    });

  const name = fc.constantFrom("a", "A", "x-ms-meta-b", "Authorization", "Content-Type", "!#~");
  const value = fc.stringMatching(/^[\t !-~\x80-\xff]{0,12}$/);
  const header = fc.tuple(name, value).map(([one, other]) => `${one}:${other}`);
  const own = fc.constantFrom(
    "Content-Length: 0",
    "Transfer-Encoding: chunked",
    "Host: y",
    "a b: 1",
  );
  const target = fc.stringMatching(/^\/[!-~]{0,12}$/);
  const method = fc.constantFrom("GET", "PUT", "MERGE", "M-SEARCH");
  const headers = fc.array(fc.oneof({ weight: 5, arbitrary: header }, own), { maxLength: 6 });
  await fc.assert(
    fc.asyncProperty(method, target, headers, async (verb, path, all) => {
      const text = lines(`${verb} ${path} HTTP/1.1`, "Host: x", ...all);
      const head = parseHead(text);
      if (typeof head === "number" || head.refusal !== null) return;
      const message = await ask(text);
      assert.ok(message !== null, text);
      assert.deepEqual([head.method, head.target], [message.method, message.url]);
      assert.deepEqual(head.headers.raw, message.rawHeaders);
      for (const [key, wanted] of Object.entries(message.headers)) {
        assert.equal(head.headers.get(key), wanted, key);
      }
    }),
    { numRuns: 300 },
  );
});
