import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { skipWithoutImpacket } from "../programs/impacket.ts";
import { type ExampleServer, startExampleServer } from "./example-server.ts";

/** Far more than it needs on a busy machine: it ends one that hangs. */
const EXAMPLE_MS_MAX = 10 * 60_000;

let server: ExampleServer;

before(async () => {
  server = await startExampleServer();
});

after(() => server.close());

/** Runs an example as a reader would, and returns what it prints. */
async function run(example: string): Promise<string[]> {
  const path = fileURLToPath(new URL(`../../examples/${example}.js`, import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [path, server.connection, server.smb],
    {
      timeout: EXAMPLE_MS_MAX,
    },
  );
  return stdout.trimEnd().split("\n");
}

test("the sample program meets each conflict with the documented refusal", async () => {
  assert.deepEqual(await run("concurrency"), [
    "Blob, optimistic: an update with the ETag that was read",
    "  update with the old ETag: 412 ConditionNotMet",
    "  update with the new ETag: done",
    "Blob, pessimistic: a lease of 15 s",
    "  update with the lease: done",
    "  update without the lease: 412 LeaseIdMissing",
    "  a second lease: 409 LeaseAlreadyPresent",
    "  read without the lease: held",
    "Table: an entity's ETag, and * for the last writer wins",
    "  replace with the old ETag: 412 UpdateConditionNotSatisfied",
    "  replace with *: done, the name is Edsger",
    "Queue: a message belongs to who holds its latest pop receipt",
    "  others see 0 messages meanwhile",
    "  delete with the old receipt: 400 PopReceiptMismatch",
    "  delete with the new receipt: done",
  ]);
});

test("what is open over SMB is refused to REST with the documented codes", {
  skip: skipWithoutImpacket,
}, async () => {
  assert.deepEqual(await run("file-locks"), [
    "File, pessimistic: opened over SMB for one alone",
    "  write over REST: 409 SharingViolation",
    "  read over REST: 409 SharingViolation",
    "  write after it is closed: done",
    "File, delete pending: deleted over SMB, and still open elsewhere",
    "  write over REST: 409 SMBDeletePending",
    "  read over REST: 409 SMBDeletePending",
    "  write after the last handle is closed: 404 ResourceNotFound",
  ]);
});

test("a leased blob guards a table, and no addition is lost", async () => {
  assert.deepEqual(await run("table-lock"), ["3 workers added 10 each: 30"]);
});

test("a worker that does the same work twice leaves one result", async () => {
  assert.deepEqual(await run("queue-worker"), [
    "first worker: 42 squared is 1764",
    "first worker: stops before it deletes the message",
    "second worker: that was done before",
    "second worker: deletes the message, which was delivered 2 times",
  ]);
});

test("a directory of logs is complete when a reader finds it", async () => {
  assert.deepEqual(await run("data-lake"), [
    "before the rename: nothing",
    "after the rename: complete/a.log, complete/b.log",
    "a.log: one, two",
  ]);
});
