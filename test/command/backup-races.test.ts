import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import {
  backUp,
  box,
  filesIn,
  NO_PIPES,
  PausedFile,
  places,
  putAll,
  requireEqual,
} from "./backups.ts";
import { FolderServer, lazuli } from "./folder-server.ts";

test("a second restore to a folder is refused while the first one runs", {
  skip: NO_PIPES,
}, async (t) => {
  const all = places(t);
  const server = new FolderServer(t, all.location);
  const stored = await putAll(await box(server), "a");
  await backUp(all);
  const [records = ""] = filesIn(join(all.place, "records"));
  const paused = new PausedFile(records);
  const args = ["restore", all.place, "--location", all.restored];
  const first = lazuli(...args);
  await paused.isAwaited();
  const second = await lazuli(...args);
  assert.equal(second.code, 1, second.err);
  assert.match(second.err, /Another restore to .* is under way: wait until it has ended/);
  await paused.feed();
  const { code, err } = await first;
  assert.equal(code, 0, err);
  await requireEqual(await box(new FolderServer(t, all.restored)), stored);
});
