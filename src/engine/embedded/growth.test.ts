import assert from "node:assert/strict";
import { test } from "node:test";
import { key, SPACE } from "../../base/keys.ts";
import { StoreError } from "../../store/store.ts";
import type { State } from "../body-view.ts";
import { nameOf } from "../sorted-items.ts";
import { growthOf } from "./growth.ts";

test("deleting a damaged record needs no space, so a full disk admits it", () => {
  const damaged: State = {
    get: () => {
      throw new StoreError("damaged", "the record is damaged");
    },
    scan: () => [],
    newest: 0,
    canAppend: () => false,
  };
  const at = key(SPACE.blob, 1n, "name");
  const write = { name: nameOf(at), key: at, value: null, isAppend: false };
  assert.equal(growthOf([write], damaged, new Set()), 0);
});
