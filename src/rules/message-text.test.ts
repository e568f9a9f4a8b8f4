import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeMessageText } from "./message-text.ts";

test("a message has up to 65,536 bytes of UTF-8", () => {
  for (const text of ["", "a".repeat(65_536), "ä".repeat(32_768), "😀".repeat(16_384)]) {
    assert.equal(judgeMessageText(text), null);
    assert.equal(
      judgeMessageText(`${text}${"a".repeat(65_537 - Buffer.byteLength(text))}`),
      TOO_LARGE,
    );
  }
});

const TOO_LARGE = "RequestBodyTooLarge";
