import assert from "node:assert/strict";
import { Fault } from "../../../base/fault.ts";
import type { RestResponse, RestService } from "./exchange.ts";
import { DONE, GET, listen, testOnBoth } from "./listener.fixture.ts";

const LIMITS = { connectionsMax: 9, connectionsPerAddressMax: 9 };

/** A service whose answers carry its status. */
function serviceOf(status: number, handle: RestService["handle"] | null = null): RestService {
  const answer: RestResponse = { ...DONE, status };
  const renderFault = () => answer;
  return { name: "blob", handle: handle ?? (async () => answer), renderFault };
}

testOnBoth("a change is for the next request, on connections that stay open", async (t) => {
  let refuse = () => {};
  let began = () => {};
  const isBegun = new Promise<void>((resolve) => {
    began = resolve;
  });
  const running = await listen(t, () => DONE, {
    options: {
      service: serviceOf(
        218,
        () =>
          new Promise((_, reject) => {
            refuse = () => reject(new Fault("ServerBusy"));
            began();
          }),
      ),
    },
  });
  const client = running.connect().send(GET);
  await isBegun;
  running.listener.change({ service: serviceOf(219), tls: null, limits: LIMITS });
  refuse();
  assert.equal((await client.answer()).status, 218, "the old service renders its own refusal");
  assert.equal((await client.send(GET).answer()).status, 219);
});

testOnBoth("other limits of connections are for the next connections", async (t) => {
  const running = await listen(t, () => DONE, { limits: { connectionsMax: 1 } });
  const service = serviceOf(200);
  running.listener.change({ service, tls: null, limits: { ...LIMITS, connectionsMax: 2 } });
  const [first, second] = [running.connect(), running.connect()];
  for (const client of [first, second, first]) {
    assert.equal((await client.send(GET).answer()).status, 200);
  }
  running.listener.change({ service, tls: null, limits: { ...LIMITS, connectionsMax: 1 } });
  const third = running.connect();
  assert.equal((await third.send(GET).answer()).status, 200);
  assert.equal(await second.closed, "", "the longest idle one made room");
});
