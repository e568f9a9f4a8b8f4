import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { KIB } from "../../src/base/limits.ts";
import type { SmbOutcome } from "../../src/front/outcome.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { HEADER_BYTES, Writer } from "../../src/front/smb/codec/wire.ts";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import { EMPTY_BODY, SmbClient, TcpLine } from "../../src/front/smb/smb-client.fixture.ts";
import { READ, WRITE } from "../../src/rules/share-mode.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { startSmb, type TestSmb, type TestSmbOptions } from "./server.ts";
import { SmbFiles } from "./smb-files.ts";
import { skipWithoutSmbclient, smbclient } from "./smbclient.ts";

const EXCLUSIVE_NOW = 2 | 16;

async function started(t: TestContext, options: TestSmbOptions = {}): Promise<TestSmb> {
  const smb = await startSmb(options);
  t.after(async () => {
    await smb.close();
    assert.deepEqual(smb.failures, []);
  });
  return smb;
}

function summary({ operation, account, container, path, auth, status, code }: SmbOutcome) {
  return [operation, account, container, path, auth, status, code];
}

test("each request of a connection has one outcome, from its first to its last", async (t) => {
  const smb = await started(t);
  const files = await SmbFiles.connect(smb.port, "box");
  t.after(() => files.close());
  const handle = await files.open("a.txt", { access: READ | WRITE, disposition: "create" });
  await files.write(handle, 0, "hello");
  await files.read(handle, 0, 5);
  await files.end(handle);
  assert.equal((await files.client.call(COMMAND.treeDisconnect, EMPTY_BODY)).status, 0);
  assert.equal((await files.client.call(COMMAND.logoff, EMPTY_BODY)).status, 0);
  const file = [ACCOUNT, "box", "a.txt", "ntlm", 0, null];
  assert.deepEqual(smb.outcomes.map(summary), [
    ["Negotiate", null, null, null, "none", 0, null],
    ["SessionSetup", null, null, null, "ntlm", STATUS.MORE_PROCESSING_REQUIRED, null],
    ["SessionSetup", ACCOUNT, null, null, "ntlm", 0, null],
    ["TreeConnect", ACCOUNT, "box", null, "ntlm", 0, null],
    ["Create", ...file],
    ["Write", ...file],
    ["Read", ...file],
    ["Close", ...file],
    ["TreeDisconnect", ACCOUNT, "box", null, "ntlm", 0, null],
    ["Logoff", ACCOUNT, null, null, "ntlm", 0, null],
  ]);
  const [hello, , logon, , open, write, read] = smb.outcomes;
  assert.equal(hello?.dialect, "3.1.1");
  assert.equal(logon?.user, ACCOUNT);
  assert.deepEqual(open?.open, {
    access: ["read", "write"],
    shareMode: ["read", "write", "delete"],
    disposition: "create",
  });
  const bytes = [
    write?.requestBytes,
    write?.responseBytes,
    read?.requestBytes,
    read?.responseBytes,
  ];
  assert.deepEqual(bytes, [48 + 5, 16, 49, 16 + 5]);
  const ids = smb.outcomes.map(({ requestId }) => requestId);
  assert.equal(new Set(ids).size, ids.length);
  for (const id of ids) assert.match(id, /^smb-1-\d+$/);
  for (const one of smb.outcomes) {
    assert.deepEqual([one.service, one.remoteAddress, one.dropped], ["smb", "127.0.0.1", false]);
    assert.ok(one.tookMs >= 0 && Number.isFinite(one.atMs));
  }
});

test("a failed log-on has the claimed name, and no account", async (t) => {
  const smb = await started(t);
  const client = new SmbClient(await TcpLine.open(smb.port));
  t.after(() => client.line.close());
  await client.negotiate();
  await client.logOn({ user: "Somebody", domain: "", password: KEY });
  const last = smb.outcomes.at(-1) as SmbOutcome;
  const code = "STATUS_LOGON_FAILURE";
  assert.deepEqual(summary(last), [
    "SessionSetup",
    null,
    null,
    null,
    "ntlm",
    STATUS.LOGON_FAILURE,
    code,
  ]);
  assert.equal(last.user, "Somebody");
});

test("refusals have their code and the path of the file, also behind a handle", async (t) => {
  const smb = await started(t);
  const [one, other] = [
    await SmbFiles.connect(smb.port, "box"),
    await SmbFiles.connect(smb.port, "box"),
  ];
  t.after(() => {
    one.close();
    other.close();
  });
  const last = () => smb.outcomes.at(-1) as SmbOutcome;
  await one.open("a/b.txt").catch(() => {});
  assert.deepEqual([last().path, last().code], ["a/b.txt", "STATUS_OBJECT_PATH_NOT_FOUND"]);

  const handle = await one.open("f", {
    access: READ | WRITE,
    share: READ | WRITE,
    disposition: "openIf",
  });
  await other.tryOpen("f", { access: READ, share: READ });
  assert.deepEqual(
    [last().operation, last().path, last().code],
    ["Create", "f", "STATUS_SHARING_VIOLATION"],
  );
  assert.deepEqual(last().open, { access: ["read"], shareMode: ["read"], disposition: "open" });

  await one.lock(handle, 0, 10, EXCLUSIVE_NOW);
  assert.deepEqual([last().operation, last().code], ["Lock", null]);
  const second = await other.open("f", { access: READ | WRITE, share: READ | WRITE });
  await other.lock(second, 5, 10, EXCLUSIVE_NOW);
  assert.deepEqual(
    [last().operation, last().path, last().code],
    ["Lock", "f", "STATUS_LOCK_NOT_GRANTED"],
  );
  await other.write(second, 5, "x");
  assert.deepEqual(
    [last().operation, last().path, last().code],
    ["Write", "f", "STATUS_FILE_LOCK_CONFLICT"],
  );
  await other.client.treeConnect("nothing");
  assert.deepEqual([last().container, last().code], ["nothing", "STATUS_BAD_NETWORK_NAME"]);
});

test("a large write, which is stored as it arrives, counts all its bytes", async (t) => {
  const smb = await started(t);
  const files = await SmbFiles.connect(smb.port, "box");
  t.after(() => files.close());
  const handle = await files.open("large", { access: WRITE, disposition: "create" });
  const data = Buffer.alloc(256 * KIB, "x");
  const body = new Writer().u16(49).u16(112).u32(data.length).u64(0).bytes(handle).zeros(16);
  await files.client.call(COMMAND.write, body.bytes(data).done(), { charge: 4 });
  const last = smb.outcomes.at(-1) as SmbOutcome;
  assert.deepEqual([last.operation, last.code, last.requestBytes], ["Write", null, 48 + 256 * KIB]);
});

test("a connection that is cut has an outcome that says so", async (t) => {
  // Each front end has limits of its own.
  const smb = await started(t, { limits: { connectionsMax: 1 }, alone: true });
  const files = await SmbFiles.connect(smb.port, "box");
  t.after(() => files.close());
  await files.open("kept", { disposition: "openIf" });
  const surplus = await TcpLine.open(smb.port);
  assert.equal(await surplus.next(), null);
  const refused = smb.outcomes.at(-1) as SmbOutcome;
  assert.deepEqual(
    [refused.operation, refused.code, refused.dropped, refused.requestId],
    ["Unknown", "STATUS_INSUFFICIENT_RESOURCES", true, "smb-2"],
  );
  files.client.line.send(Buffer.alloc(HEADER_BYTES, 0xee));
  assert.equal(await files.client.line.next(), null);
  const broken = smb.outcomes.at(-1) as SmbOutcome;
  assert.deepEqual(
    [broken.operation, broken.code, broken.dropped, broken.requestId],
    ["Unknown", "STATUS_INVALID_PARAMETER", true, "smb-1"],
  );
});

test("smbclient's visit can be read in the outcomes", { skip: skipWithoutSmbclient }, async (t) => {
  const smb = await started(t);
  await smbclient(smb.port, "//127.0.0.1/box", "-c", "put /etc/hostname name.txt; rm name.txt");
  const seen = smb.outcomes.filter(({ path }) => path === "name.txt");
  assert.ok(seen.some(({ operation, status }) => operation === "Create" && status === 0));
  assert.ok(seen.some(({ operation, status }) => operation === "Write" && status === 0));
  assert.ok(seen.every(({ account, container }) => account === ACCOUNT && container === "box"));
  await smbclient(smb.port, "//127.0.0.1/box", "-U", `${ACCOUNT}%wrong`, "-c", "ls");
  const failed = smb.outcomes.filter(({ code }) => code === "STATUS_LOGON_FAILURE");
  assert.deepEqual(
    failed.map(({ user }) => user),
    [ACCOUNT],
  );
});
