import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { AccountSASPermissions, generateAccountSASQueryParameters } from "@azure/storage-blob";
import { type BlobSettings, DEFAULT_BLOB_SETTINGS } from "../../src/service/blob/context.ts";
import { CREDENTIAL, startServer } from "../sdk/server.ts";
import { skipWithoutDebianProgram } from "./debian-program.ts";

/** Only ends a run that hangs: far more than it needs on a busy machine. */
const RCLONE_MS_MAX = 10 * 60_000;
const skip = skipWithoutDebianProgram("rclone", "rclone") ?? false;

// Debian's rclone knows the Blob protocol alone: a container with directories has to look like any other.
for (const hierarchicalNamespace of [false, true]) {
  const kind = hierarchicalNamespace ? "with directories" : "without directories";
  test(`rclone uploads a folder, verifies it and removes it (${kind})`, { skip }, (t) =>
    roundTrip(t, { ...DEFAULT_BLOB_SETTINGS, hierarchicalNamespace }),
  );
}

async function roundTrip(t: TestContext, blob: BlobSettings): Promise<void> {
  const server = await startServer({ blob });
  t.after(() => server.close());
  const folder = await mkdtemp(join(tmpdir(), "lazuli-rclone-"));
  t.after(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, "sub"));
  await writeFile(join(folder, "sub", "ü name.txt"), "hello");
  await writeFile(join(folder, "large"), Buffer.alloc(9_000_000, "lazuli"));

  const rclone = async (...args: string[]): Promise<string> => {
    const { stdout } = await promisify(execFile)(
      "rclone",
      ["--config", "", "--retries", "1", "--low-level-retries", "1", ...args],
      { env: { ...process.env, ...remote(server.url) }, timeout: RCLONE_MS_MAX },
    );
    return stdout;
  };
  await rclone("mkdir", "here:box");
  // In chunks, so that it is uploaded as blocks and a block list.
  await rclone("copy", folder, "here:box", "--azureblob-upload-cutoff", "4M");
  await rclone("check", folder, "here:box");
  const listed = (await rclone("lsf", "-R", "here:box")).trim().split("\n").sort();
  assert.deepEqual(listed, ["large", "sub/", "sub/ü name.txt"]);
  assert.equal(await rclone("cat", "here:box/sub/ü name.txt"), "hello");
  await rclone("purge", "here:box");
  assert.equal(await rclone("lsf", "here:"), "");
  assert.deepEqual(server.failures, []);
}

/** Defines a remote called `here` in the environment of rclone. */
function remote(url: string): Record<string, string> {
  const sas = generateAccountSASQueryParameters(
    {
      expiresOn: new Date(Date.now() + 3_600_000),
      permissions: AccountSASPermissions.parse("rwdlac"),
      resourceTypes: "sco",
      services: "b",
    },
    CREDENTIAL,
  );
  return { RCLONE_CONFIG_HERE_TYPE: "azureblob", RCLONE_CONFIG_HERE_SAS_URL: `${url}?${sas}` };
}
