import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../../../base/bytes.ts";
import { Writer } from "../codec/wire.ts";
import { StatusError } from "../nt-status.ts";
import { RpcConversation } from "./conversation.ts";
import { writeNdrText } from "./ndr.ts";
import { SRVSVC, serveSrvsvc } from "./srvsvc.ts";

const NDR = Buffer.from("045d888aeb1cc9119fe808002b10486002000000", "hex");

function fragment(kind: number, body: Writer, flags = 3): Bytes {
  const bytes = body.done();
  const head = new Writer()
    .u8(5)
    .u8(0)
    .u8(kind)
    .u8(flags)
    .u32(0x10)
    .u16(16 + bytes.length);
  return head.u16(0).u32(7).bytes(bytes).done();
}

function bind(uuid = SRVSVC.uuid, syntax = NDR, answerBytesMax = 4_280): Bytes {
  const body = new Writer().u16(4_280).u16(answerBytesMax).u32(0).u32(1).u16(0).u16(1);
  return fragment(11, body.bytes(uuid).u32(SRVSVC.version).bytes(syntax));
}

function request(operation: number, stub: Bytes, flags = 3): Bytes {
  return fragment(0, new Writer().u32(0).u16(0).u16(operation).bytes(stub), flags);
}

const shareEnum = (level: number) => {
  const writer = new Writer().u32(1);
  writeNdrText(writer, "\\\\here");
  return writer.u32(level).u32(level).u32(1).u32(0).u32(0).u32(0xffffffff).u32(0).done();
};

const shareGetInfo = (name: string) => {
  const writer = new Writer().u32(0);
  writeNdrText(writer, name);
  return writer.u32(1).done();
};

const conversation = (shares: readonly string[]) =>
  new RpcConversation(SRVSVC, async (operation, input) => serveSrvsvc(operation, input, shares));

async function answerTo(...fragments: Bytes[]): Promise<Bytes> {
  const one = conversation(["alpha", "beta"]);
  let answers: Bytes[] = [];
  for (const each of [bind(), ...fragments]) answers = await one.take(each);
  assert.equal(answers.length, 1);
  return answers[0] as Bytes;
}

const lastU32 = (bytes: Bytes) => bytes.readUInt32LE(bytes.length - 4);
const names = (bytes: Bytes) =>
  ["alpha", "beta", "IPC$"].filter((name) => bytes.includes(Buffer.from(`${name}\0`, "utf16le")));

test("a client can bind only to the interface and syntax that exist", async () => {
  const resultOf = (answer: Bytes | undefined) => answer?.subarray(-24).readUInt16LE(0);
  const [accepted] = await conversation([]).take(bind());
  assert.equal(accepted?.[2], 12);
  assert.equal(resultOf(accepted), 0);
  assert.equal(resultOf((await conversation([]).take(bind(Buffer.alloc(16))))[0]), 2);
  assert.equal(resultOf((await conversation([]).take(bind(SRVSVC.uuid, Buffer.alloc(20))))[0]), 2);
});

test("shares are listed only in levels 0, 1 and 2", async () => {
  for (const level of [0, 1, 2]) {
    const answer = await answerTo(request(15, shareEnum(level)));
    assert.deepEqual(names(answer), ["alpha", "beta", "IPC$"]);
    assert.equal(lastU32(answer), 0);
  }
  assert.equal(lastU32(await answerTo(request(15, shareEnum(502)))), 124);
});

test("a share is found by its name in any case, a missing one is not", async () => {
  const found = await answerTo(request(16, shareGetInfo("ALPHA")));
  assert.deepEqual(names(found), ["alpha"]);
  assert.equal(lastU32(found), 0);
  assert.equal(lastU32(await answerTo(request(16, shareGetInfo("gamma")))), 2310);
});

test("a request may come in fragments, and a long response is sent in fragments", async () => {
  const stub = shareEnum(1);
  const whole = await answerTo(request(15, stub));
  const one = conversation(["alpha", "beta"]);
  await one.take(bind());
  assert.deepEqual(await one.take(request(15, stub.subarray(0, 20), 1)), []);
  assert.deepEqual(await one.take(request(15, stub.subarray(20), 2)), [whole]);
  const many = conversation(Array.from({ length: 200 }, (_, index) => `share-${index}`));
  await many.take(bind(SRVSVC.uuid, NDR, 1_024));
  const answers = await many.take(request(15, stub));
  assert.ok(answers.length > 5);
  assert.ok(answers.every((answer) => answer.length <= 1_024));
  assert.deepEqual([answers[0]?.[3], answers[1]?.[3], answers.at(-1)?.[3]], [1, 0, 2]);
});

test("unknown operations and malformed input are faults, malformed fragments are refused", async () => {
  assert.equal((await answerTo(request(99, shareEnum(1))))[2], 3);
  assert.equal((await answerTo(request(15, Buffer.alloc(2))))[2], 3);
  for (const bad of [Buffer.alloc(3), bind().subarray(0, 40), fragment(99, new Writer())]) {
    await assert.rejects(conversation([]).take(bad), StatusError);
  }
});
