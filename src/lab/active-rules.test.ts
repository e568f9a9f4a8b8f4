import assert from "node:assert/strict";
import { test } from "node:test";
import { ActiveRules, fits, note, type SeenRequest } from "./active-rules.ts";
import type { Match, Rule } from "./rule.ts";

const REQUEST: SeenRequest = {
  service: "blob",
  operation: "PutBlob",
  method: "PUT",
  account: "near",
  container: "box",
  object: "dir/doc",
  requestId: "1",
  clientRequestId: "mine-1",
  headers: new Map([["x-ms-lease-id", "abc"]]),
};

const RULE: Rule = {
  match: {},
  at: "arrival",
  effect: { kind: "drop" },
  times: null,
  skip: 0,
  chance: 1,
};

/** Which of so many requests a rule acts on, as `x` and `.`. */
function drawn(rules: ActiveRules, requests: number): string {
  const acts = () => rules.next("arrival", REQUEST, new Set()) !== null;
  return Array.from({ length: requests }, () => (acts() ? "x" : ".")).join("");
}

function acts(match: Match, request = REQUEST): boolean {
  const rules = new ActiveRules();
  rules.add({ ...RULE, match }, {});
  const may = rules.mayAct("arrival", request, new Set());
  assert.equal(rules.next("arrival", request, new Set()) !== null, may);
  return may;
}

test("every field of a rule must match", () => {
  const right: Required<Match> = {
    service: "blob",
    operation: "PutBlob",
    method: "PUT",
    account: "near",
    container: "b*x",
    object: "dir/*",
    clientRequestId: "mine-*",
    headers: { "x-ms-lease-id": "*" },
  };
  const wrong: Required<Match> = {
    service: "dfs",
    operation: "GetBlob",
    method: "GET",
    account: "far",
    container: "b*y",
    object: "dir",
    clientRequestId: "yours",
    headers: { "x-ms-lease-id": "*", "if-match": "*" },
  };
  assert.equal(acts({}), true);
  assert.equal(acts(right), true);
  for (const name of Object.keys(right) as (keyof Match)[]) {
    assert.equal(acts({ [name]: right[name] }), true, name);
    assert.equal(acts({ ...right, [name]: wrong[name] }), false, name);
  }
  assert.equal(acts({ headers: { "x-ms-lease-id": "other" } }), false);
  const smb = { ...REQUEST, service: "smb" } as const;
  assert.equal(acts({}, smb), false);
  assert.equal(acts({ service: "smb" }, smb), true);
});

test("a star stands for any characters, and no character is used twice", () => {
  for (const [pattern, text, does] of [
    ["doc", "doc", true],
    ["doc", "docs", false],
    ["*", "", true],
    ["a*b*c", "a--b--c", true],
    ["a*b*c", "a--c--b", false],
    ["a*b*c", "abbc", true],
    ["*b*", "abc", true],
    ["*b*", "ac", false],
    ["ab*bc", "abc", false],
    ["ab*bc", "abbc", true],
    ["*c", "abc", true],
    ["b*", "abc", false],
    ["*c", "abcd", false],
    ["a.c", "abc", false],
  ] as const) {
    assert.equal(fits(pattern, text), does, `${pattern} ${text}`);
  }
});

test("a rule acts at its own point, skips, and acts so many times", () => {
  const rules = new ActiveRules();
  const active = rules.add({ ...RULE, skip: 2, times: 3 }, {});
  assert.equal(rules.next("answer", REQUEST, new Set()), null);
  assert.equal(drawn(rules, 8), "..xxx...");
  assert.deepEqual([active.matched, active.acted], [5, 3]);
});

test("a request meets each rule once, in their order", () => {
  const rules = new ActiveRules();
  const [first, second] = [rules.add(RULE, {}), rules.add(RULE, {})];
  const met = new Set<number>();
  assert.equal(rules.next("arrival", REQUEST, met), first);
  assert.equal(rules.next("arrival", REQUEST, met), second);
  assert.equal(rules.next("arrival", REQUEST, met), null);
  assert.equal(rules.mayAct("arrival", REQUEST, met), false);
});

test("chances depend on the seed and the number of the rule alone", () => {
  const rules = new ActiveRules();
  const draw = (seed: number, others: number) => {
    rules.clear(seed);
    for (let at = 0; at < others; at++) rules.remove(rules.add(RULE, {}).id);
    rules.add({ ...RULE, chance: 0.5 }, {});
    return drawn(rules, 200);
  };
  const first = draw(1, 0);
  const share = first.split("x").length - 1;
  assert.ok(share > 60 && share < 140, `${share} of 200`);
  assert.equal(draw(1, 0), first);
  assert.notEqual(draw(2, 0), first);
  assert.notEqual(draw(1, 1), first);
  assert.equal(rules.seed, 1);
});

test("rules can be found and removed by their number, and are numbered from 1 again", () => {
  const rules = new ActiveRules();
  assert.throws(() => rules.find(1), /There is no rule 1. None is set/);
  const [first, second] = [rules.add(RULE, {}), rules.add(RULE, {})];
  rules.remove(1);
  assert.throws(() => rules.find(1), /There is no rule 1. There are 2/);
  assert.deepEqual([first.isRemoved, second.isRemoved], [true, false]);
  rules.clear();
  assert.equal(second.isRemoved, true);
  assert.equal(rules.add(RULE, {}).id, 1);
});

test("there are at most 1,000 rules, with 100 notes each", () => {
  const rules = new ActiveRules();
  for (let at = 0; at < 1_000; at++) rules.add(RULE, {});
  assert.throws(() => rules.add(RULE, {}), /There are 1000 rules already: remove some/);
  const active = rules.find(1);
  for (let at = 0; at < 101; at++) note(active, `${at}`);
  assert.equal(active.notes.length, 100);
});
