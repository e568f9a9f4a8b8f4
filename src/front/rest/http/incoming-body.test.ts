import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { collect as collectBytes } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import { KIB } from "../../../base/limits.ts";
import { beginsOnPage } from "../../../machine/aligned-bytes.ts";
import type { RestRequest, RestResponse } from "./exchange.ts";
import {
  DONE,
  GET,
  LARGE_BYTES,
  listen,
  put,
  type Running,
  testOnBoth,
} from "./listener.fixture.ts";

/** A promise that the test resolves with `open`. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** How a drain ended: "whole", or the code of its Fault. */
function outcome(drained: Promise<void>): Promise<string> {
  return drained.then(
    () => "whole",
    (error) => (error instanceof Fault ? error.code : String(error)),
  );
}

async function collect({ body }: RestRequest): Promise<RestResponse> {
  const parts: Buffer[] = [];
  await body.drain((part) => {
    parts.push(Buffer.from(part));
  });
  return { status: 200, headers: [], body: Buffer.concat(parts) };
}

testOnBoth(
  "a body arrives complete and in order, together with its head or byte by byte",
  async (t) => {
    const running = await listen(t, collect);
    const client = running.connect();
    assert.equal((await client.send(`${put(5)}hello`).answer()).body, "hello");
    client.send(put(5));
    for (const byte of "world") client.send(byte);
    assert.equal((await client.answer()).body, "world");
    assert.equal((await client.send(put(0)).answer()).body, "");
  },
);

testOnBoth(
  "a body that comes before it is drained keeps all its bytes, blank lines too",
  async (t) => {
    const asked = gate();
    const go = gate();
    const running = await listen(t, async (request) => {
      if (request.body.length === 0) return DONE;
      asked.open();
      await go.opened;
      return collect(request);
    });
    const text = "\r\n\r\n\nhello\r\n";
    const client = running.connect().send(put(text.length));
    await asked.opened;
    client.send(text.slice(0, 3));
    const other = running.connect();
    // By the time another client has its answers, the server has read what came before.
    const catchUp = async () => {
      for (let time = 0; time < 3; time++) await other.send(GET).answer();
    };
    await catchUp();
    client.send(text.slice(3));
    await catchUp();
    go.open();
    assert.equal((await client.answer()).body, text);
  },
);

testOnBoth("a taker gets one part at a time, and a slow taker slows the sender down", async (t) => {
  const first = gate();
  const release = gate();
  let working = 0;
  let bytes = 0;
  const running = await listen(t, async ({ body }) => {
    await body.drain(async (part) => {
      assert.equal(++working, 1, "the next part comes once this one is taken");
      bytes += part.length;
      first.open();
      await release.opened;
      working--;
    });
    return DONE;
  });
  const client = running.connect().send(put(LARGE_BYTES));
  const allSent = new Promise<void>((resolve) => {
    client.socket.write(Buffer.alloc(LARGE_BYTES), () => resolve());
  });
  await first.opened;
  assert.ok(bytes <= 72 * KIB, "no more than one part of the socket's was taken");
  assert.equal(await Promise.race([allSent.then(() => "sent"), immediately()]), "not yet");
  release.open();
  assert.equal((await client.answer()).status, 201);
  assert.equal(bytes, LARGE_BYTES);
});

function immediately(): Promise<string> {
  return new Promise((resolve) => setImmediate(resolve, "not yet"));
}

test("takeWhole returns a body that has arrived; any other is drained", async (t) => {
  const taken: string[] = [];
  const running = await listen(t, async ({ body }) => {
    const whole = body.takeWhole?.() ?? null;
    if (whole === null) return collect({ body } as RestRequest);
    taken.push(String(whole));
    assert.equal(body.takeWhole?.(), null);
    await assert.rejects(
      body.drain(() => {}),
      /only once/,
    );
    return DONE;
  });
  const client = running.connect().send(`${put(5)}hello${put(5)}world`);
  assert.equal((await client.answer()).status, 201);
  assert.equal((await client.answer()).status, 201);
  client.send(put(5));
  await running.connect().send(GET).answer();
  const { status, body } = await client.send("later").answer();
  assert.deepEqual([status, body], [200, "later"]);
  assert.deepEqual(taken.slice(0, 2), ["hello", "world"]);
});

const [FIRST, HELLO, LATER] = ["first".repeat(40), "hello".repeat(40), "later".repeat(40)];

/** A client whose second body a handler has taken. After `go` the handler puts it into `text`. */
async function lookedAt(t: TestContext) {
  const taken = gate();
  const go = gate();
  const seen = gate();
  const looked = { go, seen, text: "" };
  const running = await listen(t, async ({ body }) => {
    if (body.length !== HELLO.length) return DONE;
    const whole = body.takeWhole?.() ?? null;
    if (String(whole) === HELLO) {
      taken.open();
      await go.opened;
      looked.text = String(whole);
      seen.open();
    }
    return { status: 200, headers: [], body: String(whole) };
  });
  const client = running.connect();
  // The next requests are read to the same place in memory.
  assert.equal((await client.send(`${put(200)}${FIRST}`).answer()).body, FIRST);
  client.send(`${put(200)}${HELLO}`);
  await taken.opened;
  return { running, client, looked };
}

test("a taken body does not change until its answer is sent, whatever else arrives", async (t) => {
  const { running, client, looked } = await lookedAt(t);
  client.send(`${put(200)}${LATER}`);
  await untilRead(running);
  looked.go.open();
  assert.equal((await client.answer()).body, HELLO);
  assert.equal((await client.answer()).body, LATER);
});

test("a taken body does not change after its sender has gone, until the handler ends", async (t) => {
  const { running, client, looked } = await lookedAt(t);
  client.socket.resetAndDestroy();
  await untilRead(running);
  looked.go.open();
  await looked.seen.opened;
  assert.equal(looked.text, HELLO);
});

testOnBoth("bytes behind a request survive when the request's memory is used again", async (t) => {
  const running = await listen(t, collect);
  const client = running.connect();
  const next = `${put(6)}goodby`;
  client.send(`${put(5)}hello${next.slice(0, 20)}`);
  assert.equal((await client.answer()).body, "hello");
  await untilRead(running);
  assert.equal((await client.send(next.slice(20)).answer()).body, "goodby");
});

/**
 * Waits until the server has read everything that was sent before, and has used all free memory for
 * other clients.
 */
async function untilRead(running: Running): Promise<void> {
  for (let time = 0; time < 5; time++) {
    const other = running.connect();
    const request = `${put(8 * KIB)}${"x".repeat(8 * KIB)}`;
    for (let again = 0; again < 3; again++) await other.send(request).answer();
  }
}

test("a body lies on a page, with room behind it, if its head is as long as the last one", async (t) => {
  const found: string[] = [];
  const running = await listen(t, async ({ body }) => {
    const whole = body.takeWhole?.(4) ?? null;
    if (whole === null) {
      found.push(String(await collectBytes(body)));
      return DONE;
    }
    assert.equal(whole.length, body.length + 4);
    assert.equal(body.takeWhole?.(), null);
    const bytes = whole.subarray(0, body.length);
    found.push(`${beginsOnPage(whole) ? "on a page" : "with room"}: ${bytes}`);
    return DONE;
  });
  const client = running.connect();
  const send = async (text: string) => {
    assert.equal((await client.send(text).answer()).status, 201);
  };
  await send(`${put(5)}first`);
  await send(`${put(5)}alike`);
  // Its head is longer by a digit.
  await send(`${put(10)}other head`);
  await send(`${put(10)}alike, too`);
  // Behind it is the next request.
  await send(`${put(10)}two at one${put(10)}`);
  await send("go, or not");
  assert.deepEqual(found, [
    ...["with room: first", "on a page: alike", "with room: other head", "on a page: alike, too"],
    ...["two at one", "go, or not"],
  ]);
});

testOnBoth("a body can be drained only once", async (t) => {
  const running = await listen(t, async ({ body }) => {
    await body.drain(() => {});
    await assert.rejects(
      body.drain(() => {}),
      /only once/,
    );
    return DONE;
  });
  assert.equal(
    (
      await running
        .connect()
        .send(`${put(1)}x`)
        .answer()
    ).status,
    201,
  );
});

testOnBoth("the parts of slow takers do not change while other clients send", async (t) => {
  const allHave = [gate(), gate()];
  const go = gate();
  const running = await listen(t, async ({ path, body }) => {
    if (body.length === 0) return DONE;
    const parts: Buffer[] = [];
    await body.drain(async (part) => {
      const isLast = part.includes("!");
      if (isLast) allHave[path === "/1" ? 1 : 0]?.open();
      if (isLast) await go.opened;
      parts.push(Buffer.from(part));
    });
    return { status: 200, headers: [], body: Buffer.concat(parts) };
  });
  const bodies = ["a".repeat(20 * KIB), "b".repeat(20 * KIB)].map((text) => `${text}!`);
  const clients = bodies.map((body, at) => {
    const client = running.connect();
    // Behind another request, the body is received in an iteration of its own.
    const head = put(body.length).replace("/a/c/b", `/${at}`);
    return client.send(`${at === 0 ? "" : GET}${head}`);
  });
  assert.equal((await clients[1]?.answer())?.status, 201);
  for (const [at, client] of clients.entries()) client.send(bodies[at] as string);
  for (const { opened } of allHave) await opened;
  const other = running.connect();
  for (let time = 0; time < 3; time++) await other.send(put(9)).send("something").answer();
  go.open();
  for (const [at, client] of clients.entries()) {
    assert.equal((await client.answer()).body, bodies[at]);
  }
});

testOnBoth("an error of the taker ends the drain, and becomes the answer", async (t) => {
  for (const wait of [false, true]) {
    const running = await listen(t, async ({ body }) => {
      await body.drain((): void | Promise<void> => {
        const fault = new Fault("Md5Mismatch");
        if (wait) return Promise.reject(fault);
        throw fault;
      });
      return DONE;
    });
    const client = running.connect().send(`${put(100)}half`);
    const { status, headers } = await client.answer();
    assert.equal(status, 400);
    assert.equal(headers.get("x-ms-error-code"), "Md5Mismatch");
    // The rest of the body is not taken for the next request.
    assert.equal((await client.send("x".repeat(96)).send(GET).answer()).status, 201);
  }
});

testOnBoth("a body is never complete if its sender stops short", async (t) => {
  const outcomes: Promise<string>[] = [];
  const started = [gate(), gate()];
  const running = await listen(t, async ({ body }) => {
    const drained = body.drain(() => started[outcomes.length - 1]?.open());
    outcomes.push(outcome(drained));
    await drained;
    return DONE;
  });
  const resets = running.connect().send(`${put(100)}some`);
  await started[0]?.opened;
  resets.socket.resetAndDestroy();
  assert.equal(await outcomes[0], "IncompleteBody");
  const halfCloses = running.connect().send(`${put(100)}some`);
  await started[1]?.opened;
  halfCloses.socket.end();
  assert.equal(await outcomes[1], "IncompleteBody");
  assert.deepEqual(running.failures, [], "clients that go away are no failure of ours");
});

testOnBoth(
  "a drain whose sender goes away ends when the taker is done with its part",
  async (t) => {
    const taking = gate();
    const finish = gate();
    const events: string[] = [];
    const ended = gate();
    const running = await listen(t, async ({ body }) => {
      if (body.length === 0) return DONE;
      const drained = body.drain(async () => {
        taking.open();
        await finish.opened;
        events.push("taken");
      });
      events.push(await outcome(drained));
      ended.open();
      return DONE;
    });
    const client = running.connect().send(`${put(100)}some`);
    await taking.opened;
    client.socket.resetAndDestroy();
    // By the time another client has its answers, the server knows that the first one is gone.
    const other = running.connect();
    for (let time = 0; time < 3; time++) await other.send(GET).answer();
    assert.deepEqual(events, []);
    finish.open();
    await ended.opened;
    assert.deepEqual(events, ["taken", "IncompleteBody"]);
  },
);

testOnBoth("a stalled upload gets OperationTimedOut", async (t) => {
  const running = await listen(t, collect, {
    limits: { paceCheckMs: 1, receive: { checks: 3, bytesMin: 1 }, discardIdleMs: 1 },
  });
  const client = running.connect().send(`${put(100)}some`);
  const { status, headers } = await client.answer();
  assert.equal(status, 500);
  assert.equal(headers.get("x-ms-error-code"), "OperationTimedOut");
  await client.closed;
});

testOnBoth("100 Continue is sent when the body is drained, not before", async (t) => {
  const asked = gate();
  const go = gate();
  const running = await listen(t, async (request) => {
    asked.open();
    await go.opened;
    return collect(request);
  });
  const client = running.connect().send(put(5, "Expect: 100-continue"));
  await asked.opened;
  await immediately();
  assert.equal(client.received, "");
  go.open();
  assert.match(await client.until(/\r\n\r\n/), /^HTTP\/1\.1 100 /);
  const { status, body, headers } = await client.send("hello").answer();
  assert.equal(status, 200);
  assert.equal(body, "hello");
  assert.equal(headers.get("connection"), "keep-alive");
});

testOnBoth(
  "a refusal before the body comes without 100 Continue, and closes the connection",
  async (t) => {
    const running = await listen(
      t,
      () => {
        throw new Fault("ConditionNotMet");
      },
      { limits: { discardIdleMs: 1 } },
    );
    const client = running.connect().send(put(5, "Expect: 100-continue"));
    const { status, headers } = await client.answer();
    assert.equal(status, 412);
    assert.equal(headers.get("connection"), "close");
    await client.closed;
  },
);

testOnBoth(
  "a small unread rest of a refused body is dropped, and the connection goes on",
  async (t) => {
    const running = await listen(t, () => {
      throw new Fault("ConditionNotMet");
    });
    const client = running.connect().send(`${put(10)}12345`);
    const { status, headers } = await client.answer();
    assert.equal(status, 412);
    assert.equal(headers.get("connection"), "keep-alive");
    assert.equal((await client.send("67890").send(GET).answer()).status, 412);
  },
);

testOnBoth(
  "a client that sends a large refused body to its end still sees the answer",
  async (t) => {
    const running = await listen(t, () => {
      throw new Fault("ConditionNotMet");
    });
    const client = running.connect().send(put(LARGE_BYTES));
    client.socket.pause();
    await new Promise<void>((resolve) => {
      client.socket.write(Buffer.alloc(LARGE_BYTES), () => resolve());
    });
    client.socket.resume();
    const { status, headers } = await client.answer();
    assert.equal(status, 412);
    assert.equal(headers.get("connection"), "close");
    await client.closed;
  },
);

testOnBoth("a refused body beyond the limit is not read to its end", async (t) => {
  const running = await listen(
    t,
    () => {
      throw new Fault("ConditionNotMet");
    },
    { limits: { unreadBytesMax: 10, discardBytesMax: 100, discardIdleMs: 1_000_000 } },
  );
  const client = running.connect().send(`${put(2 ** 40)}${"x".repeat(1_000)}`);
  await client.closed;
});

testOnBoth("bodies without a length are refused", async (t) => {
  const running = await listen(t, () => assert.fail("was asked"), {
    limits: { discardIdleMs: 1 },
  });
  const head = "PUT /a/c/b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const client = running.connect().send(`${head}5\r\nhello\r\n`);
  const { status, headers } = await client.answer();
  assert.equal(status, 411);
  assert.equal(headers.get("x-ms-error-code"), "MissingContentLengthHeader");
  assert.equal(headers.get("connection"), "close");
  await client.closed;
});

testOnBoth("a GET or DELETE with a body is answered, and the body skipped", async (t) => {
  const running = await listen(t, () => DONE);
  const client = running.connect();
  for (const method of ["GET", "DELETE"]) {
    client.send(put(10).replace("PUT", method));
    assert.equal((await client.answer()).status, 201);
    client.send("GET / HTTP");
  }
});

testOnBoth("a taker that is slow with the last part still gets a whole body", async (t) => {
  const first = gate();
  const last = gate();
  const parts = [first, last];
  const running = await listen(t, async ({ body }) => {
    if (body.length === 0) return DONE;
    const drained = body.drain(() => parts.shift()?.opened);
    return { status: 200, headers: [], body: await outcome(drained) };
  });
  const client = running.connect().send(`${put(2 * KIB)}${"x".repeat(KIB)}`);
  const other = running.connect();
  // By the time another client has its answers, the server has read what came before.
  const catchUp = async () => {
    for (let time = 0; time < 3; time++) await other.send(GET).answer();
  };
  await catchUp();
  client.send("y".repeat(KIB));
  await catchUp();
  first.open();
  await catchUp();
  last.open();
  assert.equal((await client.answer()).body, "whole");
});
