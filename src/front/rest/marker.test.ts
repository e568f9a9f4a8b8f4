import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../../base/fault.ts";
import { parseQuery } from "./http/query.ts";
import { markerOf, writeMarker } from "./marker.ts";

function sent(marker: string) {
  return markerOf(parseQuery(`marker=${encodeURIComponent(marker)}`), ["n", "p"]);
}

function refused(marker: string): void {
  assert.throws(
    () => sent(marker),
    (error) => error instanceof Fault && error.code === "InvalidQueryParameterValue",
    marker,
  );
}

test("a marker round-trips, whatever name it holds", () => {
  const kind = fc.constantFrom("n", "p");
  const text = fc.string({ unit: "binary", maxLength: 300 });
  fc.assert(
    fc.property(kind, text, (kind, text) => {
      assert.deepEqual(sent(writeMarker({ kind, text })), { kind, text });
    }),
  );
});

test("a marker needs no encoding in a URL", () => {
  const text = fc.string({ unit: "binary", maxLength: 50 });
  fc.assert(
    fc.property(text, (text) => {
      assert.match(writeMarker({ kind: "n", text }), /^[A-Za-z0-9_-]+$/);
    }),
  );
});

test("a missing or empty marker starts at the first item", () => {
  assert.equal(markerOf(parseQuery(""), ["n"]), null);
  assert.equal(sent(""), null);
});

test("a marker that this kind of list never writes is refused", () => {
  for (const marker of [
    "n",
    "name",
    "!",
    "bm Fi",
    "bmFi=",
    writeMarker({ kind: "q", text: "a" }),
  ]) {
    refused(marker);
  }
  refused(Buffer.from([0x6e, 0xff]).toString("base64url"));
  refused(writeMarker({ kind: "n", text: "x".repeat(1_056) }));
  fc.assert(
    fc.property(fc.string({ maxLength: 40 }), (text) => {
      try {
        sent(text);
      } catch (error) {
        assert.ok(error instanceof Fault);
      }
    }),
  );
});
