import assert from "node:assert/strict";
import { test } from "node:test";
import { stampOfIso } from "../../../base/stamp.ts";
import { gmtOfStamp, isSameSecond, stampOfGmt } from "./snapshots.ts";

test("the name of a snapshot is its second", () => {
  const stamp = stampOfIso("2026-11-16T06:54:03.9999999Z") as bigint;
  assert.equal(gmtOfStamp(stamp), "@GMT-2026.11.16-06.54.03");
  assert.ok(isSameSecond(stampOfGmt("@GMT-2026.11.16-06.54.03") as bigint, stamp));
  assert.ok(!isSameSecond(stampOfGmt("@gmt-2026.11.16-06.54.04") as bigint, stamp));
});

test("other names are not those of snapshots", () => {
  for (const name of [
    "@GMT",
    "@GMT-2026.11.16",
    "x@GMT-2026.11.16-06.54.03",
    "@GMT-2026.13.41-06.54.03",
  ]) {
    assert.equal(stampOfGmt(name), null, name);
  }
});
