import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { Duplex } from "node:stream";
import { test } from "node:test";
import { Connection } from "./connection.ts";
import { DEFAULT_LIMITS, type ListenerLimits } from "./limits.ts";
import { DONE, GET, LARGE_BYTES, listen, testOnBoth } from "./listener.fixture.ts";
import { restReadMemory } from "./own-server.ts";

testOnBoth("a client that ends its side of the connection still gets its answers", async (t) => {
  const running = await listen(t, () => DONE);
  const client = running.connect().send(GET + GET);
  client.socket.end();
  assert.equal((await client.answer()).status, 201);
  assert.equal((await client.answer()).status, 201);
  assert.equal(await client.closed, "");
});

testOnBoth("the connection is closed after an answer if the client asks for that", async (t) => {
  const running = await listen(t, () => DONE);
  for (const head of [
    "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
    "GET / HTTP/1.0\r\n\r\n",
  ]) {
    const client = running.connect().send(head + GET);
    const { status, headers } = await client.answer();
    assert.equal(status, 201);
    assert.equal(headers.get("connection"), "close");
    assert.equal(await client.closed, "");
  }
});

testOnBoth("a head may come in many pieces, and behind blank lines", async (t) => {
  const running = await listen(t, () => DONE);
  const client = running.connect();
  for (const byte of `\r\n\r\n${GET}`) {
    client.send(byte);
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.equal((await client.answer()).status, 201);
});

testOnBoth(
  "reading stops while a client pipelines requests without having an answer",
  async (t) => {
    const asked: string[] = [];
    const running = await listen(
      t,
      ({ path }) => {
        asked.push(path);
        return path === "/slow" ? new Promise(() => {}) : DONE;
      },
      { limits: { bufferedBytesMax: 1, drainMs: 1 } },
    );
    const slow = GET.replace("/a/c/b", "/slow");
    let isTaken = false;
    running.connect().socket.write(slow.repeat(Math.ceil(LARGE_BYTES / slow.length)), () => {
      isTaken = true;
    });
    const other = running.connect();
    while (!asked.includes("/slow")) await other.send(GET).answer();
    // Long enough to read all of it, if the server continued to read.
    for (let time = 0; time < 1_000; time++) await other.send(GET).answer();
    assert.equal(isTaken, false);
    assert.equal(asked.filter((path) => path === "/slow").length, 1);
  },
);

test("a late request gets a 408, and an idle connection is closed without an answer", () => {
  const { headersMs, keepAliveMs } = DEFAULT_LIMITS;
  const silent = connected();
  silent.connection.wait(headersMs);
  assert.equal(silent.sent(), "");
  silent.connection.wait(1);
  assert.match(silent.sent(), /^HTTP\/1\.1 408 /);

  const { connection, socket, sent } = connected();
  socket.emit("data", Buffer.from(GET));
  connection.wait(10 * keepAliveMs);
  connection.over();
  connection.wait(keepAliveMs);
  assert.equal(socket.destroyed, false);
  // A head that has begun has less time, and further bytes of it do not extend that time.
  socket.emit("data", Buffer.from("GET /"));
  connection.wait(headersMs - 1);
  socket.emit("data", Buffer.from("a"));
  connection.wait(1);
  assert.equal(socket.destroyed, false);
  connection.wait(1);
  assert.match(sent(), /^HTTP\/1\.1 408 /);

  const idle = connected();
  idle.socket.emit("data", Buffer.from(GET));
  idle.connection.over();
  idle.connection.wait(keepAliveMs + 1);
  assert.equal(idle.socket.destroyed, true);
  assert.equal(idle.sent(), "");
});

test("blank lines do not keep a connection open", () => {
  const { headersMs, keepAliveMs } = DEFAULT_LIMITS;
  const silent = connected();
  silent.connection.wait(headersMs);
  silent.socket.emit("data", Buffer.from("\r\n\r\n"));
  silent.connection.wait(1);
  assert.match(silent.sent(), /^HTTP\/1\.1 408 /);

  const idle = connected();
  idle.socket.emit("data", Buffer.from(GET));
  idle.connection.over();
  idle.connection.wait(keepAliveMs);
  idle.socket.emit("data", Buffer.from("\r\n"));
  idle.connection.wait(1);
  assert.equal(idle.socket.destroyed, true);
});

test("with keep-alive 0 an idle connection stays open, and answers announce no limit", async (t) => {
  const { connection, socket } = connected({ keepAliveMs: 0 });
  socket.emit("data", Buffer.from(GET));
  connection.over();
  connection.wait(Number.MAX_SAFE_INTEGER);
  assert.equal(socket.destroyed, false);
  const running = await listen(t, () => DONE, { limits: { keepAliveMs: 0 } });
  const { headers } = await running.connect().send(GET).answer();
  assert.equal(headers.get("connection"), "keep-alive");
  assert.equal(headers.get("keep-alive"), undefined);
});

/** A connection without a real socket, whose requests nobody answers. */
function connected(limits: Partial<ListenerLimits> = {}) {
  let sent = "";
  const duplex = new Duplex({
    read() {},
    write(bytes, _, done) {
      sent += bytes;
      done();
    },
  });
  const socket = Object.assign(duplex, {
    destroySoon: () => duplex.destroy(),
  }) as unknown as Socket;
  const owner = {
    limits: { ...DEFAULT_LIMITS, ...limits },
    readMemory: restReadMemory(),
    closing: false,
    serve() {},
    rested() {},
    noteRefusal: (_: Connection, status: number) => ({ status, lines: "" }),
  };
  return { connection: new Connection(socket, owner), socket, sent: () => sent };
}
