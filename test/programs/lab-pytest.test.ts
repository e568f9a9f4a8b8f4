import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { start } from "lazuli";
import { skipWithoutDebianPackage, skipWithoutDebianProgram } from "./debian-program.ts";
import { PYTHON } from "./python.ts";

const EXAMPLE = fileURLToPath(
  new URL("../../../examples/lab/test_poison_message.py", import.meta.url),
);
/** Only ends a run that hangs: far more than it needs on a busy machine. */
const PYTEST_MS_MAX = 10 * 60_000;
const skip =
  skipWithoutDebianPackage("pytest", "python3-pytest", `${PYTHON} -c "import pytest"`) ??
  skipWithoutDebianProgram("curl", "curl") ??
  false;

test("the example for pytest and curl passes", { skip }, async (t) => {
  const server = await start({ services: ["queue"], lab: true });
  t.after(() => server.stop());
  const env = {
    ...process.env,
    LAZULI_QUEUE: server.urls.queue ?? "",
    LAZULI_LAB: server.labUrl ?? "",
  };
  const flags = ["-B", "-m", "pytest", "-q", "-p", "no:cacheprovider"];
  const done = await promisify(execFile)(PYTHON, [...flags, EXAMPLE], {
    env,
    timeout: PYTEST_MS_MAX,
  });
  assert.match(done.stdout, /1 passed/);
});
