import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeByKey } from "./encryption.ts";

const ONE = Buffer.alloc(32, 1);
const OTHER = Buffer.alloc(32, 2);

test("a request needs the key that a blob is encrypted with, and no key without one", () => {
  const sha256 = (bytes: Buffer | null) => bytes && { sha256: bytes };
  const verdicts = [null, ONE, OTHER].flatMap((stored) =>
    [null, ONE, OTHER].map((asked) => judgeByKey(stored, sha256(asked))),
  );
  assert.deepEqual(verdicts, [
    ...[null, "BlobDoesNotUseCustomerSpecifiedEncryption"],
    "BlobDoesNotUseCustomerSpecifiedEncryption",
    ...["BlobUsesCustomerSpecifiedEncryption", null, "BlobCustomerSpecifiedEncryptionMismatch"],
    ...["BlobUsesCustomerSpecifiedEncryption", "BlobCustomerSpecifiedEncryptionMismatch", null],
  ]);
});
