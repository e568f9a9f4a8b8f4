import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { startSmb, type TestSmb } from "./server.ts";
import { skipWithoutSmbclient, smbclient } from "./smbclient.ts";

const skip = skipWithoutSmbclient;

interface Place {
  readonly smb: TestSmb;
  readonly folder: string;
  /** Returns smbclient's output; fails the test if a command failed. */
  run(commands: string, ...args: string[]): Promise<string>;
}

async function place(t: TestContext): Promise<Place> {
  const smb = await startSmb();
  const folder = await mkdtemp(join(tmpdir(), "lazuli-smb-"));
  t.after(async () => {
    await smb.close();
    await rm(folder, { recursive: true });
    assert.deepEqual(smb.failures, []);
  });
  const run = async (commands: string, ...args: string[]) => {
    const local = ["-c", `lcd ${folder}; ${commands}`, ...args];
    const { code, text } = await smbclient(smb.port, "//127.0.0.1/box", ...local);
    assert.equal(code, 0, text);
    return text;
  };
  return { smb, folder, run };
}

const namesIn = (listing: string) =>
  listing
    .split("\n")
    .flatMap((line) => /^ {2}(\S.*?) +[A-Z]+ +\d+ {2}\w/.exec(line)?.[1] ?? [])
    .filter((name) => name !== "." && name !== "..");

test("files are uploaded and downloaded unchanged, in every dialect and protection", {
  skip,
}, async (t) => {
  const { folder, run } = await place(t);
  const bytes = randomBytes(3_000_001);
  await writeFile(join(folder, "up"), bytes);
  for (const args of [
    ["-m", "SMB2_02"],
    ["-m", "SMB2_10", "--client-protection=sign"],
    ["-m", "SMB3_00", "--client-protection=encrypt"],
    ["-m", "SMB3_11"],
    ["-m", "SMB3_11", "--client-protection=encrypt"],
  ]) {
    await run("put up there; get there down; del there", ...args);
    assert.deepEqual(await readFile(join(folder, "down")), bytes, args.join(" "));
  }
});

test("directories are made, listed, renamed and removed", { skip }, async (t) => {
  const { folder, run } = await place(t);
  await writeFile(join(folder, "up"), "hello");
  await run("mkdir one; mkdir one\\two; put up one\\a.txt; put up one\\ü.txt; put up one\\b.doc");
  assert.deepEqual(namesIn(await run("ls one\\*")), ["a.txt", "b.doc", "two", "ü.txt"]);
  assert.deepEqual(namesIn(await run("ls one\\*.TXT")), ["a.txt", "ü.txt"]);
  await run("rename one\\a.txt one\\two\\c.txt; rename one\\two moved");
  assert.deepEqual(namesIn(await run("ls moved\\*")), ["c.txt"]);
  await run("deltree one; deltree moved");
  assert.deepEqual(namesIn(await run("ls")), []);
});

test("a directory of many files is listed whole, each once", { skip }, async (t) => {
  const { smb, run } = await place(t);
  const root = smb.rest.client().getShareClient("box").rootDirectoryClient;
  const names = Array.from({ length: 700 }, (_, index) => `file-${String(index).padStart(4, "0")}`);
  for (const name of names) await root.getFileClient(name).create(0);
  assert.deepEqual(namesIn(await run("ls")), names);
});

test("a server-side copy does not send the bytes to the client", { skip }, async (t) => {
  const { folder, run } = await place(t);
  const bytes = randomBytes(2_500_000);
  await writeFile(join(folder, "up"), bytes);
  await run("put up there; scopy there copy; get copy down");
  assert.deepEqual(await readFile(join(folder, "down")), bytes);
});

test("attributes and times stay as they are set", { skip }, async (t) => {
  const { folder, run } = await place(t);
  await writeFile(join(folder, "up"), "hello");
  await run('put up there; setmode there +rhs; utimes there -1 -1 "2001:02:03-04:05:06" -1');
  const shown = await run("allinfo there");
  assert.match(shown, /attributes: (?=.*R)(?=.*H)(?=.*S)/);
  assert.match(shown, /write_time:.*Feb.* 3.*2001/);
});

test("the volume's size is the share's quota", { skip }, async (t) => {
  const { smb } = await place(t);
  await smb.rest.client().getShareClient("small").create({ quota: 10 });
  const { text } = await smbclient(smb.port, "//127.0.0.1/small", "-c", "ls");
  assert.match(text, /2621440 blocks of size 4096/);
});

test("names with streams, wildcards and dots are refused", { skip }, async (t) => {
  const { smb, folder } = await place(t);
  await writeFile(join(folder, "up"), "hello");
  for (const name of ["a:stream", "a<b", "a|b"]) {
    const command = `lcd ${folder}; put up "${name}"`;
    const { text } = await smbclient(smb.port, "//127.0.0.1/box", "-c", command);
    assert.match(text, /OBJECT_NAME_INVALID/, name);
  }
});

test("REST and SMB see each other's writes at once", { skip }, async (t) => {
  const { smb, folder, run } = await place(t);
  const root = smb.rest.client().getShareClient("box").rootDirectoryClient;
  const file = root.getFileClient("file");
  await file.create(5);
  await file.uploadRange("first", 0, 5);
  await run("get file down");
  assert.equal(await readFile(join(folder, "down"), "utf8"), "first");
  await writeFile(join(folder, "up"), "second");
  await run("put up file");
  assert.equal((await file.downloadToBuffer()).toString(), "second");
  await file.delete();
  assert.deepEqual(namesIn(await run("ls")), []);
});
