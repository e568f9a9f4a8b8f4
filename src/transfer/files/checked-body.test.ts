import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { test } from "node:test";
import type { Bytes } from "../../base/bytes.ts";
import type { Body } from "../item.ts";
import { TransferError } from "../transfer-error.ts";
import { checkedBody } from "./checked-body.ts";

const CONTENT = Buffer.from("0123456789abcdefghij");

/** In pieces of two bytes. */
function bodyOf(content: Bytes): Body {
  return {
    bytes: content.length,
    async *read(from = 0, count = content.length - from) {
      for (let at = from; at < from + count; at += 2) {
        yield content.subarray(at, Math.min(at + 2, from + count));
      }
    },
  };
}

const checked = (content: Bytes) =>
  checkedBody(bodyOf(content), hash("sha256", CONTENT), content.length, "a file");

/** The bytes of a part, or only its first pieces, as a request that breaks off reads them. */
async function read(body: Body, from: number, count: number, pieces = Number.MAX_SAFE_INTEGER) {
  const got: Bytes[] = [];
  for await (const piece of body.read(from, count)) {
    if (got.push(piece) === pieces) break;
  }
  return `${Buffer.concat(got)}`;
}

test("a part that is read again after a part of it is not taken for damaged", async () => {
  const body = checked(CONTENT);
  for (const from of [0, 10]) {
    await read(body, from, 10, 1);
    await read(body, from, 10, 3);
    assert.equal(await read(body, from, 10), `${CONTENT.subarray(from, from + 10)}`);
  }
  assert.equal(await read(body, 10, 10), "abcdefghij");
});

test("the last bytes of a damaged body are not given", async () => {
  for (let at = 0; at < CONTENT.length; at++) {
    const damaged = Buffer.from(CONTENT);
    damaged[at] = 0;
    const body = checked(damaged);
    await read(body, 0, 10);
    await read(body, 10, 10, 2);
    const last = body.read(10, 10)[Symbol.asyncIterator]();
    for (let piece = 0; piece < 4; piece++) assert.equal((await last.next()).done, false);
    await assert.rejects(last.next(), (error) => error instanceof TransferError);
  }
});

test("bytes between two parts are proven as well", async () => {
  const damaged = Buffer.from(CONTENT);
  damaged[5] = 0;
  const body = checked(damaged);
  await read(body, 0, 2);
  await assert.rejects(read(body, 16, 4), /is damaged: its SHA-256 differs/);
});
