import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
// tidy-allow sleep: only asking tells when a balancer has found its servers
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import {
  PostgresServer,
  skipWithoutOwnPostgres,
} from "../../src/engine/postgres/postgres-server.fixture.ts";
import { freePorts } from "../command/free-ports.ts";
import { LazuliProcess } from "../command/process.ts";
import { blobsAt, queuesAt } from "../import/fill-account.ts";
import { withServer } from "../import/served.ts";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";

const PAGE = "docs/guides/cluster.md";
const MODULES = fileURLToPath(new URL("../../../node_modules", import.meta.url));
const ADDRESS = "postgres://lazuli:secret@127.0.0.1/lazuli";
const ASK_AGAIN_MS = 100;
const skip = skipWithoutOwnPostgres() ?? skipWithoutDebianProgram("haproxy", "haproxy") ?? false;

/** The text of the block that begins so. */
function block(opening: string, beginning: string): string {
  const page = readFileSync(PAGE, "utf8");
  const all = [...page.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)];
  const found = all.find(
    ([, said = "", text = ""]) => said.startsWith(opening) && text.startsWith(beginning),
  );
  assert.ok(found, `${PAGE} has no ${opening} that begins with ${beginning}`);
  return found[2] ?? "";
}

test("the guide's commands make a cluster of three on one machine", { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-guide-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const server = await PostgresServer.start();
  t.after(() => server.remove());

  const made = spawnSync("psql", ["-qv", "ON_ERROR_STOP=1", server.libpqUrl()], {
    input: block("sql", "create user"),
    encoding: "utf8",
  });
  assert.equal(made.status, 0, made.stderr);

  // Only addresses differ from the page.
  const documented = ["10000", "10001", "11000", "11001", "12000", "12001", "9000"];
  const free = await freePorts(documented.length);
  const actual = (text: string) =>
    documented.reduce((changed, port, at) => changed.replaceAll(port, `${free[at]}`), text);

  const start = actual(block("sh", "export LAZULI_RECORDS"));
  const [first = "", ...lines] = start.trim().split("\n");
  assert.ok(first.includes(`LAZULI_RECORDS=${ADDRESS} LAZULI_BYTES=bytes`), first);
  const records = `postgres://lazuli:secret@/lazuli?host=${server.socketFolder}`;
  const env = { LAZULI_RECORDS: records, LAZULI_BYTES: "bytes" };
  const frontEnds = lines.map((line) => {
    const [program, ...args] = line.replace(/ &$/, "").split(" ");
    assert.equal(program, "lazuli");
    const started = new LazuliProcess(args, env, [], { cwd: folder });
    t.after(() => started.kill());
    return started;
  });
  assert.equal(frontEnds.length, 3);
  await Promise.all(frontEnds.map((one) => one.urlOf("Queue")));

  const commands = commandsIn(folder);
  await requireMoves(
    folder,
    commands,
    actual(block("sh", "KEY=")),
    block("sh", "lazuli export back"),
  );

  symlinkSync(MODULES, join(folder, "node_modules"));
  const program = join(folder, "program.mjs");
  const text = actual(block("js", "import"));
  writeFileSync(program, text);
  await succeeds(process.execPath, [program], folder);

  const there = (said: string) =>
    said.replaceAll(`${ADDRESS}?`, `${records}&`).replaceAll(ADDRESS, `'${records}'`);
  const backup = there(block("sh", `${first}\nlazuli backup`));
  const restore = there(block("sh", "lazuli restore"));
  const verify = restore.replace("restore backups", "verify");
  await succeeds("sh", ["-c", `set -e\n${commands}${backup}${restore}${verify}`], folder);

  writeFileSync(join(folder, "haproxy.cfg"), actual(block("text haproxy.cfg", "defaults")));
  const [command = "", ...args] = block("sh", "haproxy").trim().split(" ");
  const balancer = spawn(command, args, { cwd: folder, stdio: "ignore" });
  t.after(() => ended(balancer));
  const health = `http://127.0.0.1:${free.at(-1)}/healthz`;
  while (!(await fetch(health).catch(() => null))?.ok) await wait(ASK_AGAIN_MS);
  const through = text.replace(/\[\d+, \d+, \d+\]/, `[${Array(3).fill(free.at(-1)).join()}]`);
  writeFileSync(program, through);
  await succeeds(process.execPath, [program], folder);
});

/** What a data folder had is the same after the way into the cluster, and back. */
async function requireMoves(
  folder: string,
  commands: string,
  there: string,
  back: string,
): Promise<void> {
  const expected = await withServer(join(folder, "data"), async ({ blob, queue }) => {
    const container = blobsAt(blob).getContainerClient("moved");
    await container.create({ metadata: { made: "before" } });
    const doc = container.getBlockBlobClient("doc");
    await doc.upload("first", 5, { tags: { a: "b" } });
    await doc.createSnapshot();
    await doc.upload("second", 6);
    await container.getBlockBlobClient("large").uploadData(Buffer.alloc(100_000, 7));
    const jobs = queuesAt(queue).getQueueClient("jobs");
    await jobs.create();
    await jobs.sendMessage("hidden");
    await jobs.receiveMessages({ visibilityTimeout: 86_400 });
    await jobs.sendMessage("visible");
    return describeMoved(blob, queue);
  });
  await succeeds("sh", ["-c", `set -e\n${commands}${there}\n${back}`], folder);
  const found = await withServer(join(folder, "copy"), ({ blob, queue }) =>
    describeMoved(blob, queue),
  );
  assert.deepEqual(found, expected);
}

/** A line for a shell that makes `lazuli` a command. */
function commandsIn(folder: string): string {
  const commands = join(folder, "commands");
  mkdirSync(commands);
  const script = fileURLToPath(new URL("../../../bin/lazuli.cjs", import.meta.url));
  const shim = `#!/bin/sh\nexec "${process.execPath}" "${script}" "$@"\n`;
  writeFileSync(join(commands, "lazuli"), shim, { mode: 0o755 });
  return `PATH="${commands}:$PATH"\n`;
}

/** With ids, ETags and times. */
async function describeMoved(blob: string, queue: string): Promise<unknown> {
  const container = blobsAt(blob).getContainerClient("moved");
  const blobs: unknown[] = [];
  const all = { includeSnapshots: true, includeMetadata: true, includeTags: true };
  for await (const one of container.listBlobsFlat(all)) blobs.push(one);
  const jobs = queuesAt(queue).getQueueClient("jobs");
  const { approximateMessagesCount } = await jobs.getProperties();
  const { peekedMessageItems } = await jobs.peekMessages({ numberOfMessages: 32 });
  const large = await container.getBlobClient("large").downloadToBuffer();
  const sum = large.reduce((sofar, byte) => sofar + byte, 0);
  return JSON.parse(JSON.stringify({ blobs, sum, approximateMessagesCount, peekedMessageItems }));
}

async function succeeds(program: string, args: readonly string[], cwd: string): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: ["ignore", "ignore", "pipe"] });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (part: string) => {
    said += part;
  });
  const [code] = await once(child, "close");
  assert.equal(code, 0, said);
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const exit = once(child, "exit");
  child.kill("SIGKILL");
  await exit;
}
