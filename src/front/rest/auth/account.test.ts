import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { accountsOf } from "./account.ts";
import { KEY, SECOND_KEY } from "./request.fixture.ts";

test("accounts are found by name and by domain, ignoring the domain's case", () => {
  const { byName, byDomain } = accountsOf([
    { name: "one", keys: [KEY], domains: ["Files.Example.org"] },
    { name: "two", keys: [KEY, SECOND_KEY] },
  ]);
  assert.deepEqual([...byName.keys()], ["one", "two"]);
  assert.equal(byDomain.get("files.example.org"), byName.get("one"));
  assert.equal(byName.get("two")?.keys.length, 2);
});

test("invalid settings are refused with a sentence", () => {
  const keys = [KEY];
  for (const [settings, sentence] of [
    [[{ name: "Upper", keys }], /lower-case/],
    [[{ name: "", keys }], /lower-case/],
    [[{ name: "-a", keys }], /hyphen/],
    [[{ name: "a".repeat(64), keys }], /63/],
    [[{ name: "one-secondary", keys }], /-secondary/],
    [[{ name: "one", keys: [] }], /one or two/],
    [[{ name: "one", keys: [KEY, KEY, KEY] }], /one or two/],
    [[{ name: "one", keys: [""] }], /is empty/],
    [[{ name: "one", keys: [KEY, "?="] }], /is empty/],
    [
      [
        { name: "one", keys },
        { name: "one", keys },
      ],
      /twice/,
    ],
    [
      [
        { name: "one", keys, domains: ["a.org"] },
        { name: "two", keys, domains: ["A.org"] },
      ],
      /two accounts/,
    ],
  ] as const) {
    assert.throws(() => accountsOf(settings), sentence);
  }
});

test("keys appear neither in a printed account nor in an error", () => {
  const accounts = accountsOf([{ name: "one", keys: [KEY] }]);
  const shown = inspect(accounts, { depth: 9, showHidden: true });
  assert.ok(!shown.includes(KEY.slice(0, 12)));
  assert.ok(!JSON.stringify([...accounts.byName]).includes(KEY.slice(0, 12)));
  assert.throws(
    () => accountsOf([{ name: "one", keys: [KEY, "?"] }]),
    (error) => !String(error).includes(KEY.slice(0, 12)),
  );
});

test("the delegation secret is derived from the first key", () => {
  const secret = (keys: string[]) =>
    accountsOf([{ name: "one", keys }])
      .byName.get("one")
      ?.delegationSecret.mac("text");
  assert.equal(secret([KEY]), secret([KEY, SECOND_KEY]));
  assert.notEqual(secret([KEY]), secret([SECOND_KEY]));
});
