import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import type { Offer, Sending } from "../../src/front/smb/client/smb-client.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { DIALECT } from "../../src/front/smb/codec/negotiate.ts";
import { Writer } from "../../src/front/smb/codec/wire.ts";
import { CIPHER } from "../../src/front/smb/crypto/cipher.ts";
import { SIGNING } from "../../src/front/smb/crypto/signer.ts";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import type { TcpLine } from "../../src/front/smb/smb-client.fixture.ts";
import { READ, WRITE } from "../../src/rules/share-mode.ts";
import { startSmb, type TestSmb } from "./server.ts";
import { SmbFiles, type SmbHandle } from "./smb-files.ts";

const KIB = 1024;
const READ_WRITE = { access: READ | WRITE, disposition: "openIf" } as const;

async function started(t: TestContext): Promise<TestSmb> {
  const smb = await startSmb();
  t.after(async () => {
    await smb.close();
    assert.deepEqual(smb.failures, []);
  });
  return smb;
}

/** A server, and a client with credits for large writes. */
async function opened(t: TestContext, offer: Offer = {}) {
  const smb = await started(t);
  const files = await SmbFiles.connect(smb.port, "box", offer);
  await earnCredits(files);
  return { smb, files, handle: await files.open("file", READ_WRITE) };
}

function writeBody(handle: SmbHandle, from: number, data: Buffer): Buffer {
  const head = new Writer().u16(49).u16(112).u32(data.length).u64(from).bytes(handle).zeros(16);
  return Buffer.concat([head.done(), data]);
}

/** Charges as many credits as it costs; the client counts the ids. */
const paid = (data: Buffer, sending: Sending) => ({
  ...sending,
  charge: Math.ceil(data.length / (64 * KIB)),
});

async function earnCredits(files: SmbFiles): Promise<void> {
  for (let round = 0; round < 4; round++) {
    await files.client.call(COMMAND.echo, Buffer.from([4, 0, 0, 0]));
  }
}

async function contentOf({ rest }: TestSmb, name: string): Promise<Buffer> {
  return rest
    .client()
    .getShareClient("box")
    .rootDirectoryClient.getFileClient(name)
    .downloadToBuffer();
}

const WAYS: [string, Offer, Sending][] = [
  ["plain", {}, {}],
  ["HMAC-SHA256", { dialects: [DIALECT.smb210] }, { signed: true }],
  ["AES-CMAC", { signings: [SIGNING.aesCmac] }, { signed: true }],
  ["AES-GMAC", { signings: [SIGNING.aesGmac] }, { signed: true }],
  ["AES-128-GCM", { ciphers: [CIPHER.aes128Gcm] }, { sealed: true }],
  ["AES-256-GCM", { ciphers: [CIPHER.aes256Gcm] }, { sealed: true }],
  ["AES-128-CCM", { ciphers: [CIPHER.aes128Ccm] }, { sealed: true }],
];

for (const [way, offer, sending] of WAYS) {
  test(`a large WRITE arrives as it was sent, and does nothing if a bit of it was changed: ${way}`, async (t) => {
    const { smb, files, handle } = await opened(t, offer);
    const { client } = files;
    const first = randomBytes(300_001);
    const second = randomBytes(200_000);
    for (const [data, from] of [
      [first, 0],
      [second, 250_000],
    ] as const) {
      const body = writeBody(handle, from, data);
      const reply = await client.call(COMMAND.write, body, paid(data, sending));
      assert.equal(reply.status, STATUS.SUCCESS);
      assert.equal(reply.bytes.readUInt32LE(64 + 4), data.length);
    }
    const written = Buffer.concat([first.subarray(0, 250_000), second]);
    assert.deepEqual(await contentOf(smb, "file"), written);

    const frame = client.frame(COMMAND.write, writeBody(handle, 0, second), paid(second, sending));
    const at = frame.length - 100_000;
    frame[at] = (frame[at] as number) ^ 1;
    client.line.send(frame);
    if (sending.sealed) await assert.rejects(client.receive(), /closed the connection/);
    else if (sending.signed) assert.equal((await client.receive()).status, STATUS.ACCESS_DENIED);
    else assert.equal((await client.receive()).status, STATUS.SUCCESS);
    if (sending.sealed || sending.signed) assert.deepEqual(await contentOf(smb, "file"), written);
    files.close();
  });
}

test("a large WRITE is refused like a small one, and the connection goes on", async (t) => {
  const { smb, files, handle } = await opened(t);
  const data = randomBytes(200_000);
  const write = async (handle: SmbHandle, from: number, sending: Sending) =>
    (await files.client.call(COMMAND.write, writeBody(handle, from, data), sending)).status;
  const reader = await files.open("file", { access: READ });
  assert.equal(await write(handle, 0, { charge: 1 }), STATUS.INVALID_PARAMETER);
  assert.equal(await write(reader, 0, { charge: 4 }), STATUS.ACCESS_DENIED);
  assert.equal(await write(handle, 2 ** 63 - 4096, { charge: 4 }), STATUS.INVALID_PARAMETER);
  assert.equal(await write(handle, 0, { charge: 4, treeId: 77 }), STATUS.NETWORK_NAME_DELETED);
  await files.end(reader);
  assert.equal(await write(reader, 0, { charge: 4 }), STATUS.FILE_CLOSED);
  assert.deepEqual(await contentOf(smb, "file"), Buffer.alloc(0));
  assert.equal(await write(handle, 0, { charge: 4 }), STATUS.SUCCESS);
  assert.deepEqual(await contentOf(smb, "file"), data);
  files.close();
});

test("a large WRITE in a compound is written, too", async (t) => {
  const { smb, files, handle } = await opened(t);
  const data = randomBytes(200_000);
  const { client } = files;
  client.line.send(
    client.compound([
      [COMMAND.write, writeBody(handle, 0, data), { charge: 4 }],
      [COMMAND.close, new Writer().u16(24).zeros(6).bytes(handle).done()],
    ]),
  );
  assert.equal((await client.receive()).status, STATUS.SUCCESS);
  assert.deepEqual(await contentOf(smb, "file"), data);
  files.close();
});

test("a WRITE that ends in the middle shows nothing, and its file can be closed", async (t) => {
  const { smb, files, handle } = await opened(t);
  const data = randomBytes(1_000_000);
  const frame = files.client.frame(COMMAND.write, writeBody(handle, 0, data), { charge: 16 });
  await (files.client.line as TcpLine).sendCut(frame, 700_000);
  const other = await SmbFiles.connect(smb.port, "box");
  const again = await other.open("file", READ_WRITE);
  assert.deepEqual(await contentOf(smb, "file"), Buffer.alloc(0));
  await other.end(again);
  other.close();
});
