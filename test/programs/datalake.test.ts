import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startDataLake } from "../sdk/datalake-server.ts";
import { skipWithoutDebianPackage } from "./debian-program.ts";
import { PYTHON } from "./python.ts";

/** Only ends a run that hangs: far more than it needs on a busy machine. */
const RUN_MS_MAX = 10 * 60_000;
const skip =
  skipWithoutDebianPackage(
    "the Python SDK of Data Lake",
    "python3-azure-storage",
    `${PYTHON} -c 'import azure.storage.filedatalake'`,
  ) ?? false;
const script = fileURLToPath(new URL("../../../test/programs/datalake.py", import.meta.url));

for (const kind of ["hierarchical", "flat"]) {
  test(`the Python SDK works in a ${kind} file system`, { skip }, async (t) => {
    const server = await startDataLake({ hierarchicalNamespace: kind === "hierarchical" });
    t.after(() => server.close());
    const args = [script, server.url, server.key, `python-${kind}`, kind];
    const { stdout } = await promisify(execFile)(PYTHON, args, { timeout: RUN_MS_MAX });
    assert.equal(stdout.trim(), "done");
    assert.deepEqual(server.failures, []);
  });
}
