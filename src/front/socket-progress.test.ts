import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { bytesTakenFrom } from "./socket-progress.ts";

/** More than the socket buffers of both ends hold. */
const LARGE_BYTES = 64 * 1024 * 1024;

test("a client that has read a part of one large write has made progress", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  t.after(() => {
    client.destroy();
    server.close();
  });
  const [accepted] = (await once(server, "connection")) as [Socket];
  t.after(() => accepted.destroy());
  accepted.on("error", () => {});
  let isTaken = false;
  accepted.write(Buffer.alloc(LARGE_BYTES), () => {
    isTaken = true;
  });
  let received = 0;
  while (received < LARGE_BYTES / 4) {
    const [chunk] = (await once(client, "data")) as [Buffer];
    received += chunk.length;
  }
  client.pause();
  const taken = bytesTakenFrom(accepted);
  assert.equal(isTaken, false);
  assert.ok(taken >= received && taken < LARGE_BYTES, `${taken} of ${LARGE_BYTES}`);
});
