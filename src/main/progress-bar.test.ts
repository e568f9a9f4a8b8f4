import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../base/clock.ts";
import { ProgressBar, type ProgressOptions } from "./progress-bar.ts";

const MIB = 1024 * 1024;
const TOTAL = { objects: 1000, bytes: 1000 * MIB };

function shown(options: Partial<ProgressOptions>, isTTY: boolean) {
  let text = "";
  const clock = new ManualClock(0);
  const bar = new ProgressBar(
    { isTTY, write: (part) => (text += part) },
    { clock, total: TOTAL, noun: "blobs", ...options },
  );
  for (let tenth = 0; tenth <= 20; tenth++) {
    bar.show({ objects: tenth * 50, bytes: tenth * 50 * MIB });
    clock.advance(1000);
  }
  bar.end();
  return text;
}

test("a file gets a line at every tenth, with rate and remaining time", () => {
  const lines = shown({}, false).trimEnd().split("\n");
  assert.equal(lines.length, 10);
  assert.equal(lines[0], "0 %, 0 blobs, 0 MiB");
  assert.equal(lines[5], "50 %, 500 blobs, 500 MiB, 50 MiB/s, 10 s left");
});

test("a terminal gets one line that is written again, and is clear in the end", () => {
  const text = shown({}, true);
  assert.ok(!text.includes("\n"));
  assert.ok(text.includes("[###############...............] 50 %, 500 blobs"), text);
  assert.ok(text.endsWith("\r\u001b[K"));
});

test("small objects have a rate in objects, and work of unknown size has no percentage", () => {
  assert.match(shown({ total: { objects: 1000, bytes: 0 } }, false), /^50 %, 500 blobs/m);
  const lines = shown({ total: null }, false).trimEnd().split("\n");
  assert.deepEqual(lines, [
    "0 blobs, 0 MiB",
    "500 blobs, 500 MiB, 50 MiB/s",
    "1000 blobs, 1000 MiB, 50 MiB/s",
  ]);
});

test("--json writes an object on each line, to terminals, too", () => {
  const lines = shown({ json: true }, true).trimEnd().split("\n");
  assert.deepEqual(JSON.parse(lines[5] ?? ""), {
    progress: { percent: 50, objects: 500, bytes: 500 * MIB, seconds: 10, remainingSeconds: 10 },
  });
});
