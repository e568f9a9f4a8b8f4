import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../base/fault.ts";
import { boundaryOf, joinParts, readParts } from "./multipart.ts";

function contents(text: string, partsMax = 10): string[] | string {
  try {
    return readParts(text, "b", partsMax).map(({ content }) => content);
  } catch (error) {
    assert.ok(error instanceof Fault);
    return error.code;
  }
}

test("the boundary may be quoted and follow other parameters", () => {
  assert.equal(boundaryOf("multipart/mixed; boundary=batch_1"), "batch_1");
  assert.equal(boundaryOf('Multipart/Mixed;charset=x; boundary="a b"'), "a b");
  for (const other of [undefined, "", "multipart/mixed", "application/json; boundary=x"]) {
    assert.equal(boundaryOf(other), null);
  }
});

test("parts may end their lines with CR LF or with LF alone", () => {
  const text = "before\n--b\nA: 1\nb : x:y\n\none\ntwo\n--b\n\n\n--b--\nafter";
  for (const lines of [text, text.replaceAll("\n", "\r\n")]) {
    const [first, second] = readParts(lines, "b", 10);
    assert.deepEqual(
      [...(first?.headers ?? [])],
      [
        ["a", "1"],
        ["b", "x:y"],
      ],
    );
    assert.equal(first?.content.replaceAll("\r", ""), "one\ntwo");
    assert.equal(second?.content, "");
  }
});

test("a boundary counts only where it is a whole line", () => {
  assert.deepEqual(contents("--b\n\nx --b\n--bb\ny--b\n--b--"), ["x --b\n--bb\ny--b"]);
});

test("a body without an end, with too many parts or without headers is refused", () => {
  for (const text of ["", "--b", "--b\n\nx", "--b\n\nx\n--c--", "--b\nno header\n\nx\n--b--"]) {
    assert.equal(contents(text), "InvalidInput", text);
  }
  assert.equal(contents("--b\n\n--b\n\n--b\n\n--b--", 2), "InvalidInput");
  assert.equal(contents("--b\n\n--b\n\n--b--", 2).length, 2);
});

test("joined parts are read back the same", () => {
  const text = joinParts(["A: 1\r\n\r\none", "\r\ntwo"], "b");
  assert.deepEqual(contents(text), ["one", "two"]);
});
