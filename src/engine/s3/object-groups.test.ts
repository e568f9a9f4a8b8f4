import assert from "node:assert/strict";
import { test } from "node:test";
import { ObjectGroups } from "./object-groups.ts";

/** Groups whose objects are stored when the test says so. */
function groups(bytesMax = 1_000) {
  const created: { extent: number; body: string; end: (error?: Error) => void }[] = [];
  const pinned: number[] = [];
  let extents = 0;
  const gathering = new ObjectGroups({
    bytesMax,
    begin: () => ++extents,
    pin: (extent) => pinned.push(extent),
    create: (extent, body) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error === undefined ? resolve() : reject(error));
        created.push({ extent, body: body.toString(), end });
      }),
  });
  const add = (text: string) => gathering.add(Buffer.from(text));
  return { gathering, created, pinned, add };
}

const nextIteration = () => new Promise((resolve) => setImmediate(resolve));

test("bodies of one iteration of the event loop share an object", async () => {
  const { created, pinned, add } = groups();
  const places = ["one", "two", "three"].map((text) => add(text).place);
  assert.deepEqual(created, []);
  await nextIteration();
  assert.deepEqual(
    places.map(({ extent, offset }) => [extent, offset]),
    [
      [1, 0],
      [1, 3],
      [1, 6],
    ],
  );
  assert.deepEqual(
    created.map(({ body }) => body),
    ["onetwothree"],
  );
  assert.deepEqual(pinned, [1, 1, 1]);
});

test("while several objects are on their way, bodies gather for the next one", async () => {
  const { created, add } = groups();
  for (const text of ["a", "b", "c", "d"]) {
    add(text);
    await nextIteration();
  }
  const late = ["e", "f", "g"].map((text) => add(text));
  await nextIteration();
  assert.equal(created.length, 4);
  created[1]?.end();
  await nextIteration();
  await nextIteration();
  assert.deepEqual(
    created.map(({ body }) => body),
    ["a", "b", "c", "d", "efg"],
  );
  created[4]?.end();
  await Promise.all(late.map(({ stored }) => stored));
});

test("a full or sealed group takes no more bodies", async () => {
  const { gathering, created, add } = groups(5);
  const first = add("abc").place.extent;
  assert.notEqual(add("def").place.extent, first);
  const third = add("g").place.extent;
  gathering.seal(third);
  assert.notEqual(add("h").place.extent, third);
  await nextIteration();
  assert.deepEqual(
    created.map(({ body }) => body),
    ["abc", "defg", "h"],
  );
});

test("if an object cannot be stored, all its bodies fail, and no others", async () => {
  const { created, add } = groups(2);
  const all = ["a", "b", "c"].map((text) => add(text).stored);
  await nextIteration();
  created[0]?.end(new Error("no"));
  created[1]?.end();
  const results = await Promise.allSettled(all);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "rejected", "fulfilled"],
  );
});
