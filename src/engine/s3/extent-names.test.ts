import assert from "node:assert/strict";
import { test } from "node:test";
import { extentNumber, extentOfName, folderOf, makerOf, objectName } from "./extent-names.ts";

test("the name of an object tells its extent, and the front end that made it", () => {
  for (const frontEnd of [0, 1, 7, 0xfffff]) {
    for (const count of [1, 255, 0xffffffff]) {
      const extent = extentNumber(frontEnd, count);
      assert.ok(Number.isSafeInteger(extent));
      assert.equal(makerOf(extent), frontEnd);
      assert.equal(extentOfName(objectName(extent)), extent);
      assert.ok(objectName(extent).startsWith(folderOf(frontEnd)));
    }
  }
});

test("names sort as extents were made", () => {
  const extents = [extentNumber(1, 2), extentNumber(1, 300), extentNumber(2, 1)];
  assert.deepEqual(extents.map(objectName).toSorted(), extents.map(objectName));
  assert.deepEqual(
    extents.toSorted((a, b) => a - b),
    extents,
  );
});

test("other objects are no extents", () => {
  for (const name of ["", "lazuli-records", "extents/00001/x", "extents/1/00000001", "00001/1"]) {
    assert.equal(extentOfName(name), null, name);
  }
});

test("numbers that would meet others are refused", () => {
  assert.throws(() => extentNumber(2 ** 20, 1), RangeError);
  assert.throws(() => extentNumber(1, 2 ** 32), RangeError);
});
