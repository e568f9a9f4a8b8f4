import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMANDS, FLAGS } from "./flags.ts";
import { commandPage, helpPage } from "./help-page.ts";

test("the help page shows every flag, and fits a terminal of 100 columns", () => {
  const lines = helpPage().split("\n");
  for (const { name } of FLAGS) {
    assert.ok(
      lines.some((line) => new RegExp(`^ .*--${name}( |$)`).test(line)),
      name,
    );
  }
  for (const line of lines) assert.ok(line.length <= 100, line);
});

test("each command has a page with its usage, its summary and its flags only", () => {
  for (const [name, summary] of Object.entries(COMMANDS)) {
    const page = commandPage(name);
    assert.ok(page.includes(`lazuli ${name}`) && page.includes(summary), page);
    const shown = [...page.matchAll(/^ {2}(?:-\w, | {4})--(\w+)/gm)].map(([, flag]) => flag);
    const taken = FLAGS.filter(({ commands = [] }) => commands.some((one) => one === name));
    assert.deepEqual(
      shown,
      taken.map((flag) => flag.name),
    );
    for (const line of page.split("\n")) assert.ok(line.length <= 100, line);
  }
  assert.match(commandPage("account"), /account list \[name\][\s\S]*account rotate-key <name>/);
});
