import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NamesBefore, nameOfPath, pathOfName } from "./file-names.ts";

const ODD = ["", ".", "..", "a.", "b ", "con", "NUL.txt", "%41", "a:b", "x".repeat(500), "ü✓𝒳"];

test("every name has a path that a file system can hold, and comes back from it", () => {
  const segment = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...ODD));
  fc.assert(
    fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
      const name = segments.join("/");
      const path = pathOfName(name);
      for (const part of path.split("/")) {
        assert.ok(part !== "" && part !== "." && part !== "..", path);
        assert.ok(Buffer.byteLength(part) <= 255, path);
        assert.match(part, /^[^\p{Cc}<>:"|?*\\]*[^. ]$/u);
      }
      assert.equal(nameOfPath(path), name);
    }),
  );
});

test("a folder beside a file of its name has another name", () => {
  const names = new NamesBefore();
  const paths = ["a", "a!", "a/b", "a/b/c", "ab"].map((name) => {
    const path = pathOfName(name, names.has);
    names.add(name);
    return path;
  });
  assert.deepEqual(paths, ["a", "a!", "a%=/b", "a%=/b%=/c", "ab"]);
  assert.equal(nameOfPath("a%=/b%=/c"), "a/b/c");
});
