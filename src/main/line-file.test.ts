import assert from "node:assert/strict";
import { mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { GATHER_MS, LineFile, type LineFileSystem } from "./line-file.ts";
import { StartError } from "./start-error.ts";

async function pathIn(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-"));
  t.after(() => rm(folder, { recursive: true }));
  return join(folder, "file");
}

/** Files in memory, by descriptor, with failures on demand. */
class SlowFiles implements LineFileSystem {
  readonly written: string[] = [];
  readonly closed: number[] = [];
  failure: Error | null = null;
  /** Set to hold writes back. */
  until: Promise<void> | null = null;
  appends = 0;

  async open(): Promise<number> {
    if (this.failure !== null) throw this.failure;
    return this.written.push("") - 1;
  }

  async append(fd: number, bytes: Buffer): Promise<void> {
    const text = bytes.toString("utf8");
    this.appends++;
    await this.until;
    if (this.failure !== null) throw this.failure;
    this.written[fd] += text;
  }

  async close(fd: number): Promise<void> {
    this.closed.push(fd);
  }
}

/** Resolves when everything has run that waits for nothing but promises. */
function endOfIteration(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function opened(files: LineFileSystem, reports: string[], waitingMax?: number): Promise<LineFile> {
  const report = (line: string) => void reports.push(line);
  const options = { path: "file", report, files };
  return LineFile.open("--log", waitingMax === undefined ? options : { ...options, waitingMax });
}

test("lines are appended, and closing writes all of them", async (t) => {
  const path = await pathIn(t);
  const report = (line: string) => assert.fail(line);
  for (const run of [1, 2]) {
    const file = await LineFile.open("--log", { path, report });
    file.write(`${run}, é`);
    file.write("more");
    await file.close();
    file.write("too late");
  }
  assert.equal(await readFile(path, "utf8"), "1, é\nmore\n2, é\nmore\n");
});

test("lines of any length and in any script are written in order", async (t) => {
  const path = await pathIn(t);
  const file = await LineFile.open("--log", { path, report: (line) => assert.fail(line) });
  const lines = Array.from({ length: 3_000 }, (_, at) => `${at} ${"é日".repeat(at % 100)}`);
  lines.splice(1_500, 0, "long ".repeat(100_000), "日".repeat(70_000));
  for (const line of lines) file.write(line);
  await file.close();
  assert.ok((await readFile(path, "utf8")) === `${lines.join("\n")}\n`);
});

test("a renamed file is left behind when the file is opened again, and no line is lost", async (t) => {
  const path = await pathIn(t);
  const file = await LineFile.open("--log", { path, report: (line) => assert.fail(line) });
  let count = 0;
  for (let round = 0; round < 20; round++) {
    file.write(String(count++));
    await rename(path, `${path}.${round}`);
    file.write(String(count++));
    const reopening = file.reopen();
    file.write(String(count++));
    await reopening;
    file.write(String(count++));
  }
  await file.close();
  const texts = [];
  for (let round = 0; round < 20; round++) texts.push(await readFile(`${path}.${round}`, "utf8"));
  texts.push(await readFile(path, "utf8"));
  assert.equal(texts.join(""), Array.from({ length: count }, (_, at) => `${at}\n`).join(""));
  assert.ok((texts.at(-1) ?? "").endsWith(`${count - 1}\n`));
});

test("lines that come in one iteration, or during a write, are written together", async () => {
  const files = new SlowFiles();
  const file = await opened(files, []);
  let go = () => {};
  files.until = new Promise((resolve) => {
    go = resolve;
  });
  const appended = new Promise<void>((resolve) => {
    const append = files.append.bind(files);
    files.append = (fd, bytes) => {
      resolve();
      return append(fd, bytes);
    };
  });
  for (const line of ["a", "b", "c"]) file.write(line);
  await appended;
  for (const line of ["d", "e"]) file.write(line);
  go();
  await file.close();
  assert.deepEqual([files.written, files.appends], [["a\nb\nc\nd\ne\n"], 2]);
  assert.deepEqual(files.closed, [0]);
});

test("lines that come during a write wait for others before they are written", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const files = new SlowFiles();
  const file = await opened(files, []);
  const append = files.append.bind(files);
  // A busy server logs a line during each write.
  files.append = (fd, bytes) => {
    if (files.appends < 50) file.write("during");
    return append(fd, bytes);
  };
  file.write("first");
  t.mock.timers.tick(GATHER_MS);
  await endOfIteration();
  assert.deepEqual([files.written, files.appends], [["first\n"], 1]);
  file.write("later");
  t.mock.timers.tick(GATHER_MS);
  await endOfIteration();
  assert.deepEqual([files.written, files.appends], [["first\nduring\nlater\n"], 2]);
  files.append = append;
  await file.close();
  assert.deepEqual(files.written, ["first\nduring\nlater\nduring\n"]);
});

test("many lines are written in large parts, without waiting", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const files = new SlowFiles();
  const file = await opened(files, []);
  const line = "x".repeat(1_023);
  for (let count = 0; count < 600; count++) file.write(line);
  await endOfIteration();
  assert.equal(files.appends, 2);
  const written = (files.written[0] ?? "").length;
  assert.ok(written > 450 * 1_024 && written < 600 * 1_024, `${written} bytes`);
  await file.close();
  assert.equal(files.written[0], `${line}\n`.repeat(600));
  assert.equal(files.appends, 3);
});

test("lines that cannot be written are lost and counted, and later ones are written", async () => {
  const files = new SlowFiles();
  const reports: string[] = [];
  let lost = () => {};
  const isLost = new Promise<void>((resolve) => {
    lost = resolve;
  });
  const report = (line: string) => {
    reports.push(line);
    lost();
  };
  const file = await LineFile.open("--log", { path: "file", report, files });
  files.failure = new Error("no space");
  file.write("a");
  file.write("b");
  await isLost;
  await file.reopen();
  files.failure = null;
  file.write("c");
  await file.close();
  assert.deepEqual(files.written, ["\nc\n"]);
  assert.deepEqual(reports.toSorted(), [
    "file cannot be opened again (no space): it goes on as it was",
    "file cannot be written (no space): lines are lost until it can",
    "file is written again: 2 lines were lost",
  ]);
});

test("lines do not fill the memory while the disk is too slow", async () => {
  const files = new SlowFiles();
  const reports: string[] = [];
  const file = await opened(files, reports, 10);
  for (let count = 0; count < 100; count++) file.write("1234");
  await file.close();
  assert.deepEqual(
    files.written,
    ["1234\n1234\n1234\n"].map((text) => `\n${text}`),
  );
  assert.deepEqual(reports, [
    "file cannot be written (the disk is too slow): lines are lost until it can",
    "file is written again: 97 lines were lost",
  ]);
});

test("a file that cannot be opened is refused at the start", async () => {
  const path = join(tmpdir(), "no", "such", "folder");
  await assert.rejects(LineFile.open("--log", { path, report: () => {} }), (error: Error) => {
    assert.ok(error instanceof StartError);
    return /^The --log file cannot be written \(ENOENT.*\)\. Choose another one\.$/.test(
      error.message,
    );
  });
});
