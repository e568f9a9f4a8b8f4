import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { DeadZones } from "./dead-zones.ts";

const LETTERS = "abcdefghijklmnop";
const letter = fc.nat(LETTERS.length - 1).map((at) => LETTERS[at] as string);
const step = fc.oneof(fc.record({ from: letter, until: letter }), fc.record({ written: letter }));

test("a zone ends where a record is written, and contains no record", () => {
  const property = fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
    const zones = new DeadZones();
    const dead = new Set<string>();
    steps.forEach((taken, number) => {
      if ("written" in taken) {
        zones.end(taken.written);
        if (!dead.has(taken.written)) return;
        // The rest of the zone behind it may still be empty, but is forgotten.
        const zoneEnd = [...LETTERS].find((at) => at > taken.written && !dead.has(at));
        for (const at of LETTERS) {
          if (at >= taken.written && (zoneEnd === undefined || at < zoneEnd)) dead.delete(at);
        }
      } else if (taken.from < taken.until) {
        zones.note(taken.from, taken.until, number);
        for (const at of LETTERS) if (at >= taken.from && at < taken.until) dead.add(at);
      }
      for (const at of LETTERS) {
        const zone = zones.find(at);
        assert.equal(zone !== null, dead.has(at), at);
        for (const inside of LETTERS) {
          if (zone !== null && inside >= at && inside < zone.until) assert.ok(dead.has(inside));
        }
      }
    });
  });
  fc.assert(property, { numRuns: 500 });
});

test("a merged zone is as new as its newest part", () => {
  const zones = new DeadZones();
  zones.note("a", "c", 5);
  zones.note("e", "g", 7);
  zones.note("c", "f", 6);
  assert.deepEqual(zones.find("b"), { from: "a", until: "g", newest: 7 });
});

test("the number of zones is limited", () => {
  const zones = new DeadZones();
  for (let at = 0; at < 2_000; at += 2) {
    zones.note(String.fromCharCode(at), String.fromCharCode(at + 1), 1);
  }
  const remembered = Array.from({ length: 1_000 }, (_, at) =>
    zones.find(String.fromCharCode(2 * at)),
  );
  assert.ok(remembered.filter((zone) => zone !== null).length <= 256);
});
