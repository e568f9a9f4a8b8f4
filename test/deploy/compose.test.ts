import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
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

test("a cluster: three front ends on one database and one bucket, and a balancer that knows each of them", {
  skip,
}, () => {
  const env = { LAZULI_ACCOUNTS: "shop:a2V5", POSTGRES_PASSWORD: "secret", S3_SECRET: "hidden" };
  const { status, stdout, stderr } = config("cluster/compose.yaml", env);
  assert.equal(status, 0, stderr);
  const balancer = readFileSync(join(DEPLOY, "cluster/haproxy.cfg"), "utf8");
  for (const name of ["front-end-1", "front-end-2", "front-end-3"]) {
    assert.match(stdout, new RegExp(`^ {2}${name}:$`, "m"));
    for (const port of [10000, 10001, 10002, 10003, 10004]) {
      assert.match(balancer, new RegExp(`server ${name} ${name}:${port}$`, "m"));
    }
  }
  assert.equal(stdout.match(/LAZULI_RECORDS: postgres:\/\/lazuli@records\/lazuli/g)?.length, 3);
  // Front ends and object store agree on the bucket, the address and the key.
  assert.equal(stdout.match(/LAZULI_BYTES: s3:\/\/lazuli\/cluster/g)?.length, 3);
  assert.equal(stdout.match(/AWS_ENDPOINT_URL_S3: http:\/\/objects:7070/g)?.length, 3);
  assert.equal(stdout.match(/\bAWS_SECRET_ACCESS_KEY: hidden/g)?.length, 3);
  assert.equal(stdout.match(/ROOT_SECRET_ACCESS_KEY: hidden/g)?.length, 1);
  assert.match(stdout, /^ {2}objects:$/m);
  assert.match(stdout, /(?:objects:|target: )\/data\/lazuli/);
  for (const missing of ["POSTGRES_PASSWORD", "S3_SECRET"]) {
    const without = config("cluster/compose.yaml", { ...env, [missing]: "" });
    assert.match(without.stderr, new RegExp(`Set ${missing}`));
  }
});

const noBalancer = skipWithoutDebianProgram("haproxy", "haproxy") ?? false;

test("the balancer of the cluster takes its configuration", { skip: noBalancer }, () => {
  const file = join(DEPLOY, "cluster/haproxy.cfg");
  const { status, stderr } = spawnSync("haproxy", ["-c", "-f", file], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
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
