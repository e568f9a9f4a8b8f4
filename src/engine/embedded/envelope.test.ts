import assert from "node:assert/strict";
import { test } from "node:test";
import { StoreError } from "../../store/store.ts";
import { SEAL_BYTES, seal, unseal } from "./envelope.ts";

const key = Buffer.from("some key");

function sealed(value: Buffer): Buffer {
  return seal(key, value, Buffer.alloc(value.length + SEAL_BYTES));
}

test("unsealing returns the sealed value without a copy", () => {
  for (const value of [Buffer.from("some value"), Buffer.alloc(0), Buffer.alloc(100_000, 7)]) {
    const envelope = sealed(value);
    const opened = unseal(key, envelope);
    assert.deepEqual(opened, value);
    assert.equal(opened.buffer, envelope.buffer);
  }
});

test("an empty value can be sealed and unsealed", () => {
  const empties = [Buffer.alloc(0), Buffer.from("text").subarray(4), Buffer.from([])];
  for (const empty of empties) assert.deepEqual(unseal(key, sealed(empty)), Buffer.alloc(0));
  const [first, ...others] = empties.map((empty) => sealed(empty).toString("hex"));
  for (const other of others) assert.equal(other, first);
});

test("every flipped bit and every truncation is found", () => {
  const envelope = sealed(Buffer.from("some value"));
  for (let bit = 0; bit < envelope.length * 8; bit++) {
    const flipped = Buffer.from(envelope);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    assert.throws(() => unseal(key, flipped), StoreError);
  }
  for (let length = 0; length < envelope.length; length++) {
    assert.throws(() => unseal(key, envelope.subarray(0, length)), StoreError);
  }
});

test("a value under another key is found", () => {
  const moved = sealed(Buffer.from("some value"));
  assert.throws(
    () => unseal(Buffer.from("another key"), moved),
    new RegExp(Buffer.from("another key").toString("hex")),
  );
});
