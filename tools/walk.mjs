// `node tools/walk.mjs put-blob` lists the files and functions that one request passes, by layer:
// the figures of "A reader's way" in docs/ARCHITECTURE.md. `node tools/walk.mjs` lists the walks.
import { mkdtempSync, rmSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import prepare from "./prepare.cjs";

const { build, install, root } = prepare;

/** Each walk: requests that prepare it, and the request that is watched. */
const BLOB = { method: "PUT", path: "/walk/blob", headers: { "x-ms-blob-type": "BlockBlob" } };
const LOG = { ...BLOB, path: "/walk/log", headers: { "x-ms-blob-type": "AppendBlob" } };
const WALKS = {
  "put-blob": { before: [], watched: { ...BLOB, body: Buffer.alloc(4096, 1) } },
  "put-large-blob": { before: [], watched: { ...BLOB, body: Buffer.alloc(8 * 1024 * 1024, 1) } },
  "get-blob": {
    before: [{ ...BLOB, body: Buffer.alloc(4096, 1) }],
    watched: { method: "GET", path: "/walk/blob" },
  },
  "append-block": {
    before: [LOG],
    watched: {
      method: "PUT",
      path: "/walk/log",
      query: { comp: "appendblock" },
      body: Buffer.alloc(4096, 1),
    },
  },
};
/** Repeated before it is watched, so that what happens only once is not counted. */
const WARM_UPS = 3;

process.chdir(root);
const walk = WALKS[process.argv[2]];
if (walk === undefined) {
  console.log(`node tools/walk.mjs WALK\n\n  ${Object.keys(WALKS).join("\n  ")}`);
  process.exitCode = process.argv[2] === undefined ? 0 : 1;
} else if (install() && build()) {
  await run(walk);
} else {
  process.exitCode = 1;
}

async function run({ before, watched }) {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-walk-"));
  const server = await start(folder);
  const port = Number(new URL(server.origins.get("blob")).port);
  const { signed } = await import("../dist/bench/shared-key.js");
  const socket = connect(port, "127.0.0.1");
  const ask = async (request) => {
    const answered = new Promise((resolve, reject) => {
      socket.once("data", (chunk) => resolve(String(chunk))).once("error", reject);
    });
    socket.write(signed(port, request));
    const status = /^HTTP\/1\.1 (\d+)/.exec(await answered)?.[1];
    if (!/^2/.test(status)) throw new Error(`${request.method} ${request.path}: ${status}`);
  };
  const container = { method: "PUT", path: "/walk", query: { restype: "container" } };
  for (const request of [container, ...before]) await ask(request);
  for (let round = 0; round < WARM_UPS; round++) await ask(watched);
  print(await callsDuring(() => ask(watched)));
  socket.destroy();
  await server.stop();
  rmSync(folder, { recursive: true });
}

async function start(folder) {
  const { systemClock } = await import("../dist/src/base/clock.js");
  const { readCommandLine } = await import("../dist/src/main/command-line.js");
  const { readSettings } = await import("../dist/src/main/settings.js");
  const { serve } = await import("../dist/src/main/serve.js");
  const { SERVICE_NAMES } = await import("../dist/src/main/flags.js");
  const ports = SERVICE_NAMES.flatMap((name) => [`--${name}Port`, "0"]);
  const flags = [...ports, "--location", folder];
  const around = {
    clock: systemClock,
    software: "Lazuli",
    schedule: () => ({ cancel() {} }),
    out() {},
    err: console.error,
    failStop(error) {
      throw error;
    },
  };
  return serve(readSettings(readCommandLine(flags, {}).options), around);
}

/** The functions of src that run meanwhile: by file, the number of calls of each. */
async function callsDuring(body) {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  await body();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  const files = new Map();
  for (const { url, functions } of result) {
    const path = /\/dist\/(src\/.*)\.js$/.exec(url)?.[1];
    if (path === undefined) continue;
    const called = functions.filter(
      ({ functionName, ranges }) => functionName !== "" && ranges[0].count > 0,
    );
    const calls = called.map(({ functionName, ranges }) => [functionName, ranges[0].count]);
    if (calls.length > 0) files.set(`${path}.ts`, calls);
  }
  return files;
}

function print(files) {
  const layers = new Map();
  for (const [path, calls] of files) {
    const layer = path.split("/")[1];
    layers.set(layer, [...(layers.get(layer) ?? []), [path, calls]]);
  }
  let functions = 0;
  for (const [layer, of] of layers) {
    console.log(`\n${layer}: ${of.length} files`);
    for (const [path, calls] of of.sort()) {
      functions += calls.length;
      const shown = calls.map(([name, count]) => (count === 1 ? name : `${name} ×${count}`));
      console.log(`  ${path}: ${shown.join(", ")}`);
    }
  }
  console.log(`\n${files.size} files, ${functions} functions`);
}
