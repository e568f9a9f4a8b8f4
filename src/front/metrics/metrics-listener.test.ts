import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { HEALTHY, type Health } from "../health.ts";
import { type Metric, type MetricSource, single } from "./metric.ts";
import { openMetricsListener } from "./metrics-listener.ts";

const ONE: Metric = single("gauge", "one", "One.", () => 1);

async function listening(t: TestContext, ...sources: MetricSource[]) {
  const errors: unknown[] = [];
  const state: { -readonly [Field in keyof Health]: Health[Field] } = { ...HEALTHY };
  const listener = await openMetricsListener({
    host: "127.0.0.1",
    port: 0,
    sources: sources.length === 0 ? [{ metrics: [ONE] }] : sources,
    health: () => state,
    onError: (error) => errors.push(error),
  });
  t.after(() => listener.drain());
  const get = (path: string, init: RequestInit = {}) => fetch(`${listener.origin}${path}`, init);
  return { listener, get, errors, state };
}

test("metrics are text that no cache stores", async (t) => {
  const { get } = await listening(t);
  const answer = await get("/metrics");
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get("content-type"), "text/plain; version=0.0.4; charset=utf-8");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  assert.equal(await answer.text(), "# HELP one One.\n# TYPE one gauge\none 1\n");
});

test("a client that asks for OpenMetrics gets it", async (t) => {
  const { get } = await listening(t);
  const answer = await get("/metrics", { headers: { Accept: "application/openmetrics-text" } });
  assert.match(answer.headers.get("content-type") ?? "", /^application\/openmetrics-text/);
  assert.match(await answer.text(), /# EOF\n$/);
});

test("other paths are 404, other methods 405, and HEAD has no body", async (t) => {
  const { get } = await listening(t);
  for (const path of ["/", "/metrics/", "/metric", "/devstoreaccount1/container/blob"]) {
    assert.equal((await get(path)).status, 404, path);
  }
  const put = await get("/metrics", { method: "PUT", body: "x" });
  assert.deepEqual([put.status, put.headers.get("allow")], [405, "GET, HEAD"]);
  const head = await get("/metrics?x=y", { method: "HEAD" });
  assert.deepEqual([head.status, await head.text()], [200, ""]);
});

test("/healthz says whether the server serves, and whether it takes writes", async (t) => {
  const { get, state } = await listening(t);
  const statuses = () =>
    Promise.all(["", "?for=writes"].map(async (query) => (await get(`/healthz${query}`)).status));
  assert.deepEqual(await statuses(), [200, 200]);
  state.isFull = true;
  assert.deepEqual(await statuses(), [200, 503]);
  state.isServing = false;
  assert.deepEqual(await statuses(), [503, 503]);
});

test("scrapes that come together look things up once", async (t) => {
  let refreshes = 0;
  let open: () => void = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const source: MetricSource = {
    metrics: [ONE],
    refresh: () => {
      refreshes++;
      return gate;
    },
  };
  const { listener, get } = await listening(t, source);
  // In one packet, so that all of them are there before the first is answered.
  const socket = connectTo(listener.origin);
  socket.write("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3));
  let received = "";
  const answered = new Promise<void>((resolve) => {
    socket.setEncoding("latin1").on("data", (text: string) => {
      received += text;
      if (received.split("\none 1\n").length > 3) resolve();
    });
  });
  while (refreshes === 0) await new Promise(setImmediate);
  // Others are answered meanwhile.
  assert.equal((await get("/healthz")).status, 200);
  assert.equal(received, "");
  open();
  await answered;
  assert.equal(refreshes, 1);
  socket.destroy();
});

test("a metric that cannot be read is a 500 and an error in the log", async (t) => {
  const broken = single("gauge", "broken", "Broken.", () => {
    throw new Error("broken");
  });
  const { get, errors } = await listening(t, { metrics: [broken] });
  assert.equal((await get("/metrics")).status, 500);
  assert.equal((errors[0] as Error).message, "broken");
});

test("connections without a running request do not delay the end", async (t) => {
  const { listener, get } = await listening(t);
  await (await get("/metrics")).text();
  const socket = connectTo(listener.origin);
  await once(socket, "connect");
  const closed = once(socket.resume(), "close");
  // The timer that cuts connections stands still.
  t.mock.timers.enable({ apis: ["setTimeout"] });
  let isDrained = false;
  const drained = listener.drain().then(() => {
    isDrained = true;
  });
  for (let at = 0; at < 10_000 && !isDrained; at++) await new Promise(setImmediate);
  t.mock.timers.reset();
  assert.ok(isDrained);
  await drained;
  await closed;
});

function connectTo(origin: string): Socket {
  const { hostname, port } = new URL(origin);
  return connect(Number(port), hostname);
}
