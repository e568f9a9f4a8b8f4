import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { LazuliProcess } from "../command/process.ts";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";

const SHIPPED = fileURLToPath(new URL("../../../deploy/lazuli.logrotate", import.meta.url));
const skip = skipWithoutDebianProgram("logrotate", "logrotate") ?? false;
const scratch = mkdtempSync(join(tmpdir(), "lazuli-logrotate-"));
after(() => rmSync(scratch, { recursive: true }));

function logrotate(...args: string[]) {
  const state = ["--state", join(scratch, "state")];
  return spawnSync("logrotate", [...state, ...args], { encoding: "utf8" });
}

/** Saves a configuration with the mode that logrotate asks for. */
function saveConfig(text: string): string {
  const path = join(scratch, "lazuli");
  writeFileSync(path, text, { mode: 0o644 });
  return path;
}

test("logrotate finds no mistake in its configuration", { skip }, () => {
  const { status, stderr } = logrotate("--debug", saveConfig(readFileSync(SHIPPED, "utf8")));
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stderr, /error|unknown option/i);
  assert.match(stderr, /rotating pattern: \/var\/log\/lazuli\/\*\.log/);
});

test("a rotated log goes on in a new file after the signal", { skip }, async (t) => {
  const logs = mkdtempSync(join(scratch, "logs-"));
  const log = join(logs, "requests.log");
  const place = ["--location", join(scratch, "data"), "--log", log];
  const lazuli = new LazuliProcess([...place, "--services", "blob", "--blobPort", "0"]);
  t.after(() => lazuli.kill());
  const origin = new URL(await lazuli.urlOf("Blob")).origin;
  const reload = `kill -HUP ${lazuli.pid}`;
  const shipped = readFileSync(SHIPPED, "utf8");
  const config = shipped
    .replace("/var/log/lazuli", logs)
    .replace("systemctl reload lazuli.service", reload);
  assert.ok(config.includes(reload) && config.includes(`${logs}/*.log`));
  await fetch(`${origin}/healthz`);
  // Lines are gathered for a moment, and an empty log is not rotated.
  while (statSync(log).size === 0) await new Promise(setImmediate);
  const rotated = logrotate("--force", saveConfig(config));
  assert.equal(rotated.status, 0, rotated.stderr);
  await lazuli.printedError(/The configuration is reloaded/);
  await fetch(`${origin}/healthz`);
  lazuli.signal("SIGTERM");
  await lazuli.ended();
  const lines = readdirSync(logs).filter((name) => name.startsWith("requests.log"));
  assert.deepEqual(lines.sort(), ["requests.log", "requests.log.1"]);
  for (const name of lines) {
    assert.match(readFileSync(join(logs, name), "utf8"), /GET \/healthz/, name);
  }
});
