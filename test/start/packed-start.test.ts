import assert from "node:assert/strict";
import { execFile, execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { compileFailures, skipWithoutFailures } from "../command/fail-once.ts";
import { installPackedPackage, type PackedPackage } from "../command/packed-package.ts";
import { NpmProgram } from "../programs/npm-program.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
/** Far more than any program needs on a busy machine: it ends one that hangs. */
const RUN_MS_MAX = 10 * 60_000;

/** The last one that runs on Node 20. */
const vitest = new NpmProgram("vitest", "4.1.12");

const scratch = mkdtempSync(join(tmpdir(), "lazuli-start-"));
let installed: PackedPackage;
before(() => {
  installed = installPackedPackage(scratch, ["@azure", "@types"]);
});
after(() => rmSync(scratch, { recursive: true }));

/** Runs a program in the user's folder until it ends by itself, and returns what it prints. */
async function run(file: string, text: string, env = {}): Promise<string> {
  writeFileSync(join(installed.folder, file), text);
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [file], {
    cwd: installed.folder,
    env: { ...process.env, ...env },
    timeout: RUN_MS_MAX,
  });
  assert.equal(stderr, "");
  return stdout;
}

test("a process ends by itself after its servers have stopped, in memory and in folders", async () => {
  const printed = await run(
    "ends.mjs",
    `import { BlobServiceClient } from "@azure/storage-blob";
import { start } from "lazuli";

const servers = [await start(), await start({ location: "a" }), await start({ location: "b" })];
for (const { connectionString } of servers) {
  const service = BlobServiceClient.fromConnectionString(connectionString);
  const container = service.getContainerClient("box");
  await container.create();
  // Long enough to be hashed by a thread.
  await container.getBlockBlobClient("long").upload(Buffer.alloc(9_000_000), 9_000_000);
}
for (const server of servers) await server.stop();
console.log("stopped");
`,
  );
  assert.equal(printed, "stopped\n");
});

test("CommonJS programs can start a server, too", async () => {
  const printed = await run(
    "common.cjs",
    `const { start } = require("lazuli");

start({ services: ["table"] }).then(async (server) => {
  console.log(Object.keys(server.urls));
  await server.stop();
});
`,
  );
  assert.equal(printed, "[ 'table' ]\n");
});

test("a disk that fails ends the server and not the process, and stop rejects", {
  skip: skipWithoutFailures() ?? false,
}, async () => {
  const library = compileFailures(installed.folder);
  const text = `import { BlobServiceClient } from "@azure/storage-blob";
import { start } from "lazuli";

const lines = [];
const server = await start({ location: "failing", onLine: (line) => lines.push(line) });
const service = BlobServiceClient.fromConnectionString(server.connectionString, {
  retryOptions: { maxTries: 1 },
});
let status = 201;
for (let at = 0; status === 201; at++) {
  status = await service.createContainer(\`c-\${at}\`).then(() => 201, (error) => error.statusCode);
}
console.log(status, (await fetch(\`\${server.urls.blob}/healthz\`)).status);
await server.stop().catch((error) => console.log("stop:", error.message));
console.log(lines.some((line) => line.startsWith("Lazuli serves no more")));
`;
  // The write-ahead log of a running server: call 40 comes long after the start.
  const failure = { FAIL_PATH: "failing/store/log", FAIL_AT: "40", FAIL_ERRNO: "5" };
  const mark = join(installed.folder, "failed");
  const printed = await run("fails.mjs", text, {
    LD_PRELOAD: library,
    ...failure,
    FAIL_MARK: mark,
  });
  assert.ok(existsSync(mark), "no call failed");
  assert.match(printed, /^500 503\nstop: .*\ntrue\n$/);
});

test("TypeScript programs get the types of options and results", () => {
  const program = (options: string) => `import { start, type RunningServer } from "lazuli";
const server: RunningServer = await start(${options});
const url: string | undefined = server.accounts["devstoreaccount1"]?.urls.blob;
console.log(url, server.connectionString.length);
await server[Symbol.asyncDispose]();
`;
  const check = (options: string) => {
    writeFileSync(join(installed.folder, "typed.mts"), program(options));
    const flags = ["--ignoreConfig", "--strict", "--noEmit", "--module", "nodenext"];
    const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
    const args = [tsc, ...flags, "--target", "es2023", "--types", "node", "typed.mts"];
    const done = spawnSync(process.execPath, args, { cwd: installed.folder, encoding: "utf8" });
    return done.stdout;
  };
  assert.equal(check('{ services: ["blob"], blobPort: 0, oauth: "basic" }'), "");
  assert.match(check('{ services: ["bolb"] }'), /Type '"bolb"' is not assignable/);
  assert.match(check("{ blobport: 0 }"), /'blobport' does not exist in type 'StartOptions'/);
});

/** Runs an example for node:test, and expects so many tests to pass. */
function passWithNode(example: string, count: number): void {
  const own = join(installed.folder, basename(example).replace(/\.js$/, ".mjs"));
  cpSync(join(ROOT, "dist/examples", example), own);
  const env = { ...process.env };
  // Set by the runner of this test, to which a runner inside of it would report.
  delete env.NODE_TEST_CONTEXT;
  const args = ["--test", "--test-reporter=tap", own];
  const printed = execFileSync(process.execPath, args, { env, encoding: "utf8" });
  assert.match(printed, new RegExp(`^# pass ${count}$`, "m"));
}

/** The same for vitest. */
function passWithVitest(example: string, count: number): void {
  const name = basename(example);
  cpSync(join(ROOT, "examples", example), join(installed.folder, name));
  vitest.linkInto(join(installed.folder, "node_modules"));
  const args = [join(vitest.modules, "vitest/vitest.mjs"), "run", name];
  const env = { ...process.env, NO_COLOR: "1" };
  const done = spawnSync(process.execPath, args, { cwd: installed.folder, env, encoding: "utf8" });
  assert.equal(done.status, 0, done.stdout + done.stderr);
  assert.match(done.stdout, new RegExp(`Tests\\s+${count} passed`));
}

test("the examples for node:test pass", () => {
  passWithNode("testing/node-test.test.js", 1);
  passWithNode("lab/lost-lease.test.js", 1);
});

test("the examples for vitest pass", { skip: vitest.reason ?? false }, () => {
  passWithVitest("testing/vitest.test.mjs", 1);
  passWithVitest("lab/lost-answer.test.mjs", 2);
});

test("TypeScript programs get the types of the lab", () => {
  const text = `import { Lab } from "lazuli/lab";
const lab = new Lab();
export const rule = lab.rule({ operation: "PutBlob", answer: 503, at: "commit" });
// @ts-expect-error There is no such point.
lab.rule({ drop: true, at: "later" });
`;
  writeFileSync(join(installed.folder, "typed-lab.mts"), text);
  const flags = ["--ignoreConfig", "--strict", "--noEmit", "--module", "nodenext"];
  const tsc = join(ROOT, "node_modules/typescript/bin/tsc");
  const args = [tsc, ...flags, "--target", "es2023", "--types", "node", "typed-lab.mts"];
  const done = spawnSync(process.execPath, args, { cwd: installed.folder, encoding: "utf8" });
  assert.equal(done.stdout, "");
});
