import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { alignedBytes, PAGE_BYTES } from "../../machine/aligned-bytes.ts";
import { syncFlagOn } from "../../machine/direct-io.ts";
import { fileHandles } from "./file-handles.fixture.ts";
import { findWalFiles } from "./wal-file.ts";

for (const { platform, syncs } of [
  { platform: "linux", syncs: 0 },
  { platform: "darwin", syncs: 1 },
  { platform: "win32", syncs: 1 },
] as const) {
  const skip = syncs === 0 && process.platform !== platform ? "needs the flag of Linux" : false;
  test(`on ${platform} a write to the log takes ${syncs} syncs`, { skip }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "lazuli-wal-file-"));
    t.after(() => rm(folder, { recursive: true }));
    const [file, other] = await (await findWalFiles(folder, syncFlagOn(platform))).open();
    t.after(() => Promise.all([file.close(), other.close()]));
    const calls = t.mock.method(await fileHandles(), "datasync").mock;
    await file.write(alignedBytes(PAGE_BYTES).fill(1), 0);
    assert.equal(calls.callCount(), syncs);
  });
}
