import assert from "node:assert/strict";
import { test } from "node:test";
import { judgePattern, matchesPattern } from "./name-pattern.ts";

const MATCHES: readonly [pattern: string, yes: readonly string[], no: readonly string[]][] = [
  ["*", ["a", "a.txt", ".hidden"], []],
  ["*.txt", ["a.txt", "A.TXT", ".txt"], ["a.doc", "txt", "a.txt2"]],
  ["a?c", ["abc", "a.c", "AXC"], ["ac", "abbc"]],
  ["a", ["a", "A"], ["b", "aa"]],
  ["*a*b*", ["ab", "xaxbx", "aabb"], ["ba", "b"]],
  ["", [], ["a"]],
  // The DOS meanings of *.* and a.???, as clients write them.
  ['<"*', ["a", "a.b", "a.b.c"], []],
  ["a>>", ["a", "ab", "abc"], ["abcd"]],
  ["<.txt", ["a.txt", "a.b.txt"], ["a.doc"]],
  ['a"', ["a", "a."], ["ab"]],
  ['a">>>', ["a", "a.b", "a.bcd"], ["a.bcde", "ab"]],
];

for (const [pattern, yes, no] of MATCHES) {
  test(`${JSON.stringify(pattern)} finds what it should, and nothing else`, () => {
    for (const name of yes) assert.equal(matchesPattern(name, pattern), true, name);
    for (const name of no) assert.equal(matchesPattern(name, pattern), false, name);
  });
}

test("a pattern that is longer than any name needs is refused", () => {
  assert.equal(judgePattern("*".repeat(510)), null);
  assert.equal(judgePattern("*".repeat(511)), "InvalidResourceName");
});

test("a pattern of asterisks alone costs no more than its length times the name's", () => {
  assert.equal(matchesPattern("a".repeat(255), "*a".repeat(100)), true);
  assert.equal(matchesPattern("a".repeat(255), `${"*a".repeat(100)}b`), false);
});
