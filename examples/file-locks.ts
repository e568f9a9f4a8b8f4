/**
 * A program that works over REST meets what another one holds open over SMB:
 *
 *     npm start
 *     node dist/examples/file-locks.js
 *
 * The SMB side is played by Python with impacket (Debian package python3-impacket), in place of an
 * office program on a mounted share. Another server: its connection string as the first argument, its
 * SMB address as the second.
 */
import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { RestError, ShareServiceClient } from "@azure/storage-file-share";

const ACCOUNT = "devstoreaccount1";
const KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const connection =
  process.argv[2] ??
  `AccountName=${ACCOUNT};AccountKey=${KEY};FileEndpoint=http://127.0.0.1:10003/${ACCOUNT};`;
const [smbHost = "", smbPort = "445"] = (process.argv[3] ?? "127.0.0.1:10445").split(":");
const account = /AccountName=([^;]+)/.exec(connection)?.[1] ?? ACCOUNT;
const key = /AccountKey=([^;]+)/.exec(connection)?.[1] ?? KEY;

/** Opens note.txt, says so, and holds it until its standard input ends. */
const HOLDER = `
import sys
from impacket.smbconnection import SMBConnection
host, port, user, key, share, how = sys.argv[1:]
READ, WRITE, DELETE = 1, 2, 0x10000
SHARE_NOTHING, SHARE_ALL = 0, 7
OPEN, PLAIN, DELETE_ON_CLOSE = 1, 0x40, 0x1040
smb = SMBConnection(host, host, sess_port=int(port))
smb.login(user, key)
tree = smb.connectTree(share)
def open_file(access, sharing, options):
    return smb.openFile(tree, "note.txt", access, sharing, options, OPEN)
if how == "alone":
    held = open_file(READ | WRITE, SHARE_NOTHING, PLAIN)
else:
    held = open_file(READ, SHARE_ALL, PLAIN)
    smb.closeFile(tree, open_file(DELETE, SHARE_ALL, DELETE_ON_CLOSE))
print("open", flush=True)
sys.stdin.read()
smb.closeFile(tree, held)
`;

const name = `example${randomUUID().replaceAll("-", "")}`;
const retryOptions = { maxTries: 1 };
const share = ShareServiceClient.fromConnectionString(connection, { retryOptions }).getShareClient(
  name,
);
const file = share.rootDirectoryClient.getFileClient("note.txt");
await share.create();
await file.create(5);

console.log("File, pessimistic: opened over SMB for one alone");
let holder = await hold("alone");
await conflict("write over REST", file.uploadRange("mine!", 0, 5));
await conflict("read over REST", file.download());
await letGo(holder);
await file.uploadRange("mine!", 0, 5);
console.log("  write after it is closed: done");

console.log("File, delete pending: deleted over SMB, and still open elsewhere");
holder = await hold("doomed");
await conflict("write over REST", file.uploadRange("late!", 0, 5));
await conflict("read over REST", file.download());
await letGo(holder);
await conflict("write after the last handle is closed", file.uploadRange("late!", 0, 5));
await share.delete();

async function hold(how: "alone" | "doomed"): Promise<ChildProcessWithoutNullStreams> {
  const args = ["-c", HOLDER, smbHost, smbPort, account, key, name, how];
  const child = spawn("/usr/bin/python3", args);
  child.stderr.pipe(process.stderr);
  const ended = once(child, "close").then(() => false);
  const isOpen = once(child.stdout, "data").then(() => true);
  if (!(await Promise.race([isOpen, ended]))) throw new Error("the file could not be opened");
  return child;
}

async function letGo(child: ChildProcessWithoutNullStreams): Promise<void> {
  child.stdin.end();
  await once(child, "close");
}

/** Tells how something that must fail has failed. */
async function conflict(what: string, attempt: Promise<unknown>): Promise<void> {
  try {
    await attempt;
  } catch (error) {
    if (!(error instanceof RestError)) throw error;
    console.log(`  ${what}: ${error.statusCode} ${error.code}`);
    return;
  }
  throw new Error(`${what} was not refused`);
}
