import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { SendBudget } from "../../src/front/send-budget.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { Writer } from "../../src/front/smb/codec/wire.ts";
import { EMPTY_BODY, TcpLine } from "../../src/front/smb/smb-client.fixture.ts";
import { startSmb, type TestSmb, type TestSmbOptions } from "./server.ts";
import { SmbFiles, type SmbHandle } from "./smb-files.ts";

const MIB = 1024 * 1024;
const FILE_BYTES = 4 * MIB;
/** More than the socket buffers on both ends hold. */
const READS = 24;

async function started(t: TestContext, options: TestSmbOptions = {}): Promise<TestSmb> {
  // Each front end has limits of its own.
  const smb = await startSmb({ ...options, alone: true });
  t.after(async () => {
    await smb.close();
    assert.deepEqual(smb.failures, []);
  });
  return smb;
}

test("connections before log-on are closed first, then those without open files; others stay", async (t) => {
  const { port } = await started(t, { limits: { connectionsMax: 3 } });
  const reader = await SmbFiles.connect(port, "box");
  await reader.open("file", { disposition: "openIf" });
  const idle = await SmbFiles.connect(port, "box");
  const stranger = await TcpLine.open(port);
  const newcomer = await SmbFiles.connect(port, "box");
  assert.equal(await stranger.next(), null, "a connection before log-on is closed");
  await newcomer.open("file");
  const next = await SmbFiles.connect(port, "box");
  assert.equal(await idle.client.line.next(), null, "a connection without open files is closed");
  await next.open("file");
  const surplus = await TcpLine.open(port);
  assert.equal(await surplus.next(), null, "no connection is closed for one more");
  for (const { client } of [reader, newcomer, next]) {
    assert.equal((await client.call(COMMAND.echo, EMPTY_BODY)).status, 0);
  }
});

test("unread answers to READ are bounded; a client that does not read is closed, and others go on", async (t) => {
  const budget = new SendBudget({ smbBytesMax: 2 * MIB });
  const { port, rest } = await started(t, {
    budget,
    limits: { readBytesMax: 2 * MIB, paceCheckMs: 1, send: { checks: 200, bytesMin: 1 } },
  });
  const root = rest.client().getShareClient("box").rootDirectoryClient;
  await root.getFileClient("large").uploadData(Buffer.alloc(FILE_BYTES, "x"));
  const [greedy, other] = [await opened(port), await opened(port)];
  (greedy.files.client.line as TcpLine).pause();
  for (let read = 0; read < READS; read++) send(greedy, (read % 4) * MIB);
  while (budget.smb.taken < 2 * MIB) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(budget.smb.taken, 2 * MIB);
  send(other, 0);
  const reply = await other.files.client.receive();
  assert.equal(reply.status, 0);
  assert.ok(reply.bytes.length > MIB);
});

interface Opened {
  readonly files: SmbFiles;
  readonly handle: SmbHandle;
}

async function opened(port: number): Promise<Opened> {
  const files = await SmbFiles.connect(port, "box");
  // A client has to earn the credits that large reads cost.
  for (let echoes = 0; echoes < 8; echoes++) await files.client.call(COMMAND.echo, EMPTY_BODY);
  return { files, handle: await files.open("large") };
}

/** Asks for a MiB. */
function send({ files, handle }: Opened, from: number): void {
  const body = new Writer().u16(49).u8(0).u8(0).u32(MIB).u64(from).bytes(handle).u32(0).u32(0);
  const { client } = files;
  client.line.send(
    client.frame(COMMAND.read, body.u32(0).u16(0).u16(0).u8(0).done(), { charge: 16 }),
  );
}
