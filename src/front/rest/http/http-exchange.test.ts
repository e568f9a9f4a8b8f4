import assert from "node:assert/strict";
import type { BorrowedBuffer } from "../../../base/borrowed-buffer.ts";
import type { Bytes } from "../../../base/bytes.ts";
import { KIB } from "../../../base/limits.ts";
import type { ResponseStream } from "./exchange.ts";
import { GET, LARGE_BYTES, listen, put, testOnBoth } from "./listener.fixture.ts";

const PART_BYTES = 64 * KIB;
const PARTS = LARGE_BYTES / PART_BYTES;

/** A stream that counts what is done to it. */
class Counted implements ResponseStream {
  readonly length: number;
  pulled = 0;
  /** Buffers that were not released yet. */
  borrowed = 0;
  closed = 0;
  readonly isClosed: Promise<void>;
  #close = () => {};
  readonly #bytesOf: (part: number) => Bytes;

  constructor(length: number, bytesOf: (part: number) => Bytes) {
    this.length = length;
    this.#bytesOf = bytesOf;
    this.isClosed = new Promise((resolve) => {
      this.#close = resolve;
    });
  }

  async borrow(): Promise<BorrowedBuffer | null> {
    if (this.pulled === this.length / PART_BYTES) return null;
    const bytes = this.#bytesOf(this.pulled++);
    this.borrowed++;
    return { parts: [bytes], mayOverwrite: true, release: () => this.borrowed-- };
  }

  close(): void {
    this.closed++;
    this.#close();
  }
}

function large(): Counted {
  return new Counted(LARGE_BYTES, (part) => Buffer.alloc(PART_BYTES, part));
}

testOnBoth("all of a stream is sent, and it is closed once", async (t) => {
  const stream = large();
  const streams = [stream, large()];
  const running = await listen(t, () => ({
    status: 200,
    headers: [],
    body: streams.shift() ?? null,
  }));
  const client = running.connect().send(GET);
  const { headers, body } = await client.answer();
  assert.equal(headers.get("content-length"), String(LARGE_BYTES));
  const bytes = Buffer.from(body, "latin1");
  for (let part = 0; part < PARTS; part++) {
    const sent = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES);
    assert.ok(sent.equals(Buffer.alloc(PART_BYTES, part)), `part ${part}`);
  }
  assert.equal(stream.closed, 1);
  assert.equal(stream.borrowed, 0);
  // The connection stays open.
  client.send(GET);
  await client.until(/HTTP\/1\.1 200/);
});

testOnBoth("all of a large buffer is sent", async (t) => {
  const whole = Buffer.alloc(LARGE_BYTES, "0123456789");
  const running = await listen(t, () => ({ status: 200, headers: [], body: whole }));
  assert.ok((await running.connect().send(GET).answer()).body === whole.toString("latin1"));
});

testOnBoth("a stream is read no faster than a slow client reads", async (t) => {
  const stream = large();
  const running = await listen(t, () => ({ status: 200, headers: [], body: stream }));
  const client = running.connect().send(GET);
  await client.until(/\r\n\r\n/);
  client.socket.pause();
  // The system's buffers fill up, and then nothing moves any more.
  let before = -1;
  while (stream.pulled !== before) {
    before = stream.pulled;
    for (let time = 0; time < 100; time++) await new Promise((resolve) => setImmediate(resolve));
  }
  assert.ok(before < PARTS, `${before} of ${PARTS} parts were pulled`);
  client.socket.resume();
  await stream.isClosed;
  assert.equal(stream.pulled, PARTS);
});

testOnBoth(
  "when the client goes away, all buffers are released and the stream is closed",
  async (t) => {
    const stream = large();
    const running = await listen(t, () => ({ status: 200, headers: [], body: stream }));
    const client = running.connect().send(GET);
    await client.until(/\r\n\r\n/);
    client.socket.destroy();
    await stream.isClosed;
    assert.equal(stream.borrowed, 0);
    assert.ok(stream.pulled < PARTS);
    assert.deepEqual(running.failures, []);
  },
);

testOnBoth("a client that stops reading is cut", async (t) => {
  for (const body of [large(), Buffer.alloc(LARGE_BYTES)]) {
    const running = await listen(t, () => ({ status: 200, headers: [], body }), {
      limits: { paceCheckMs: 1, send: { checks: 50, bytesMin: 1 } },
    });
    const answered = running.answered();
    const client = running.connect().send(GET);
    await client.until(/\r\n\r\n/);
    client.socket.pause();
    await answered;
    assert.equal(running.outcomes[0]?.aborted, true);
    client.socket.resume();
    assert.ok((await client.closed).length < LARGE_BYTES);
  }
});

testOnBoth("a stream that breaks or has the wrong length cuts the connection", async (t) => {
  const part = Buffer.alloc(PART_BYTES);
  const streams = [
    new Counted(2 * PART_BYTES, (at) => {
      if (at === 1) throw new Error("damaged");
      return part;
    }),
    new Counted(2 * PART_BYTES, (at) => (at === 0 ? part : part.subarray(1))),
    new Counted(2 * PART_BYTES, (at) => (at === 0 ? part : Buffer.concat([part, part]))),
  ];
  for (const stream of streams) {
    const running = await listen(t, () => ({ status: 200, headers: [], body: stream }));
    const received = await running.connect().send(GET).closed;
    assert.ok(received.length < received.indexOf("\r\n\r\n") + 4 + stream.length);
    assert.equal(running.failures.length, 1);
    assert.equal(stream.closed, 1);
    assert.equal(stream.borrowed, 0);
  }
});

testOnBoth("a stream is closed unread if its answer has no body", async (t) => {
  const streams: Counted[] = [];
  const running = await listen(t, (asked) => {
    const stream = large();
    streams.push(stream);
    return { status: asked.method === "HEAD" ? 200 : 304, headers: [], body: stream };
  });
  const client = running.connect();
  await client.send(GET.replace("GET", "HEAD")).until(/\r\n\r\n/);
  await client.send(GET).until(/\r\n\r\n/);
  assert.deepEqual(
    streams.map(({ closed, pulled }) => [closed, pulled]),
    [
      [1, 0],
      [1, 0],
    ],
  );
});

testOnBoth("pipelined requests are handled one after the other, in order", async (t) => {
  const events: string[] = [];
  const running = await listen(t, async (asked) => {
    const name = asked.path.slice(1);
    events.push(`${name} begins`);
    await asked.body.drain(() => {});
    await new Promise((resolve) => setImmediate(resolve));
    events.push(`${name} ends`);
    return { status: 200, headers: [], body: name };
  });
  const client = running.connect();
  const request = (name: string) => put(2).replace("/a/c/b", `/${name}`);
  client.send(`${request("1")}xx${request("2")}xx${request("3")}x`);
  client.send("x");
  for (const name of ["1", "2", "3"]) assert.equal((await client.answer()).body, name);
  assert.deepEqual(
    events,
    ["1", "2", "3"].flatMap((name) => [`${name} begins`, `${name} ends`]),
  );
});
