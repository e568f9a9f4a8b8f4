import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { BlobServiceClient } from "@azure/storage-blob";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { LazuliProcess } from "../command/process.ts";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";
import { CREDENTIAL } from "../sdk/server.ts";

const UNIT = fileURLToPath(new URL("../../../deploy/lazuli.service", import.meta.url));
const GUIDE = fileURLToPath(new URL("../../../docs/guides/operating.md", import.meta.url));
const noSystemd =
  process.platform === "linux"
    ? (skipWithoutDebianProgram("systemd-analyze", "systemd") ?? false)
    : "systemd is part of Linux";
const noStrace = noSystemd || (skipWithoutDebianProgram("strace", "strace") ?? false);
const scratch = mkdtempSync(join(tmpdir(), "lazuli-unit-"));
after(() => rmSync(scratch, { recursive: true }));

/** Calls that the unit refuses, and that Node does without. */
const DISPENSABLE = new Set(["pkey_alloc"]);
const LARGE_BYTES = 9_000_000;

test("systemd finds no mistake in the unit", { skip: noSystemd }, () => {
  const { status, stdout, stderr } = spawnSync("systemd-analyze", ["verify", UNIT], {
    encoding: "utf8",
  });
  assert.deepEqual([status, stdout, stderr], [0, "", ""]);
});

test("the unit exposes as little as the guide says", { skip: noSystemd }, () => {
  const args = ["security", "--offline=true", "--no-pager", UNIT];
  const printed = spawnSync("systemd-analyze", args, { encoding: "utf8" }).stdout;
  const level = /Overall exposure level for lazuli\.service: ([\d.]+)/.exec(printed)?.[1] ?? "";
  const promised = /exposure level of (\d\.\d)/.exec(readFileSync(GUIDE, "utf8"))?.[1] ?? "";
  assert.notEqual(promised, "");
  assert.ok(Number(level) > 0 && Number(level) <= Number(promised), `${level}, not ${promised}`);
});

test("the unit permits every system call of a server at work", { skip: noStrace }, async (t) => {
  const trace = join(scratch, "calls");
  const args = ["--location", join(scratch, "data"), ...ANY_PORTS];
  const lazuli = new LazuliProcess(args, {}, ["strace", "-f", "-qq", "-o", trace], {
    hasChannel: true,
  });
  t.after(() => lazuli.kill());
  const url = await lazuli.urlOf("Blob").catch(() => null);
  if (url === null) return t.skip("strace may not trace processes here");
  const container = new BlobServiceClient(url, CREDENTIAL).getContainerClient("box");
  await container.create();
  for (const bytes of [1, LARGE_BYTES]) {
    const blob = container.getBlockBlobClient(`${bytes}`);
    await blob.upload(Buffer.alloc(bytes), bytes);
    await blob.downloadToBuffer();
    await blob.delete();
  }
  // A signal would reach strace only.
  lazuli.send("shutdown");
  await lazuli.ended();
  const calls = new Set(
    [...readFileSync(trace, "utf8").matchAll(/^\d+ +(\w+)\(/gm)].map(([, name = ""]) => name),
  );
  assert.ok(calls.has("fdatasync") && calls.has("accept4"), "the server was traced");
  const permitted = permittedCalls();
  const refused = [...calls].filter((call) => !permitted.has(call) && !DISPENSABLE.has(call));
  assert.deepEqual(refused, []);
});

/** The system calls that remain after all `SystemCallFilter` lines of the unit. */
function permittedCalls(): Set<string> {
  const permitted = callsOf("@default");
  const lines = readFileSync(UNIT, "utf8").matchAll(/^SystemCallFilter=(~?)(.+)$/gm);
  for (const [, not, names = ""] of lines) {
    for (const call of names.split(" ").flatMap((name) => [...callsOf(name)])) {
      if (not === "~") permitted.delete(call);
      else permitted.add(call);
    }
  }
  return permitted;
}

function callsOf(name: string): Set<string> {
  if (!name.startsWith("@")) return new Set([name]);
  const args = ["--no-pager", "syscall-filter", name];
  const lines = execFileSync("systemd-analyze", args, { encoding: "utf8" }).split("\n");
  const members = lines
    .map((line) => line.trim())
    .filter((line) => /^@?[a-z]\w*(-\w+)*$/.test(line));
  return new Set(members.filter((member) => member !== name).flatMap((one) => [...callsOf(one)]));
}
