import assert from "node:assert/strict";
import { test } from "node:test";
import { CLOCKS_ON_TIME } from "./lab-clock.ts";
import { SavedStates } from "./saved-states.ts";

function states() {
  const forgotten: number[] = [];
  let saved = 0;
  const all = new SavedStates(() => {
    const number = saved++;
    return { restore() {}, forget: () => void forgotten.push(number) };
  });
  return { all, forgotten };
}

test("a state that is replaced or forgotten is freed", () => {
  const { all, forgotten } = states();
  all.save("a", CLOCKS_ON_TIME);
  all.save("b", CLOCKS_ON_TIME);
  all.save("a", CLOCKS_ON_TIME);
  assert.deepEqual(forgotten, [1]);
  assert.deepEqual(all.names, ["a", "b"]);
  all.forget("b");
  assert.deepEqual(forgotten, [1, 2]);
  assert.deepEqual(all.names, ["a"]);
  assert.throws(() => all.forget("b"), /No state is saved as "b". There are "a"/);
});

test("there are at most 100 states, and each can still be replaced", () => {
  const { all } = states();
  for (let at = 0; at < 100; at++) all.save(`${at}`, CLOCKS_ON_TIME);
  assert.throws(() => all.save("more", CLOCKS_ON_TIME), /There are 100 saved states already/);
  all.save("7", CLOCKS_ON_TIME);
  assert.equal(all.names.length, 100);
});
