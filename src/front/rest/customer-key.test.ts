import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { Fault } from "../../base/fault.ts";
import { keyHeaders, keyOf, readKeyOf, sourceKeyOf } from "./customer-key.ts";

const BYTES = Buffer.alloc(32, 7);
const KEY = BYTES.toString("base64");
const SHA256 = createHash("sha256").update(BYTES).digest("base64");
const WHOLE = {
  "x-ms-encryption-key": KEY,
  "x-ms-encryption-key-sha256": SHA256,
  "x-ms-encryption-algorithm": "AES256",
};

function sent(headers: Record<string, string>, remoteAddress = "127.0.0.1", secure = false) {
  return { headers: { get: (name: string) => headers[name], raw: [] }, remoteAddress, secure };
}

function without(name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(WHOLE).filter(([one]) => one !== name));
}

function refusal(ask: () => unknown): readonly [string, string | undefined] {
  try {
    ask();
  } catch (error) {
    assert.ok(error instanceof Fault);
    assert.ok(!JSON.stringify(error.detail).includes(KEY), "the key is shown");
    return [error.code, error.detail.HeaderName];
  }
  return assert.fail("it was not refused");
}

test("a key is read with its hash, and each request has a nonce of its own", () => {
  const key = keyOf(sent(WHOLE));
  assert.deepEqual(key?.bytes, BYTES);
  assert.deepEqual(keyHeaders(key), ["x-ms-encryption-key-sha256", SHA256]);
  assert.notDeepEqual(keyOf(sent(WHOLE))?.nonce, key?.nonce);
  assert.equal(keyOf(sent({})), null);
  assert.deepEqual(keyHeaders(null), []);
});

test("a key is sent whole, and only reads may leave the algorithm out", () => {
  for (const name of ["x-ms-encryption-key", "x-ms-encryption-key-sha256"]) {
    for (const ask of [keyOf, readKeyOf]) {
      assert.deepEqual(
        refusal(() => ask(sent(without(name)))),
        ["MissingRequiredHeader", name],
      );
    }
  }
  const name = "x-ms-encryption-algorithm";
  assert.deepEqual(
    refusal(() => keyOf(sent(without(name)))),
    ["MissingRequiredHeader", name],
  );
  assert.deepEqual(readKeyOf(sent(without(name)))?.bytes, BYTES);
});

test("a key of another length, a wrong hash and another algorithm are refused by name", () => {
  const wrong: readonly [keyof typeof WHOLE, string][] = [
    ["x-ms-encryption-key", BYTES.subarray(1).toString("base64")],
    ["x-ms-encryption-key", Buffer.alloc(33).toString("base64")],
    ["x-ms-encryption-key", ""],
    ["x-ms-encryption-key", "no base64!"],
    ["x-ms-encryption-key-sha256", Buffer.alloc(32).toString("base64")],
    ["x-ms-encryption-key-sha256", "no base64!"],
    ["x-ms-encryption-algorithm", "AES128"],
    ["x-ms-encryption-algorithm", "None"],
  ];
  for (const [name, value] of wrong) {
    const headers = { ...WHOLE, [name]: value };
    assert.deepEqual(
      refusal(() => keyOf(sent(headers))),
      ["InvalidHeaderValue", name],
    );
  }
});

test("a key of a source has names of its own", () => {
  const headers = Object.fromEntries(
    Object.entries(WHOLE).map(([name, value]) => [name.replace("x-ms-", "x-ms-source-"), value]),
  );
  assert.deepEqual(sourceKeyOf(sent(headers))?.bytes, BYTES);
  assert.equal(keyOf(sent(headers)), null);
});

test("keys cross a network encrypted only, and within a machine as they come", () => {
  for (const address of ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"]) {
    assert.deepEqual(keyOf(sent(WHOLE, address))?.bytes, BYTES, address);
  }
  for (const address of ["10.0.0.1", "::ffff:10.0.0.1", "fe80::1", "127.0.0.1.example", ""]) {
    assert.deepEqual(
      refusal(() => keyOf(sent(WHOLE, address))),
      ["InvalidHeaderValue", "x-ms-encryption-key"],
      address,
    );
    assert.deepEqual(keyOf(sent(WHOLE, address, true))?.bytes, BYTES, address);
  }
});
