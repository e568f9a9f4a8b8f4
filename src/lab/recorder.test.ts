import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../base/fault.ts";
import { labUnderTest, settled } from "./lab.fixture.ts";

const DONE = { status: 201, headers: ["ETag", '"0x1"'], body: null };

test("clients without a name get the lowest number that is free, named ones their name", async () => {
  const { lab, put } = labUnderTest();
  const ends: (() => void)[] = [];
  const begin = (headers = {}) =>
    put(() => new Promise((resolve) => ends.push(() => resolve(DONE))), { headers });
  lab.recorder.start();
  const all = [begin(), begin(), begin({ "x-lazuli-client": "worker" })];
  await settled();
  ends[0]?.();
  await all[0];
  all.push(begin());
  await settled();
  for (const end of ends) end();
  await Promise.all(all);
  const { operations } = lab.recorder.stop();
  assert.deepEqual(
    operations.map(({ client }) => client),
    ["client 1", "client 2", "worker", "client 1"],
  );
});

test("a recording has what was answered, refused, lost, and is under way", async () => {
  const { lab, put } = labUnderTest();
  await put(async () => DONE);
  lab.recorder.start();
  await lab.changeClock({ move: "1h", account: "near" });
  await put(async () => DONE);
  await assert.rejects(put(() => Promise.reject(new Fault("LeaseIdMissing"))));
  await assert.rejects(put(() => Promise.reject(new Error("broken"))));
  lab.addRule({ drop: true, at: "answer" });
  await put(async () => DONE);
  let end = () => {};
  const open = put(
    () =>
      new Promise((resolve) => {
        end = () => resolve(DONE);
      }),
  );
  await settled();
  const { operations } = lab.recorder.stop();
  assert.deepEqual(
    operations.map(({ status, code, etag, returned }) => [status, code, etag, returned !== null]),
    [
      [201, null, "0x1", true],
      [412, "LeaseIdMissing", null, true],
      [500, "InternalError", null, true],
      [null, undefined, null, false],
      [null, undefined, null, false],
    ],
  );
  assert.deepEqual(
    new Set(operations.map(({ fromMs, toMs }) => `${fromMs} ${toMs}`)),
    new Set([`${lab.clock.of("near")} ${lab.clock.of("near")}`]),
  );
  end();
  await open;
  await put(async () => DONE);
  assert.equal(lab.recorder.shown.operations, 4 + 1, "what had begun is still recorded");
  lab.recorder.start();
  assert.deepEqual(lab.recorder.history.operations, []);
});

test("operations without a word for the checker are counted, files too, except in a scene", async () => {
  const { lab, put } = labUnderTest();
  const list = { operation: "listBlobs", object: "" };
  const write = { service: "file", operation: "putRange", object: "doc" } as const;
  lab.recorder.start();
  await put(async () => DONE, list);
  await put(async () => DONE, list);
  await put(async () => DONE, write);
  const { operations, skipped } = lab.recorder.stop();
  assert.deepEqual(operations, []);
  assert.deepEqual(skipped, { ListBlobs: 2, PutRange: 1 });
  lab.recorder.start({ hasFiles: true });
  await put(async () => DONE, write);
  assert.deepEqual(
    lab.recorder.stop().operations.map(({ kind, verb }) => `${kind} ${verb}`),
    ["file change"],
  );
});

test("a recording ends after so many operations", async () => {
  const { put, lab } = labUnderTest({ recordedMax: 2 });
  lab.recorder.start();
  for (let at = 0; at < 3; at++) await put(async () => DONE);
  assert.equal(lab.recorder.stop().operations.length, 2);
});
