import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesText, durationText } from "./amount-text.ts";

test("amounts of bytes take the unit that fits, and one byte is no plural", () => {
  const texts = [0, 1, 2, 1023, 1024, 10 * 1024, 1.5 * 1024 ** 3, 2000 * 1024 ** 4].map(bytesText);
  const expected = ["0 bytes", "1 byte", "2 bytes", "1023 bytes", "1.0 KiB", "10 KiB", "1.5 GiB"];
  assert.deepEqual(texts, [...expected, "2000 TiB"]);
});

test("durations have their two largest units", () => {
  const texts = [0, 59_499, 61_000, 3_660_000, 90_000_000].map(durationText);
  assert.deepEqual(texts, ["0 s", "59 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"]);
});
