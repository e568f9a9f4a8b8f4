import assert from "node:assert/strict";
import { type ExecFileOptions, execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";
import { skipWithoutImpacket } from "../programs/impacket.ts";
import { PYTHON } from "../programs/python.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { startSmb, type TestSmb } from "./server.ts";

/** Far more than it needs on a busy machine: it ends one that hangs. */
const RUN_MS_MAX = 10 * 60_000;
const noRclone = skipWithoutDebianProgram("rclone", "rclone") ?? false;
const noSmbget = skipWithoutDebianProgram("smbget", "smbclient") ?? false;
const noGio =
  skipWithoutDebianProgram("gio", "libglib2.0-bin") ??
  skipWithoutDebianProgram("dbus-run-session", "dbus-daemon") ??
  skipWithoutDebianProgram("/usr/libexec/gvfsd-smb", "gvfs-backends") ??
  false;

let smb: TestSmb;
let folder: string;

before(async () => {
  smb = await startSmb();
  folder = await mkdtemp(join(tmpdir(), "lazuli-smb-"));
});

after(async () => {
  await rm(folder, { recursive: true, force: true });
  await smb.close();
  assert.deepEqual(smb.failures, []);
});

/** Returns the program's output; fails with it if the program does. */
function run(program: string, args: string[], stdin = "", options: ExecFileOptions = {}) {
  return new Promise<string>((resolve, reject) => {
    const all = { timeout: RUN_MS_MAX, ...options };
    const child = execFile(program, args, all, (error, stdout, stderr) => {
      if (error === null) resolve(String(stdout));
      else reject(new Error(`${program}: ${error.message}\n${stdout}${stderr}`));
    });
    child.stdin?.end(stdin);
  });
}

test("rclone copies a folder, finds it unchanged, moves and removes it", {
  skip: noRclone,
}, async () => {
  const source = join(folder, "rclone");
  await mkdir(join(source, "sub"), { recursive: true });
  await writeFile(join(source, "sub", "ü name.txt"), "hello");
  await writeFile(join(source, "large"), Buffer.alloc(3_000_000, "lazuli"));
  const env = {
    ...process.env,
    RCLONE_CONFIG_HERE_TYPE: "smb",
    RCLONE_CONFIG_HERE_HOST: "127.0.0.1",
    RCLONE_CONFIG_HERE_PORT: String(smb.port),
    RCLONE_CONFIG_HERE_USER: ACCOUNT,
    RCLONE_CONFIG_HERE_PASS: (await run("rclone", ["obscure", KEY])).trim(),
  };
  const rclone = (...args: string[]) =>
    run("rclone", ["--config", "", "--retries", "1", ...args], "", { env });
  assert.match(await rclone("lsf", "here:"), /^box\/$/m);
  await rclone("sync", source, "here:box/copy");
  await rclone("check", "--download", source, "here:box/copy");
  await rclone("moveto", "here:box/copy/large", "here:box/copy/sub/moved");
  const listed = (await rclone("lsf", "-R", "here:box/copy")).trim().split("\n").sort();
  assert.deepEqual(listed, ["sub/", "sub/moved", "sub/ü name.txt"]);
  await rclone("purge", "here:box/copy");
  assert.equal(await rclone("lsf", "here:box"), "");
});

test("smbget downloads a tree", { skip: noSmbget }, async () => {
  const tree = smb.rest.client().getShareClient("box").getDirectoryClient("tree");
  await tree.create();
  await tree.getFileClient("file").create(5);
  await tree.getFileClient("file").uploadRange("hello", 0, 5);
  const home = join(folder, "smbget");
  await mkdir(home);
  const url = `smb://127.0.0.1:${smb.port}/box/tree`;
  await run("smbget", ["-q", "-n", "-R", "-U", `${ACCOUNT}%${KEY}`, url], "", { cwd: home });
  const found = await readFile(join(home, "file")).catch(() => readFile(join(home, "tree/file")));
  assert.equal(found.toString(), "hello");
});

/** Each line must succeed; `$SHARE` is the share's address and `$FOLDER` a local folder. */
const GIO = `
set -e
printf '%s\\n' "$ACCOUNT" WORKGROUP "$KEY" | gio mount "$SHARE"
gio mkdir "$SHARE/gio"
printf hello > "$FOLDER/gio.txt"
gio copy "$FOLDER/gio.txt" "$SHARE/gio/"
gio rename "$SHARE/gio/gio.txt" other.txt
gio list "$SHARE/gio"
gio cat "$SHARE/gio/other.txt"
gio remove "$SHARE/gio/other.txt" "$SHARE/gio"
gio mount -u "$SHARE"
`;

test("gio mounts a share, copies, renames, reads and removes", { skip: noGio }, async () => {
  const env = {
    ...process.env,
    ACCOUNT,
    KEY,
    FOLDER: folder,
    SHARE: `smb://127.0.0.1:${smb.port}/box`,
    XDG_RUNTIME_DIR: folder,
    HOME: folder,
  };
  const text = await run("dbus-run-session", ["--", "sh", "-c", GIO], "", { env });
  assert.match(text, /other\.txt\nhello$/);
});

const IMPACKET = `
import io, sys
from impacket.smbconnection import SMBConnection
port, dialect, user, key = int(sys.argv[1]), int(sys.argv[2], 16), sys.argv[3], sys.argv[4]
smb = SMBConnection("127.0.0.1", "127.0.0.1", sess_port=port, preferredDialect=dialect)
smb.login(user, key)
assert smb.getDialect() == dialect, hex(smb.getDialect())
print([share["shi1_netname"][:-1] for share in smb.listShares()])
smb.createDirectory("box", "impacket")
smb.putFile("box", "impacket\\\\file", io.BytesIO(b"hello").read)
smb.rename("box", "impacket\\\\file", "impacket\\\\other")
print([found.get_longname() for found in smb.listPath("box", "impacket\\\\*")])
got = io.BytesIO()
smb.getFile("box", "impacket\\\\other", got.write)
print(got.getvalue())
smb.deleteFile("box", "impacket\\\\other")
smb.deleteDirectory("box", "impacket")
smb.logoff()
`;

for (const [name, dialect] of [
  ["2.1", "0x210"],
  ["3.0", "0x300"],
] as const) {
  test(`impacket works with files in dialect ${name}`, { skip: skipWithoutImpacket }, async () => {
    const args = ["-c", IMPACKET, String(smb.port), dialect, ACCOUNT, KEY];
    const text = await run(PYTHON, args);
    assert.match(text, /'box'/);
    assert.match(text, /\['\.', '\.\.', 'other'\]\nb'hello'\n$/);
  });
}
