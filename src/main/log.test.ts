import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ManualClock } from "../base/clock.ts";
import { NO_DETAILS, type RestOutcome } from "../front/outcome.ts";
import { StoreError, type StoreErrorKind } from "../store/store.ts";
import { openLog } from "./log.ts";
import { StartError } from "./start-error.ts";

const CLOCK = new ManualClock(Date.UTC(2024, 0, 2, 3, 4, 5));
const OUTCOME: RestOutcome = {
  atMs: CLOCK.now(),
  tookMs: 1.26,
  service: "blob",
  operation: "PutBlob",
  account: "a",
  container: "c",
  auth: "sharedKey",
  code: null,
  requestId: "0f-1",
  clientRequestId: null,
  batchId: null,
  remoteAddress: "127.0.0.1",
  method: "PUT",
  target: "/a/c/b",
  status: 201,
  requestBytes: 5,
  responseBytes: 0,
  aborted: false,
  details: () => NO_DETAILS,
};
const LINE =
  '2024-01-02T03:04:05.000Z blob 127.0.0.1 "PUT /a/c/b" 201 5 0 1.3ms 0f-1 PutBlob a sharedKey -';

const TEXT = { logFormat: "text" } as const;
const NO_FILES = { logFile: null, debugFile: null, ...TEXT };

class Lines {
  readonly outLines: string[] = [];
  readonly errLines: string[] = [];
  readonly out = (line: string) => void this.outLines.push(line);
  readonly err = (line: string) => void this.errLines.push(line);
}

test("log lines are appended to the given files", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-"));
  t.after(() => rm(folder, { recursive: true }));
  const files = { logFile: join(folder, "access"), debugFile: join(folder, "debug"), ...TEXT };
  for (let run = 0; run < 2; run++) {
    const log = await openLog(files, new Lines(), CLOCK);
    log.onOutcome?.(OUTCOME);
    log.debug?.("GET /");
    await log.close();
  }
  assert.equal(await readFile(files.logFile, "utf8"), `${LINE}\n${LINE}\n`);
  const debugLine = "2024-01-02T03:04:05.000Z GET /\n";
  assert.equal(await readFile(files.debugFile, "utf8"), debugLine + debugLine);
});

test("a dash is standard output, and no other log is written", async () => {
  const lines = new Lines();
  const log = await openLog({ logFile: "-", debugFile: null, ...TEXT }, lines, CLOCK);
  log.onOutcome?.({ ...OUTCOME, aborted: true });
  assert.deepEqual(lines.outLines, [LINE.replace("1.3ms", "1.3ms aborted")]);
  assert.equal(log.debug, undefined);
  const none = await openLog(NO_FILES, lines, CLOCK);
  assert.equal(none.onOutcome, undefined);
});

test("failures go to standard error: the engine's message, or a bug with its stack", async () => {
  const lines = new Lines();
  const log = await openLog(NO_FILES, lines, CLOCK);
  log.failure("0f-1", new StoreError("damaged", "bad checksum", { cause: new Error("flipped") }));
  log.warn("sweeping", new TypeError("x is undefined"));
  assert.match(lines.errLines[0] ?? "", /^\S+ request 0f-1 failed: bad checksum \(Error: flipped/);
  assert.match(
    lines.errLines[1] ?? "",
    /^\S+ sweeping: TypeError: x is undefined\n +at .*log\.test/,
  );
});

test("a log that cannot be written is refused at the start", async () => {
  const files = { logFile: join(tmpdir(), "no", "such", "folder"), debugFile: null, ...TEXT };
  await assert.rejects(openLog(files, new Lines(), CLOCK), (error: StartError) => {
    assert.ok(error instanceof StartError);
    return /^The --log file cannot be written \(ENOENT.*\)\. Choose another one\.$/.test(
      error.message,
    );
  });
});

test("a failure that lasts is logged once a minute, any other each time", async () => {
  const lines = new Lines();
  const clock = new ManualClock(CLOCK.now());
  const log = await openLog(NO_FILES, lines, clock);
  const fail = (kind: StoreErrorKind) => log.failure("1", new StoreError(kind, kind), undefined);
  const kinds = ["full", "unreachable", "damaged"] as const;
  for (const kind of [...kinds, ...kinds]) fail(kind);
  clock.advance(60_000);
  for (const kind of kinds) fail(kind);
  const told = lines.errLines.map((line) => line.split(" ").at(-1));
  assert.deepEqual(told, ["full", "unreachable", "damaged", "damaged", ...kinds]);
  await log.close();
});
