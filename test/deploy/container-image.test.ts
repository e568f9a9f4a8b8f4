import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { BlobServiceClient } from "@azure/storage-blob";
import { ANY_PORTS, anyPorts } from "../../src/main/any-ports.fixture.ts";
import { SERVICES } from "../../src/main/flags.ts";
import { LazuliProcess } from "../command/process.ts";
import { NpmProgram } from "../programs/npm-program.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { lastStage } from "./dockerfile.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const DOCKERFILE = join(ROOT, "Dockerfile");
const linter = new NpmProgram("dockerfile-utils", "0.16.3");
const scratch = mkdtempSync(join(tmpdir(), "lazuli-image-"));
after(() => rmSync(scratch, { recursive: true }));

const instructions = lastStage(DOCKERFILE);

function textOf(name: string): string {
  const found = instructions.filter((instruction) => instruction.name === name);
  assert.equal(found.length, 1, name);
  return found[0]?.text ?? "";
}

/** The image's environment, with a folder of this test in place of /data. */
function environment(folder: string): Record<string, string> {
  const entries = textOf("ENV")
    .split(/\s+/)
    .map((pair) => pair.split("=") as [string, string]);
  const env = Object.fromEntries(entries);
  assert.equal(env.LAZULI_LOCATION, "/data");
  return { ...env, LAZULI_LOCATION: join(scratch, folder) };
}

/** Ports that are free, for the services of the commands that are started here. */
function started(
  t: TestContext,
  args: readonly string[],
  env: Record<string, string>,
  program = "lazuli",
) {
  const lazuli = new LazuliProcess(args, env, [], { program, cwd: scratch });
  t.after(() => lazuli.kill());
  return lazuli;
}

test("the Dockerfile has no mistakes that a linter finds", { skip: linter.reason ?? false }, () => {
  const script = join(linter.modules, "dockerfile-utils/bin/dockerfile-utils");
  const done = spawnSync(process.execPath, [script, "lint", DOCKERFILE], { encoding: "utf8" });
  assert.deepEqual([done.status, done.stdout], [0, ""], done.stderr);
});

test("the image has every command, port and the volume, a health check, and no root", () => {
  const { bin } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const links = /for name in (.+?);/.exec(textOf("RUN"))?.[1]?.split(" ");
  assert.deepEqual(links, Object.keys(bin));
  const ports = Object.values(SERVICES).map(({ port }) => port);
  assert.equal(textOf("EXPOSE"), ports.join(" "));
  assert.equal(textOf("VOLUME"), "/data");
  assert.equal(textOf("USER"), "node");
  assert.match(textOf("HEALTHCHECK"), / CMD \["lazuli", "health"\]$/);
  assert.equal(textOf("CMD"), '["lazuli"]');
  assert.equal(textOf("ENTRYPOINT"), "[]");
});

test("everything that the image does not need stays out of its build", () => {
  const ignored = readFileSync(join(ROOT, ".dockerignore"), "utf8").trim().split("\n");
  for (const name of ["node_modules", "dist", ".git", ".scratch", "lazuli-data"]) {
    assert.ok(ignored.includes(name), name);
  }
});

test("without a word about accounts the image refuses to start, and says what to add", async (t) => {
  const lazuli = started(t, ANY_PORTS, environment("none"));
  const { code, out, err } = await lazuli.ended();
  assert.deepEqual([code, out], [2, ""]);
  assert.equal(
    err,
    "Refusing to listen on 0.0.0.0 while an account has the well-known development key. " +
      "Set accounts of your own in AZURITE_ACCOUNTS or --config, " +
      "or add --trustNetwork (for a container: LAZULI_TRUST_NETWORK=true).\n",
  );
});

test("with accounts of its own the image serves others, and keeps its data in the volume", async (t) => {
  const key = Buffer.alloc(64, 7).toString("base64");
  const env = { ...environment("own"), AZURITE_ACCOUNTS: `shop:${key}` };
  const lazuli = started(t, ANY_PORTS, env);
  const port = await lazuli.printed(/^Blob service .*http:\/\/0\.0\.0\.0:(\d+)$/m);
  const url = `http://127.0.0.1:${port}/shop`;
  const connection = `DefaultEndpointsProtocol=http;AccountName=shop;AccountKey=${key};BlobEndpoint=${url}`;
  await BlobServiceClient.fromConnectionString(connection).createContainer("box");
  assert.ok(readdirSync(join(scratch, "own")).includes("lazuli.json"));
});

test("the command line of Testcontainers' Azurite module works with the switch, and prints what it waits for", async (t) => {
  const hosts = ["blob", "queue", "table"].flatMap((name) => [`--${name}Host`, "0.0.0.0"]);
  const args = [...hosts, ...anyPorts(["blob", "queue", "table"])];
  const env = { ...environment("testcontainers"), LAZULI_TRUST_NETWORK: "true" };
  const azurite = started(t, args, env, "azurite");
  for (const service of ["Queue", "Table"]) {
    await azurite.printed(new RegExp(`.*${service} service is successfully listening.*`));
  }
  const port = await azurite.printed(/.*Blob service is successfully listening.*:(\d+)/);
  const url = `http://127.0.0.1:${port}/${ACCOUNT}`;
  const connection = `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY};BlobEndpoint=${url}`;
  await BlobServiceClient.fromConnectionString(connection).createContainer("box");
});
