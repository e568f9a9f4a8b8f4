import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { checkFileList, newFileWriter, shareAt } from "./file-load.ts";
import { startWholeProcess, type WholeServerProcess } from "./server-process.ts";
import { sweepFolder } from "./space.ts";
import { writeUntilKilled } from "./write-until-killed.ts";

const ROUNDS = 8;
const WRITERS = 8;

test(`${ROUNDS} kills lose no acknowledged write to a file, and leave nothing behind`, async (t) => {
  const location = await mkdtemp(join(tmpdir(), "lazuli-file-kill-"));
  t.after(() => rm(location, { recursive: true, force: true }));
  const writers = Array.from({ length: WRITERS }, (_, at) => newFileWriter(`writer-${at}`));
  const check = async (server: WholeServerProcess) => {
    await Promise.all(writers.map((writer) => writer.check(server)));
    await checkFileList(shareAt(server, "kills"), writers);
  };
  let acknowledged = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startWholeProcess(location);
    const share = shareAt(server, "kills");
    await share.createIfNotExists();
    await check(server);
    if (round % 3 === 1) await share.createSnapshot();
    const writes = writers.map(
      (writer) => (acknowledge: () => void) => writer.write(server, acknowledge),
    );
    acknowledged += await writeUntilKilled(server, writes);
  }
  t.diagnostic(`${acknowledged} acknowledged writes survived ${ROUNDS} kills`);
  const server = await startWholeProcess(location);
  await check(server);
  await shareAt(server, "kills").delete({ deleteSnapshots: "include" });
  assert.equal(await server.stop(), 0);
  const { extentBytes, contentRecords } = await sweepFolder(location);
  assert.deepEqual({ extentBytes, contentRecords }, { extentBytes: 0, contentRecords: 0 });
});
