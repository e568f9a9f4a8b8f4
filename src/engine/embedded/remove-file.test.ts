import assert from "node:assert/strict";
import { type FileHandle, mkdtemp, open, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MIB } from "../../base/limits.ts";
import { removeFile } from "./remove-file.ts";

test("a large file is removed in steps, a small one at once", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-remove-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "file");
  for (const [size, steps] of [
    [0, []],
    [4 * MIB, []],
    [10 * MIB, [6 * MIB, 2 * MIB]],
  ] as const) {
    const file = await open(path, "w");
    await file.truncate(size);
    await file.close();
    const handles: FileHandle = Object.getPrototypeOf(file);
    const { mock } = t.mock.method(handles, "truncate");
    await removeFile(path);
    assert.deepEqual(
      mock.calls.map((call) => call.arguments[0]),
      steps,
    );
    mock.restore();
    assert.deepEqual(await readdir(folder), []);
  }
});
