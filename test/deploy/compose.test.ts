import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";

const DEPLOY = fileURLToPath(new URL("../../../deploy/", import.meta.url));

/** Docker's own command if it is there, otherwise Debian's, which needs no Docker. */
const hasPlugin = spawnSync("docker", ["compose", "version"]).status === 0;
const COMPOSE = hasPlugin ? ["docker", "compose"] : ["docker-compose"];
const skip = hasPlugin
  ? false
  : (skipWithoutDebianProgram("docker-compose", "docker-compose") ?? false);

/** Checks a file, and returns it with all variables replaced. */
function config(file: string, env: Readonly<Record<string, string>> = {}) {
  const [program = "", ...words] = COMPOSE;
  return spawnSync(program, [...words, "-f", join(DEPLOY, file), "config"], {
    encoding: "utf8",
    env: { PATH: process.env.PATH, HOME: "/", ...env },
  });
}

test("Lazuli alone: the file is valid, and asks for accounts", { skip }, () => {
  const { status, stdout, stderr } = config("compose.yaml", { LAZULI_ACCOUNTS: "shop:a2V5" });
  assert.equal(status, 0, stderr);
  assert.match(stdout, /AZURITE_ACCOUNTS: shop:a2V5/);
  const without = config("compose.yaml");
  assert.notEqual(without.status, 0);
  assert.match(without.stderr, /Set LAZULI_ACCOUNTS to name:key/);
});

test("in the place of Azurite: its service name and ports, and the key for this machine only", {
  skip,
}, () => {
  const { status, stdout, stderr } = config("azurite-replacement/compose.yaml");
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^ {2}azurite:$/m);
  assert.match(stdout, /LAZULI_TRUST_NETWORK: "true"/);
  for (const port of [10000, 10001, 10002]) {
    const isLocal = new RegExp(`127\\.0\\.0\\.1:${port}:${port}|host_ip: 127\\.0\\.0\\.1`);
    assert.match(stdout, isLocal);
  }
});
