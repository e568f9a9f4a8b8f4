import assert from "node:assert/strict";
import type { BorrowedBuffer } from "../../../base/borrowed-buffer.ts";
import { ManualClock } from "../../../base/clock.ts";
import { KIB, MIB } from "../../../base/limits.ts";
import { SendBudget } from "../../send-budget.ts";
import type { ResponseStream, RestResponse } from "./exchange.ts";
import { GET, LARGE_BYTES, listen, testOnBoth } from "./listener.fixture.ts";

const SHARE_BYTES = 64 * KIB;
const nextIteration = () => new Promise((resolve) => setImmediate(resolve));

/** Makes bodies of `LARGE_BYTES`, and counts how much of them is borrowed. */
class Owners {
  bytes = 0;
  most = 0;
  pulled = 0;

  answer(): RestResponse {
    return { status: 200, headers: [], body: this.#stream() };
  }

  #stream(): ResponseStream {
    let left = LARGE_BYTES;
    const borrow = async (asked: number): Promise<BorrowedBuffer | null> => {
      if (left === 0) return null;
      const length = Math.min(left, asked);
      left -= length;
      this.bytes += length;
      this.pulled++;
      this.most = Math.max(this.most, this.bytes);
      const release = () => {
        this.bytes -= length;
      };
      return { parts: [Buffer.alloc(length)], mayOverwrite: true, release };
    };
    return { length: LARGE_BYTES, borrow, close() {} };
  }

  /** Resolves when the systems' buffers are full and nothing is borrowed any more. */
  async standStill(): Promise<void> {
    for (let before = -1; before !== this.pulled; ) {
      before = this.pulled;
      for (let time = 0; time < 200; time++) await nextIteration();
    }
  }
}

testOnBoth("clients that do not read never borrow more than the budget", async (t) => {
  const owners = new Owners();
  const sizes = { largeBytesMax: 8 * MIB, smallBytesMax: 4 * SHARE_BYTES };
  const running = await listen(t, () => owners.answer(), {
    options: { budget: new SendBudget(sizes) },
    limits: { drainMs: 1 },
  });
  const clients = Array.from({ length: 20 }, () => running.connect().send(GET));
  for (const { socket } of clients) socket.pause();
  await owners.standStill();
  assert.ok(owners.most <= sizes.largeBytesMax + sizes.smallBytesMax, `${owners.most}`);
  assert.ok(owners.bytes > 0);
});

testOnBoth("a client behind stalled readers gets its whole answer once they are cut", async (t) => {
  const owners = new Owners();
  const sizes = { largeBytesMax: 1, smallBytesMax: 2 * SHARE_BYTES };
  const budget = new SendBudget(sizes);
  // From now on nobody gets a large share.
  assert.notEqual(budget.tryLarge(1, false), null);
  const running = await listen(t, () => owners.answer(), {
    options: { budget },
    limits: { paceCheckMs: 1, send: { checks: 100, bytesMin: 1 } },
  });
  const idle = [running.connect().send(GET), running.connect().send(GET)];
  for (const { socket } of idle) socket.pause();
  await owners.standStill();
  const { body } = await running.connect().send(GET).answer();
  assert.equal(body.length, LARGE_BYTES);
  for (const { socket } of idle) socket.resume();
  for (const { closed } of idle) assert.ok((await closed).length < LARGE_BYTES);
  assert.ok(owners.most <= 2 * SHARE_BYTES);
});

testOnBoth("small answers do not wait behind large ones", async (t) => {
  const owners = new Owners();
  const budget = new SendBudget({ largeBytesMax: 1, smallBytesMax: 1 });
  const small = { status: 200, headers: [], body: "small" };
  const running = await listen(t, ({ path }) => (path === "/small" ? small : owners.answer()), {
    options: { budget },
    limits: { drainMs: 1 },
  });
  const idle = Array.from({ length: 4 }, () => running.connect().send(GET));
  for (const { socket } of idle) socket.pause();
  await owners.standStill();
  const asked = running.connect().send("GET /small HTTP/1.1\r\nHost: x\r\n\r\n");
  assert.equal((await asked.answer()).body, "small");
});

testOnBoth(
  "unread answers in memory are bounded, and clients that read get theirs whole",
  async (t) => {
    const clock = new ManualClock(0);
    const budget = new SendBudget({ unsentBytesMax: 2 * LARGE_BYTES }, clock);
    const body = Buffer.alloc(LARGE_BYTES, "x");
    const running = await listen(t, () => ({ status: 200, headers: [], body }), {
      options: { budget },
      limits: { drainMs: 1 },
    });
    const idle = [running.connect().send(GET), running.connect().send(GET)];
    for (const { socket } of idle) socket.pause();
    while (budget.unsent.bytes < 2 * LARGE_BYTES) await nextIteration();
    // The first look finds that the system has taken some bytes, the second that nobody reads them.
    for (let look = 0; look < 2; look++) {
      clock.advance(1_000);
      assert.equal((await running.connect().send(GET).answer()).body.length, LARGE_BYTES);
    }
    for (const { socket } of idle) socket.resume();
    const lengths = await Promise.all([
      idle[0]?.closed.then((received) => received.length),
      idle[1]?.answer().then(({ body }) => body.length),
    ]);
    assert.ok((lengths[0] as number) < LARGE_BYTES, "the one that came first is cut");
    assert.equal(lengths[1], LARGE_BYTES);
  },
);
