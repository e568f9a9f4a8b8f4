import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { EMPTY_BODY, SmbClient, TcpLine } from "../../src/front/smb/smb-client.fixture.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { startSmb, type TestSmb, type TestSmbOptions } from "./server.ts";

const USER = { user: ACCOUNT, domain: "", password: KEY };

async function started(t: TestContext, options: TestSmbOptions = {}): Promise<TestSmb> {
  const smb = await startSmb(options);
  t.after(async () => {
    await smb.close();
    assert.deepEqual(smb.failures, []);
  });
  return smb;
}

async function loggedOn(port: number): Promise<SmbClient> {
  const client = new SmbClient(await TcpLine.open(port));
  await client.negotiate();
  assert.equal((await client.logOn(USER)).status, 0);
  return client;
}

test("frames are limited before log-on, and may be large after it", async (t) => {
  const { port } = await started(t);
  const stranger = await TcpLine.open(port);
  stranger.send(Buffer.alloc(65 * 1024));
  assert.equal(await stranger.next(), null);
  const client = await loggedOn(port);
  client.line.send(client.frame(COMMAND.echo, Buffer.concat([EMPTY_BODY, Buffer.alloc(1 << 20)])));
  assert.equal((await client.receive()).status, 0);
  client.line.close();
});

test("a client that does not log on in time is disconnected", async (t) => {
  const { port } = await started(t, { limits: { logonMs: 1 } });
  const line = await TcpLine.open(port);
  assert.equal(await line.next(), null);
});

test("bad bytes close their own connection, and no other", async (t) => {
  const { port } = await started(t);
  const client = await loggedOn(port);
  for (const bytes of [
    Buffer.from("GET / HTTP/1.1\r\n\r\n"),
    Buffer.from([0, 0, 0, 4, 0xfe, 0x53, 0x4d, 0x42]),
    Buffer.from([0, 0, 0, 0]),
    Buffer.from([0x85, 0, 0, 0]),
  ]) {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    socket.write(bytes);
    await once(socket.resume(), "close");
  }
  const reply = await client.call(COMMAND.echo, EMPTY_BODY);
  assert.equal(reply.status, 0);
  client.line.close();
});

test("a thousand clients are served at a time", async (t) => {
  const { port } = await started(t);
  const clients: SmbClient[] = [];
  for (let count = 0; count < 1_000; count++) clients.push(await loggedOn(port));
  const replies = await Promise.all(clients.map((one) => one.call(COMMAND.echo, EMPTY_BODY)));
  assert.ok(replies.every(({ status }) => status === 0));
  for (const { line } of clients) line.close();
});

test("a server that stops closes all connections", async () => {
  const smb = await startSmb();
  const client = await loggedOn(smb.port);
  await smb.close();
  assert.equal(await client.line.next(), null);
});
