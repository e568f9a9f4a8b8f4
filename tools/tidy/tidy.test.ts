import assert from "node:assert/strict";
import { test } from "node:test";
import { tidy } from "./tidy.ts";

function rulesBroken(path: string, ...lines: string[]): string[] {
  return tidy({ path, text: `${lines.join("\n")}\n` }).map(({ line, rule }) => `${line} ${rule}`);
}

function importing(path: string, from: string, what = "{ x }"): boolean {
  return rulesBroken(path, `import ${what} from "${from}";`).length === 0;
}

test("imports point down only", () => {
  const allowed: Record<string, string> = {
    base: "base",
    machine: "base machine",
    rules: "base rules",
    store: "base store",
    content: "base machine store content",
    "engine/memory": "base machine store engine/memory",
    "service/blob": "base machine rules store content service/blob service/shared",
    "service/shared": "base machine rules store content service/shared",
    "front/rest": "base machine service/blob service/shared front/rest",
  };
  const layers = [...Object.keys(allowed), "main"];
  allowed.main = layers.join(" ");
  for (const from of layers) {
    for (const to of layers) {
      const up = "../".repeat(from.split("/").length);
      const expected = allowed[from]?.split(" ").includes(to);
      assert.equal(importing(`src/${from}/a.ts`, `${up}${to}/b.ts`), expected, `${from} -> ${to}`);
    }
  }
});

test("units of service, engine and front know nothing of each other", () => {
  assert.equal(importing("src/service/blob/a.ts", "../queue/b.ts"), false);
  assert.equal(importing("src/engine/memory/a.ts", "../embedded/b.ts"), false);
  assert.equal(importing("src/front/smb/a.ts", "../rest/b.ts"), false);
  assert.equal(importing("src/front/rest/dfs/a.ts", "../blob/b.ts"), true);
  assert.equal(importing("src/engine/memory/a.ts", "../shared-by-engines.ts"), true);
});

test("a front end takes words from rules and store, and calls neither", () => {
  const path = "src/front/rest/blob/a.ts";
  const rules = "../../../rules/lease.ts";
  for (const what of ["type { Lease }", "{ type Lease, type stateOf }", "{ NO_CONDITIONS }"]) {
    assert.equal(importing(path, rules, what), true, what);
  }
  for (const what of ["{ leaseState }", "{ type Lease, leaseState }", "* as lease"]) {
    assert.equal(importing(path, rules, what), false, what);
  }
  assert.equal(importing(path, "../../../store/store.ts", "{ StoreError }"), true);
  assert.equal(importing("src/front/rest/blob/a.test.ts", rules, "{ leaseState }"), true);
});

test("tests of a layer may run it on an engine, but still may not look up", () => {
  assert.equal(importing("src/service/blob/a.test.ts", "../../engine/memory/store.ts"), true);
  assert.equal(importing("src/service/blob/a.test.ts", "../../front/rest/b.ts"), false);
  assert.equal(importing("src/base/a.test.ts", "../engine/memory/store.ts"), false);
});

test("packages are few, and each has its place", () => {
  assert.equal(importing("src/engine/embedded/a.ts", "lmdb"), true);
  assert.equal(importing("src/service/blob/a.ts", "lmdb"), false);
  assert.equal(importing("src/front/rest/auth/a.ts", "jose"), true);
  assert.equal(importing("src/front/rest/blob/a.ts", "jose"), false);
  assert.equal(importing("src/base/a.ts", "left-pad"), false);
  assert.equal(importing("src/base/a.ts", "node:crypto"), true);
  assert.equal(importing("src/rules/a.ts", "node:crypto"), false);
  assert.equal(importing("src/rules/a.test.ts", "fast-check"), true);
  assert.equal(importing("examples/a.ts", "@azure/storage-blob"), true);
  assert.equal(importing("examples/a.ts", "../src/main/serve.ts"), false);
});

test("every form of import is seen, with its line", () => {
  const path = "src/base/a.ts";
  assert.deepEqual(rulesBroken(path, "", 'import "../main/b.ts";'), ["2 layer"]);
  assert.deepEqual(rulesBroken(path, 'const b = await import("../main/b.ts");'), ["1 layer"]);
  assert.deepEqual(rulesBroken(path, "import {", "  x,", '} from "../main/b.ts";'), ["1 layer"]);
  assert.deepEqual(rulesBroken(path, 'import type { X } from "../main/b.ts";'), ["1 layer"]);
});

test("long files are refused, tables excepted", () => {
  const lines = (count: number) => Array<string>(count).fill("//");
  assert.deepEqual(rulesBroken("src/base/a.ts", ...lines(500)), []);
  assert.deepEqual(rulesBroken("src/base/a.ts", ...lines(501)), ["501 size"]);
  assert.deepEqual(rulesBroken("src/front/rest/fault-status.ts", ...lines(501)), []);
});

test("names say what a thing is", () => {
  for (const name of [
    "putBlob.ts",
    "Put-blob.ts",
    "blob-utils.ts",
    "helpers.test.ts",
    "index.ts",
  ]) {
    assert.deepEqual(rulesBroken(`src/base/${name}`), ["1 name"], name);
  }
  for (const name of ["put-blob.ts", "put-blob.test.ts", "crc64.ts", "store.contract.ts"]) {
    assert.deepEqual(rulesBroken(`src/base/${name}`), [], name);
  }
  // tidy-allow name: the rule's own examples
  for (const line of ["interface IStore {", "class StoreImpl {", "type BlobManager = 1"]) {
    assert.deepEqual(rulesBroken("src/base/a.ts", line), ["1 name"], line);
  }
  for (const line of ["interface Item {", "type IPRange = 1", "class Implied {"]) {
    assert.deepEqual(rulesBroken("src/base/a.ts", line), [], line);
  }
});

test("nothing is exported twice", () => {
  assert.deepEqual(rulesBroken("src/base/a.ts", 'export * from "./b.ts";'), ["1 barrel"]);
  assert.deepEqual(rulesBroken("src/base/a.ts", 'export { x } from "./b.ts";'), ["1 barrel"]);
  assert.deepEqual(rulesBroken("src/base/a.ts", "export { x };"), []);
});

test("nothing is left unfinished or switched off without a reason", () => {
  assert.deepEqual(rulesBroken("src/base/a.ts", `// ${"TO"}DO: later`), ["1 unfinished"]);
  const path = "test/sdk/a.test.ts";
  // tidy-allow skip: the rule's own examples
  for (const line of ["test.only(", "it.skip(", "{ skip: true }", "t.skip()", "{ only: true }"]) {
    assert.deepEqual(rulesBroken(path, line), ["1 skip"], line);
  }
  for (const line of ['{ skip: "needs root" }', 't.skip("needs root")', "entries.skip(3)"]) {
    assert.deepEqual(rulesBroken(path, line), [], line);
  }
});

test("an unfinished merge is refused in code and documents", () => {
  for (const line of [`${"<".repeat(7)} HEAD`, "=".repeat(7), `${">".repeat(7)} branch`]) {
    assert.deepEqual(rulesBroken("docs/guides/a.md", "text", line), ["2 conflict"], line);
    assert.deepEqual(rulesBroken("src/base/a.ts", line), ["1 conflict"], line);
  }
  assert.deepEqual(rulesBroken("docs/guides/a.md", "Title", "====="), []);
});

test("a test file awaits nothing after its first test, nor in a loop of tests", () => {
  const path = "test/sdk/a.test.ts";
  const start = "const server = await start();";
  const suite = ['test("a", async () => {', "  await start();", "});"];
  assert.deepEqual(rulesBroken(path, start, ...suite), []);
  assert.deepEqual(rulesBroken(path, ...suite, start), ["4 await"]);
  assert.deepEqual(rulesBroken(path, ...suite, "`", start, "`"), []);
  const loop = ["for (const engine of ENGINES) {", `  ${start}`, "}"];
  assert.deepEqual(rulesBroken(path, ...loop, ...suite), []);
  assert.deepEqual(rulesBroken(path, ...suite, ...loop), ["5 await"]);
  const tests = [...loop.slice(0, 2), '  describe("a", () => {', "  });", "}"];
  assert.deepEqual(rulesBroken(path, ...tests), ["2 await"]);
  assert.deepEqual(rulesBroken("test/sdk/a.ts", ...tests), []);
});

test("tests do not sleep, unless they say why", () => {
  const sleep = `set${"Timeout"}(done, 100);`;
  const path = "src/base/a.test.ts";
  assert.deepEqual(rulesBroken(path, sleep), ["1 sleep"]);
  assert.deepEqual(rulesBroken("src/main/a.ts", sleep), []);
  const reason = "tidy-allow sleep: the kernel closes the socket in its own time";
  assert.deepEqual(rulesBroken(path, `// ${reason}`, sleep), []);
  assert.deepEqual(rulesBroken(path, "// tidy-allow sleep:", sleep), ["2 sleep"]);
  assert.deepEqual(rulesBroken(path, `// ${reason.replace("sleep", "skip")}`, sleep), ["2 sleep"]);
});

test("signatures are not compared as strings", () => {
  const path = "src/front/rest/auth/a.ts";
  for (const line of ["if (expected === signature)", "if (sig !== given)", "mac === theirMac"]) {
    assert.deepEqual(rulesBroken(path, line), ["1 mac"], line);
  }
  for (const line of ["signature === null", "a.length !== mac.length", 'sig === ""']) {
    assert.deepEqual(rulesBroken(path, line), [], line);
  }
});

test("no machine's paths and no download addresses", () => {
  const home = `/${"home"}/somebody/data`;
  assert.deepEqual(rulesBroken("docs/guides/a.md", `cd ${home}`), ["1 machine"]);
  assert.deepEqual(rulesBroken("src/base/a.ts", `"http://127.0.0.1${home}"`), []);
  const resolved = '"resolved": "https://registry.example/x.tgz"';
  assert.deepEqual(rulesBroken("package-lock.json", resolved), ["1 lock"]);
});

test("retired words are refused with the word to use instead, in code and documents", () => {
  assert.deepEqual(rulesBroken("docs/guides/a.md", "The onlooker sees it."), ["1 word"]);
  assert.deepEqual(rulesBroken("src/base/a.ts", "/** Called by the onlooker. */"), ["1 word"]);
  assert.deepEqual(rulesBroken("src/base/a.ts", "const lender = 1;", "const stretch = 2;"), [
    "1 word",
    "2 word",
  ]);
  assert.deepEqual(rulesBroken("src/engine/a.ts", "// What is settling."), ["1 word"]);
  assert.deepEqual(rulesBroken("src/front/a.ts", "const [head, tail] = parts;"), []);
  for (const name of ["isLent", "lenderOf", "Lender", "LENDER", "MAX_LOANS", "HandClock"]) {
    assert.deepEqual(rulesBroken("src/base/a.ts", `use(${name});`), ["1 word"], name);
  }
  for (const line of ["this.#turn = 0;", "const kept = 1;", "one turn of the event loop"]) {
    assert.deepEqual(rulesBroken("src/base/a.ts", line), ["1 word"], line);
  }
  for (const word of ["silent", "calendar", "WalEnd", "misspelled", "it turns soft delete off"]) {
    assert.deepEqual(rulesBroken("src/base/a.ts", `// ${word}`), [], word);
  }
  assert.deepEqual(rulesBroken("src/base/a.ts", "const tap = borrowed.release;"), []);
});

test("a verdict is used", () => {
  const path = "src/service/blob/a.ts";
  assert.deepEqual(rulesBroken(path, "refuse(judgeLease(lease));"), []);
  assert.deepEqual(rulesBroken(path, "refuse(", "  judgeLease(lease),", ");"), []);
  assert.deepEqual(rulesBroken(path, "const verdict = judgeLease(lease);"), []);
  assert.deepEqual(rulesBroken(path, "const a = 1;", "judgeLease(lease);"), ["2 verdict"]);
  assert.deepEqual(rulesBroken(path, "if (a) {", "  judgeLease(lease);", "}"), ["2 verdict"]);
});

test("a decision is one page with its four parts", () => {
  const path = "docs/decisions/0001-a-choice.md";
  const parts = ["## Context", "## Choice", "## What we gave up", "## When to revisit"];
  assert.deepEqual(rulesBroken(path, ...parts), []);
  assert.deepEqual(rulesBroken(path, ...parts.slice(1)), ["1 decision"]);
  assert.deepEqual(rulesBroken(path, ...parts, "word ".repeat(600)), ["1 decision"]);
  assert.deepEqual(rulesBroken("docs/guides/a.md", "word ".repeat(600)), []);
});

test("a function judges or requires; only refuse itself refuses", () => {
  assert.deepEqual(rulesBroken("src/rules/a.ts", "function refuseLease(): void {}"), ["1 verb"]);
  assert.deepEqual(rulesBroken("src/rules/a.ts", "function refuse(): void {}"), []);
  assert.deepEqual(rulesBroken("src/rules/a.ts", "function judgeLease(): null {}"), []);
});

test("state of a module is refused: variables, new objects, and constants that are changed", () => {
  const isRefused = (...lines: string[]) => rulesBroken("src/front/a.ts", ...lines).length > 0;
  assert.ok(isRefused("let last = 0;"));
  assert.ok(isRefused("export let last: string | null = null;"));
  assert.ok(isRefused("let last;"));
  assert.ok(isRefused("const slabs = new Slabs(16, 4);"));
  assert.ok(isRefused("export const known = new Map<string, number>();"));
  assert.ok(isRefused("const page = alignedBytes(4096);"));
  assert.ok(isRefused("const counts = { sent: 0 };", "function f() {", "  counts.sent += 1;", "}"));
  assert.ok(isRefused("const names: string[] = [];", "const f = () => names.push('a');"));
  assert.ok(isRefused("const bytes = [0];", "const f = () => { bytes[0] = 1; };"));
  assert.ok(!isRefused("const NAMES: ReadonlySet<string> = new Set(['a']);"));
  assert.ok(!isRefused("const ODD = new RegExp(WORD);"));
  assert.ok(!isRefused("const MAX = 4;", "const names = ['a'];", "const all = names.slice();"));
  assert.ok(!isRefused("function f() {", "  let at = 0;", "  const known = new Map();", "}"));
  assert.deepEqual(rulesBroken("src/front/a.test.ts", "let last = 0;"), []);
});

test("state of the process is listed, and the list has nothing that is gone", () => {
  const path = "src/base/fair-queue.ts";
  assert.deepEqual(rulesBroken(path, "", "export const fairQueue = new FairQueue();"), []);
  assert.deepEqual(rulesBroken(path, "export const other = new FairQueue();"), [
    "1 state",
    "1 state",
  ]);
});
