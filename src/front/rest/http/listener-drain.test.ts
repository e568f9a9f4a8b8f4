import assert from "node:assert/strict";
import { once } from "node:events";
import { Fault } from "../../../base/fault.ts";
import { DONE, GET, LARGE_BYTES, listen, put, testOnBoth } from "./listener.fixture.ts";

testOnBoth(
  "a drain finishes running requests, closes idle connections, and accepts nothing new",
  async (t) => {
    let finish = () => {};
    const asked = new Promise<void>((started) => {
      finish = started;
    });
    let release = () => {};
    const running = await listen(t, async (request) => {
      if (request.path !== "/slow") return DONE;
      finish();
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return DONE;
    });
    const idle = running.connect();
    await idle.send(GET).answer();
    const busy = running.connect().send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
    await asked;

    const drained = running.listener.drain();
    await idle.closed;
    assert.equal(await running.connect().closed, "", "nobody listens");
    release();
    const { status, headers } = await busy.answer();
    assert.equal(status, 201);
    assert.equal(headers.get("connection"), "close");
    await busy.closed;
    await drained;
    await running.listener.drain();
  },
);

testOnBoth("a running download is finished before its connection is closed", async (t) => {
  const running = await listen(t, () => ({
    status: 200,
    headers: [],
    body: Buffer.alloc(LARGE_BYTES),
  }));
  const client = running.connect().send(GET);
  const head = await client.until(/\r\n\r\n/);
  assert.match(head, /Connection: keep-alive/);
  const drained = running.listener.drain();
  assert.equal((await client.closed).length, LARGE_BYTES);
  await drained;
});

testOnBoth("a health check behind a running download says that the server stops", async (t) => {
  const running = await listen(t, () => ({
    status: 200,
    headers: [],
    body: Buffer.alloc(LARGE_BYTES),
  }));
  const client = running.connect().send(`${GET}GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n`);
  await client.until(/\r\n\r\n/);
  const drained = running.listener.drain();
  assert.match(await client.closed, /HTTP\/1\.1 503 /);
  await drained;
});

testOnBoth("a retiring listener serves on, but not over the same connection", async (t) => {
  const running = await listen(t, () => DONE);
  const open = running.connect();
  assert.equal((await open.send(GET).answer()).headers.get("connection"), "keep-alive");
  running.listener.retire();
  for (const client of [open, running.connect()]) {
    const { status, headers } = await client.send(GET).answer();
    assert.deepEqual([status, headers.get("connection")], [201, "close"]);
    await client.closed;
  }
  const check = running.connect().send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  const { status, body } = await check.answer();
  assert.deepEqual([status, body], [503, "stopping\n"]);
});

testOnBoth("connections without a request do not delay a drain", async (t) => {
  const running = await listen(t, () => assert.fail("was asked"));
  const [silent, halfway] = [running.connect(), running.connect()];
  await once(silent.socket, "connect");
  await new Promise((resolve) => halfway.socket.write("GET / HTTP/1.1\r\nHo", resolve));
  await running.listener.drain();
  assert.equal(await silent.closed, "");
  assert.equal(await halfway.closed, "");
});

testOnBoth("a request that does not end in time is cut", async (t) => {
  let cut: Promise<unknown> = Promise.resolve();
  let started = () => {};
  const taking = new Promise<void>((resolve) => {
    started = resolve;
  });
  const running = await listen(
    t,
    async ({ body }) => {
      cut = body.drain(() => started());
      await cut;
      return DONE;
    },
    { limits: { drainMs: 1 } },
  );
  const client = running.connect().send(`${put(10)}some`);
  await taking;
  await running.listener.drain();
  assert.equal(await client.closed, "");
  await assert.rejects(cut, Fault);
});
