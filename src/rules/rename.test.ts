import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeRename, type PathKind } from "./rename.ts";

const KINDS: readonly PathKind[] = ["file", "directory"];

test("a directory is not renamed to itself or to a place below it, a file may be", () => {
  for (const target of [...KINDS, null]) {
    const ends = { target, isTargetFilled: target === "directory", isWithin: true };
    assert.equal(judgeRename({ ...ends, source: "directory" }), "InvalidRenameSourcePath");
  }
  const same = { target: "file", isTargetFilled: false, isWithin: true } as const;
  assert.equal(judgeRename({ ...same, source: "file" }), null);
});

test("a rename replaces only its own kind, and only a directory that is empty", () => {
  for (const source of KINDS) {
    for (const target of [...KINDS, null]) {
      for (const isTargetFilled of target === "directory" ? [true, false] : [false]) {
        const verdict = judgeRename({ source, target, isTargetFilled, isWithin: false });
        if (target === null) assert.equal(verdict, null);
        else if (target !== source) assert.equal(verdict, "InvalidSourceOrDestinationResourceType");
        else assert.equal(verdict, isTargetFilled ? "DirectoryNotEmpty" : null);
      }
    }
  }
});
