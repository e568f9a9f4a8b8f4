import assert from "node:assert/strict";
import { once } from "node:events";
import { WaitingWork } from "../../waiting-work.ts";
import type { RestResponse } from "./exchange.ts";
import {
  DONE,
  GET,
  type Handle,
  listen,
  put,
  type RawClient,
  testOnBoth,
} from "./listener.fixture.ts";

const SLOW = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n";

/** Answers at once, except for `/slow`, which waits for `finish`. */
function slowly(): { handle: Handle; asked(count: number): Promise<void>; finish(): void } {
  const waiting: ((response: RestResponse) => void)[] = [];
  let onAsked = () => {};
  return {
    handle: ({ path }) => {
      if (path !== "/slow") return DONE;
      return new Promise((resolve) => {
        waiting.push(resolve);
        onAsked();
      });
    },
    asked: (count) =>
      new Promise((resolve) => {
        onAsked = () => {
          if (waiting.length >= count) resolve();
        };
        onAsked();
      }),
    finish: () => {
      for (const resolve of waiting.splice(0)) resolve(DONE);
    },
  };
}

async function refusedAsBusy(client: RawClient): Promise<void> {
  const { status, headers, body } = await client.answer();
  assert.equal(status, 503);
  assert.equal(headers.get("retry-after"), "1");
  assert.equal(headers.get("x-ms-error-code"), "ServerBusy");
  assert.match(body, /<Message>The server is currently unable to receive requests\./);
}

testOnBoth("idle connections make room for new ones, the longest idle first", async (t) => {
  const running = await listen(t, () => DONE, { limits: { connectionsMax: 3 } });
  const [first, second, bad] = [running.connect(), running.connect(), running.connect()];
  assert.equal(
    (await bad.send("GET /%zz HTTP/1.1\r\nHost: x\r\nx-ms-version: x\r\n\r\n").answer()).status,
    400,
  );
  for (const client of [first, second]) await client.send(GET).answer();
  await first.send(GET).answer();
  for (const gone of [bad, second]) {
    const client = running.connect();
    assert.equal((await client.send(GET).answer()).status, 201);
    assert.equal(await gone.closed, "");
  }
  assert.equal((await first.send(GET).answer()).status, 201);
});

testOnBoth("silent connections and unfinished heads make room, too", async (t) => {
  const running = await listen(t, () => DONE, { limits: { connectionsMax: 2 } });
  const [silent, halfway] = [running.connect(), running.connect()];
  await once(silent.socket, "connect");
  await new Promise((resolve) => halfway.socket.write("GET / HTTP/1.1\r\nHo", resolve));
  for (let count = 0; count < 3; count++) {
    assert.equal((await running.connect().send(GET).answer()).status, 201);
  }
  assert.equal(await silent.closed, "");
  assert.equal(await halfway.closed, "");
});

testOnBoth("if every connection is busy, a new one gets a 503 and can come back", async (t) => {
  const { handle, asked, finish } = slowly();
  const running = await listen(t, handle, { limits: { connectionsMax: 2 } });
  const busy = [running.connect().send(SLOW), running.connect().send(SLOW)];
  await asked(2);
  const surplus = running.connect().send(GET);
  await refusedAsBusy(surplus);
  assert.equal(await surplus.closed, "");
  const body = running.connect().send(`${put(4)}body`);
  await refusedAsBusy(body);
  finish();
  for (const client of busy) assert.equal((await client.answer()).status, 201);
  assert.equal((await running.connect().send(GET).answer()).status, 201);
});

testOnBoth("a health check is answered however busy the server is", async (t) => {
  const { handle, asked, finish } = slowly();
  const running = await listen(t, handle, {
    limits: { connectionsMax: 1 },
    options: { work: new WaitingWork(1) },
  });
  const busy = running.connect().send(SLOW);
  await asked(1);
  const check = running.connect().send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  assert.equal((await check.answer()).status, 200);
  finish();
  await busy.answer();
});

testOnBoth(
  "beyond the limit of waiting requests, new ones are refused until there are fewer",
  async (t) => {
    const { handle, asked, finish } = slowly();
    const work = new WaitingWork(2);
    const running = await listen(t, handle, { options: { work } });
    const busy = [running.connect().send(SLOW), running.connect().send(SLOW)];
    await asked(2);
    assert.equal(work.requests, 2);
    const client = running.connect();
    await refusedAsBusy(client.send(GET));
    finish();
    for (const one of busy) assert.equal((await one.answer()).status, 201);
    assert.equal((await client.send(GET).answer()).status, 201);
    assert.equal(work.requests, 0);
  },
);

testOnBoth("a request does not count as waiting while its client sends the body", async (t) => {
  const work = new WaitingWork(1);
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const running = await listen(
    t,
    async ({ body }) => {
      await body.drain(() => begin());
      return DONE;
    },
    { options: { work } },
  );
  const slow = running.connect().send(`${put(100)}some`);
  await begun;
  assert.equal((await running.connect().send(GET).answer()).status, 201);
  slow.send(Buffer.alloc(96));
  assert.equal((await slow.answer()).status, 201);
  const gone = running.connect().send(`${put(100)}some`);
  gone.socket.end();
  await gone.closed;
  assert.equal(work.requests, 0);
});

testOnBoth("the limit of an address does not apply to this machine", async (t) => {
  const running = await listen(t, () => DONE, { limits: { connectionsPerAddressMax: 1 } });
  const clients = [running.connect(), running.connect(), running.connect()];
  for (const client of clients) await client.send(GET).answer();
  for (const client of clients) assert.equal((await client.send(GET).answer()).status, 201);
});
