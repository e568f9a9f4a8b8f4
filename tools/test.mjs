// `npm test`: installs and builds what is missing, then runs every check.
// `npm test -- lint tidy` runs these parts only; `npm test -- put-blob` the test files so named.
// `npm test -- --node 22` runs everything, or what is named behind it, on that version of Node.
// `npm test -- cluster` runs all tests of services and clients on front ends over PostgreSQL, with bytes in a folder and in a bucket.
// Those in test/long run only if they are named: they need a machine of their own, or much time.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { findNode, NODE_VERSIONS, ownMajor, withNode } from "./node-versions.mjs";
import prepare from "./prepare.cjs";

const { build, filesUnder, install, root } = prepare;

/** The client tests that run on the listener of `node:http`, too: each way to send and get bytes. */
const LISTENER_TESTS = [
  ...["abandoned-uploads", "addresses", "append-blobs", "blob-batch", "blob-conditions", "blobs"],
  ...["block-blobs", "copy-from-url", "files", "list-blobs", "page-blobs", "queue-messages"],
  ...["sas-effects", "service", "special-names", "table-batches", "table-entities"],
].map((name) => `dist/test/sdk/${name}.test.js`);

/** What differs most between versions of Node: sockets, files, threads, WebAssembly, processes. */
const NODE_TESTS = [
  ...["dist/src/front/rest/http/", "dist/src/machine/", "dist/src/engine/sum-thread"],
  ...["direct-io", "extent-reading", "extents", "store", "wal"].map(
    (name) => `dist/src/engine/embedded/${name}.test.js`,
  ),
  ...["blobs", "block-blobs", "files", "page-blobs", "queue-messages", "table-batches"].map(
    (name) => `dist/test/sdk/${name}.test.js`,
  ),
  ...["connection", "files", "large-writes", "log-on"].map(
    (name) => `dist/test/smb/${name}.test.js`,
  ),
  ...["lazuli", "packed-package"].map((name) => `dist/test/command/${name}.test.js`),
  "dist/test/import/zstd.test.js",
];

/** The client tests that run on three front ends over PostgreSQL whenever all tests run: those of concurrency. */
const FRONT_END_TESTS = [
  ...["blob-leases", "block-blobs", "copy-blob", "datalake-paths", "file-leases", "files"].map(
    (name) => `sdk/${name}`,
  ),
  ...["queue-consumers", "table-batches", "table-concurrency"].map((name) => `sdk/${name}`),
  ...["sim/tree-history", "smb/caches", "smb/interplay"],
].map((name) => `dist/test/${name}.test.js`);

/** Tests that wait for minutes and compute little. They run beside the others, one by one. */
const WAITING_TESTS = ["cluster/killed-front-end", "smb/torture"].map(
  (name) => `dist/test/${name}.test.js`,
);

/** All tests that open data on the engine that is asked for: of services, and of clients. */
const CLUSTER_TESTS = [
  ...["dist/src/service/", "dist/test/sdk/", "dist/test/raw/", "dist/test/legacy/"],
  ...["dist/test/sim/", "dist/test/smb/", "dist/test/examples/"],
  ...["azure-cli", "datalake", "rclone"].map((name) => `dist/test/programs/${name}.test.js`),
];

/** Tests in these folders that open no data, or are about a process that has its own. */
const OWN_DATA_TESTS = [
  ...["error-messages", "errors"].map((name) => `raw/${name}`),
  ...["blob-revisions", "blob-self-test", "entity-self-test", "lease-model", "queue-self-test"].map(
    (name) => `sim/${name}`,
  ),
  ...["beyond-loopback", "torture"].map((name) => `smb/${name}`),
].map((name) => `dist/test/${name}.test.js`);

/** Where all of them run: how many front ends, and where their bytes are. */
const CLUSTERS = [
  { LAZULI_TEST_FRONT_ENDS: "1", LAZULI_TEST_BYTES: "folder" },
  { LAZULI_TEST_FRONT_ENDS: "1", LAZULI_TEST_BYTES: "s3" },
  { LAZULI_TEST_FRONT_ENDS: "3", LAZULI_TEST_BYTES: "folder" },
  { LAZULI_TEST_FRONT_ENDS: "3", LAZULI_TEST_BYTES: "s3" },
];

/** Far more than any file needs: it ends a run that hangs. */
const FILE_MS_MAX = 60 * 60_000;

const CHECKS = {
  types: () => build(),
  lint: () => run("node_modules/@biomejs/biome/bin/biome", "check", "--error-on-warnings"),
  tidy: () => run("dist/tools/tidy/tidy.js"),
  unused: () => run("node_modules/knip/bin/knip.js"),
  unit: () => runTests(testFiles("dist/src", "dist/tools", "dist/bench")),
  clients: () => runClients(),
  listeners: () => runTests(listenerTests(), { LAZULI_TEST_LISTENER: "node" }),
  "front-ends": () =>
    runOnCluster(FRONT_END_TESTS, { LAZULI_TEST_FRONT_ENDS: "3", LAZULI_TEST_BYTES: "folder" }),
  nodes: () => allPass(Object.keys(NODE_VERSIONS), runOnNode),
};

/** Parts that take too long to run unless they are named. */
const LONG_CHECKS = {
  cluster: () => allPass(CLUSTERS, (where) => runOnCluster(clusterTests(), where)),
};

process.chdir(root);
process.exitCode = (await runAll(process.argv.slice(2))) ? 0 : 1;

async function runAll([first, major, ...rest]) {
  if (first === "--node") return runAllOn(major, rest);
  return install() && (await runChecks(process.argv.slice(2)));
}

/** Runs this program on another version of Node. */
function runAllOn(major, asked) {
  if (!(major in NODE_VERSIONS)) {
    console.error(`--node wants one of ${Object.keys(NODE_VERSIONS).join(", ")}.`);
    return false;
  }
  const node = findNode(major);
  if (node === null) {
    console.error(`${unavailable(major)} Install it, and run its \`node tools/test.mjs\`.`);
    return false;
  }
  const env = withNode(node, process.env);
  const done = spawnSync(node, [fileURLToPath(import.meta.url), ...asked], {
    env,
    stdio: "inherit",
  });
  return done.status === 0;
}

/** Runs the tests that depend on Node most; true if this version cannot be had. */
async function runOnNode(major) {
  if (major === ownMajor) return true;
  const node = findNode(major);
  if (node === null) {
    console.log(`skipped: ${unavailable(major)}`);
    return true;
  }
  console.log(`-- Node ${NODE_VERSIONS[major]}`);
  const files = testFiles("dist/src", "dist/test").filter((file) =>
    NODE_TESTS.some((start) => file.startsWith(start)),
  );
  return await runTests(files, withNode(node, process.env), node);
}

function unavailable(major) {
  return `Node ${NODE_VERSIONS[major]} for this system could not be fetched from npm's registry.`;
}

async function runChecks(asked) {
  const all = { ...CHECKS, ...LONG_CHECKS };
  const parts = asked.filter((word) => word in all);
  const patterns = asked.filter((word) => !(word in all));
  const started = performance.now();
  const results = [];
  const note = async (name, check) => results.push([name, await timed(name, check)]);
  for (const [name, check] of Object.entries(all)) {
    const isDefault = asked.length === 0 && name in CHECKS;
    // Everything else runs on what the first part compiles.
    if (name === "types" || isDefault || parts.includes(name)) await note(name, check);
  }
  for (const pattern of patterns) await note(pattern, () => runTests(matching(pattern)));
  const failed = results.filter(([, passed]) => !passed).map(([name]) => name);
  const summary = failed.length === 0 ? "All checks passed" : `Failed: ${failed.join(", ")}`;
  console.log(`\n${summary} (${secondsSince(started)}).`);
  return failed.length === 0;
}

async function timed(name, check) {
  const started = performance.now();
  console.log(`\n== ${name}`);
  const passed = await check();
  console.log(`== ${name}: ${passed ? "passed" : "FAILED"} (${secondsSince(started)})`);
  return passed;
}

/** Whether all of them pass. Each is tried, one after another. */
async function allPass(all, passes) {
  let passed = true;
  for (const each of all) passed = (await passes(each)) && passed;
  return passed;
}

function secondsSince(started) {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}

function testFiles(...folders) {
  return folders.flatMap(filesUnder).filter((file) => file.endsWith(".test.js"));
}

function isLong(file) {
  return file.includes("test/long/");
}

function matching(pattern) {
  return testFiles("dist/src", "dist/tools", "dist/bench", "dist/test").filter((file) =>
    file.includes(pattern),
  );
}

function listenerTests() {
  return [...testFiles("dist/test/raw"), ...LISTENER_TESTS];
}

function clusterTests() {
  return testFiles("dist/src", "dist/test").filter(
    (file) =>
      CLUSTER_TESTS.some((start) => file.startsWith(start)) && !OWN_DATA_TESTS.includes(file),
  );
}

/** Runs tests on front ends over PostgreSQL, with one server for all of them. */
function runOnCluster(files, where) {
  const { LAZULI_TEST_FRONT_ENDS: count, LAZULI_TEST_BYTES: bytes } = where;
  console.log(`-- front ends: ${count}, records: PostgreSQL, bytes: ${bytes}`);
  const env = { ...where, LAZULI_TEST_ENGINE: "postgres" };
  return runTests(files, env, process.execPath, ["dist/test/cluster/with-servers.js"]);
}

async function runClients() {
  const files = testFiles("dist/test").filter((file) => !isLong(file));
  const waiting = files.filter((file) => WAITING_TESTS.includes(file));
  const beside = startTests(waiting, { concurrency: 1, stdout: "pipe" });
  let printed = "";
  beside.stdout.setEncoding("utf8").on("data", (text) => {
    printed += text;
  });
  const ended = once(beside, "close");
  const passed = await runTests(files.filter((file) => !waiting.includes(file)));
  const [status] = await ended;
  console.log(`-- beside them: ${waiting.length} files\n${printed.trimEnd()}`);
  return passed && status === 0;
}

async function runTests(files, env = {}, node = process.execPath, around = []) {
  if (files.length === 0) {
    console.error("No test file is named so.");
    return false;
  }
  const [status] = await once(startTests(files, { env, node, around }), "close");
  return status === 0;
}

/** Runs test files in a process of their own, some of them at once. */
function startTests(
  files,
  {
    env = {},
    node = process.execPath,
    around = [],
    concurrency = availableParallelism(),
    stdout = "inherit",
  },
) {
  const reporter = fileURLToPath(new URL("./report.mjs", import.meta.url));
  const args = [
    ...(around.length === 0 ? [] : [...around, node]),
    "--enable-source-maps",
    "--test",
    `--test-concurrency=${concurrency}`,
    `--test-timeout=${FILE_MS_MAX}`,
    `--test-reporter=${reporter}`,
    "--test-reporter-destination=stdout",
    ...files,
  ];
  return spawn(node, args, {
    stdio: ["ignore", stdout, "inherit"],
    env: { ...process.env, ...env },
  });
}

function run(...args) {
  return spawnSync(process.execPath, args, { stdio: ["ignore", 1, 2] }).status === 0;
}
