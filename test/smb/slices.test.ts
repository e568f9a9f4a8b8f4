import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { slicesDuring } from "../../src/base/fair-queue.fixture.ts";
import type { Offer, Sending } from "../../src/front/smb/client/smb-client.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { DIALECT } from "../../src/front/smb/codec/negotiate.ts";
import { isTransform, readTransform } from "../../src/front/smb/codec/transform.ts";
import { HEADER_BYTES, Writer } from "../../src/front/smb/codec/wire.ts";
import { CIPHER } from "../../src/front/smb/crypto/cipher.ts";
import { SIGNING } from "../../src/front/smb/crypto/signer.ts";
import { CREDIT_BYTES } from "../../src/front/smb/limits.ts";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import { EMPTY_BODY, type SmbClient } from "../../src/front/smb/smb-client.fixture.ts";
import { READ, WRITE } from "../../src/rules/share-mode.ts";
import { startSmb } from "./server.ts";
import { SmbFiles, type SmbHandle } from "./smb-files.ts";

const MIB = 1024 * 1024;
const LARGE = 8 * MIB;
const STATUS_AT = 8;
const GCM = { ciphers: [CIPHER.aes128Gcm] };
/** Each one earns more credits, until a large transfer is affordable. */
const ECHOES = 8;

async function opened(t: TestContext, offer: Offer) {
  // Where bytes are in files, much of the yielding is waiting for them, which is not counted.
  const smb = await startSmb({ engine: "plain memory" });
  const files = await SmbFiles.connect(smb.port, "box", offer);
  t.after(async () => {
    files.close();
    await smb.close();
    assert.deepEqual(smb.failures, []);
  });
  for (let echo = 0; echo < ECHOES; echo++) await files.client.call(COMMAND.echo, EMPTY_BODY);
  const handle = await files.open("file", { access: READ | WRITE, disposition: "openIf" });
  return { files, handle };
}

function writeBody(handle: SmbHandle, from: number, data: Buffer): Buffer {
  const head = new Writer().u16(49).u16(112).u32(data.length).u64(from).bytes(handle).zeros(16);
  return Buffer.concat([head.done(), data]);
}

function readBody(handle: SmbHandle, length: number): Buffer {
  return new Writer().u16(49).u16(0).u32(length).u64(0).bytes(handle).zeros(17).done();
}

const paid = (bytes: number, sending: Sending) => ({ ...sending, charge: bytes / CREDIT_BYTES });

/**
 * How often other requests can run, at least, during a transfer of 8 MiB while it is protected and
 * sent.
 */
const WAYS: [string, Offer, Sending, number][] = [
  ["AES-128-GCM", GCM, { sealed: true }, 64 + 16],
  ["AES-256-GCM", { ciphers: [CIPHER.aes256Gcm] }, { sealed: true }, 64 + 16],
  ["AES-CMAC", { ...GCM, signings: [SIGNING.aesCmac] }, { signed: true }, 64 + 16],
  ["AES-GMAC", { ...GCM, signings: [SIGNING.aesGmac] }, { signed: true }, 64 + 16],
  ["HMAC-SHA256", { dialects: [DIALECT.smb210] }, { signed: true }, 64 + 16],
  ["plain", GCM, {}, 16],
];

for (const [way, offer, sending, slicesMin] of WAYS) {
  test(`a READ of 8 MiB yields ${slicesMin} times, and is right: ${way}`, async (t) => {
    const { files, handle } = await opened(t, offer);
    const { client } = files;
    const data = randomBytes(LARGE);
    const written = await client.call(
      COMMAND.write,
      writeBody(handle, 0, data),
      paid(LARGE, sending),
    );
    assert.equal(written.status, STATUS.SUCCESS);
    let got: Buffer = Buffer.alloc(0);
    const slices = await slicesDuring(async () => {
      const body = readBody(handle, LARGE);
      got = (await client.call(COMMAND.read, body, paid(LARGE, sending))).bytes;
    });
    assert.ok(got.subarray(HEADER_BYTES + 16).equals(data));
    assert.ok(slices >= slicesMin, `${slices} slices`);
  });
}

test("with AES-CCM, which processes a message in one call, messages are limited to a mebibyte", async (t) => {
  const offer = { ciphers: [CIPHER.aes128Ccm] };
  const { files, handle } = await opened(t, offer);
  const ask = async (length: number) => {
    const sending = paid(length, { sealed: true });
    return (await files.client.call(COMMAND.read, readBody(handle, length), sending)).status;
  };
  assert.equal(await ask(2 * MIB), STATUS.INVALID_PARAMETER);
  assert.equal(await ask(MIB), STATUS.END_OF_FILE);
});

/** Status of the first answer in the next frame. */
async function statusOf({ line, opener }: SmbClient): Promise<number> {
  const frame = (await line.next()) as Buffer;
  const transform = isTransform(frame) ? readTransform(frame) : null;
  if (transform === null) return frame.readUInt32LE(STATUS_AT);
  const { nonce, aad, text, tag } = transform;
  return opener?.open(nonce, aad, text, tag)?.readUInt32LE(STATUS_AT) ?? -1;
}

for (const [way, sending] of [
  ["signed", { signed: true }],
  ["encrypted", { sealed: true }],
] as const) {
  test(`a request after a large compound begins after it, though that is verified in slices: ${way}`, async (t) => {
    const { files, handle } = await opened(t, GCM);
    const { client } = files;
    const data = randomBytes(MIB);
    const compound = client.compound([
      [COMMAND.write, writeBody(handle, 0, data), paid(MIB, way === "signed" ? sending : {})],
      [COMMAND.echo, EMPTY_BODY, way === "signed" ? sending : {}],
    ]);
    const close = new Writer().u16(24).zeros(6).bytes(handle).done();
    const slices = await slicesDuring(async () => {
      client.line.send(way === "signed" ? compound : client.seal(compound));
      // If this began before the WRITE, the WRITE would find its file closed.
      client.line.send(client.frame(COMMAND.close, close, sending));
      for (let frame = 0; frame < 2; frame++) assert.equal(await statusOf(client), STATUS.SUCCESS);
    });
    assert.ok(slices >= 7, `${slices} slices`);
  });
}
