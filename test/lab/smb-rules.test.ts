import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { type ShareClient, ShareServiceClient } from "@azure/storage-file-share";
import { closeBody, createBody } from "../../src/front/smb/client/file-requests.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { LOCK_FLAG } from "../../src/front/smb/codec/lock.ts";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import { READ, WRITE } from "../../src/rules/share-mode.ts";
import { KEY } from "../sdk/server.ts";
import { SmbFiles } from "../smb/smb-files.ts";
import { giveUp, nextBreak, openLeased } from "../smb/smb-leases.ts";
import { skipWithoutSmbclient, smbclient } from "../smb/smbclient.ts";
import { heldAt, ONE_TRY, type Served, served } from "./served.ts";

/** Offset in a header of the offset of the next message in a frame. */
const NEXT_AT = 20;

interface Sharing extends Served {
  readonly share: ShareClient;
  readonly port: number;
  connect(): Promise<SmbFiles>;
}

/** A server with the share `box`, in which the file `doc` has the text `old`. */
async function sharing(t: TestContext): Promise<Sharing> {
  const here = await served(t, { services: ["blob", "file", "smb"] });
  const service = ShareServiceClient.fromConnectionString(here.server.connectionString, ONE_TRY);
  const share = service.getShareClient("box");
  await share.create();
  await write(share, "doc", "old");
  const port = Number(new URL(here.server.urls.smb ?? "").port);
  const connect = async () => {
    const files = await SmbFiles.connect(port, "box");
    t.after(() => files.close());
    return files;
  };
  return { ...here, share, port, connect };
}

async function write(share: ShareClient, name: string, text: string): Promise<void> {
  const file = share.rootDirectoryClient.getFileClient(name);
  await file.create(text.length);
  await file.uploadRange(text, 0, text.length);
}

async function textOf(share: ShareClient, name = "doc"): Promise<string> {
  return (await share.rootDirectoryClient.getFileClient(name).downloadToBuffer()).toString();
}

const OPENING = { access: READ | WRITE };

test("the next matching requests over SMB get the NT status, and nothing happens", async (t) => {
  const { lab, share, connect } = await sharing(t);
  const files = await connect();
  const refuse = (operation: string, name: keyof typeof STATUS, more = {}) =>
    lab.rule({ service: "smb", operation, answer: `STATUS_${name}`, ...more });
  const rule = await refuse("create", "SHARING_VIOLATION", { times: 2 });
  for (const name of ["new", "newer"]) {
    const { status } = await files.tryOpen(name, { ...OPENING, disposition: "create" });
    assert.equal(status, STATUS.SHARING_VIOLATION);
    assert.equal(await share.rootDirectoryClient.getFileClient(name).exists(), false);
  }
  const { matched, acted } = await rule.state();
  assert.deepEqual({ matched, acted }, { matched: 2, acted: 2 });
  const handle = await files.open("doc", OPENING);
  await refuse("Read", "IO_TIMEOUT");
  assert.equal(await files.read(handle, 0, 3), "status 0xc00000b5");
  assert.equal(await files.read(handle, 0, 3), "old");
  await refuse("Write", "DISK_FULL");
  assert.equal(await files.write(handle, 0, "new"), STATUS.DISK_FULL);
  await refuse("Lock", "LOCK_NOT_GRANTED");
  const flags = LOCK_FLAG.exclusive | LOCK_FLAG.failImmediately;
  assert.equal(await files.lock(handle, 0, 3, flags), STATUS.LOCK_NOT_GRANTED);
  // Neither the write nor the lock was done.
  assert.equal(await textOf(share), "old");
  await share.rootDirectoryClient.getFileClient("doc").uploadRange("new", 0, 3);
  await refuse("Close", "INTERNAL_ERROR");
  assert.equal(await files.end(handle), STATUS.INTERNAL_ERROR);
  assert.equal(await files.end(handle), STATUS.SUCCESS);
});

test("an SMB request that is refused after it is done was done", async (t) => {
  const { lab, share, connect } = await sharing(t);
  const files = await connect();
  const handle = await files.open("doc", OPENING);
  const told = { service: "smb", answer: "STATUS_IO_TIMEOUT", at: "answer" } as const;
  await lab.rule({ ...told, operation: "Write" });
  assert.equal(await files.write(handle, 0, "new"), STATUS.IO_TIMEOUT);
  assert.equal(await textOf(share), "new");
  // Memory of an answer that is not sent is free for the next: there is room for few such reads.
  await lab.rule({ ...told, operation: "Read", times: 100 });
  for (let at = 0; at < 100; at++) {
    assert.equal(await files.read(handle, 0, 1_000_000), "status 0xc00000b5");
  }
  assert.equal(await files.read(handle, 0, 3), "new");
});

test("a request over SMB dropped before it did nothing, one dropped after it did everything", async (t) => {
  const { lab, share, connect } = await sharing(t);
  for (const [at, text] of [
    ["arrival", "old"],
    ["answer", "new"],
  ] as const) {
    const files = await connect();
    const handle = await files.open("doc", { ...OPENING, share: READ });
    await lab.rule({ service: "smb", operation: "Write", drop: true, at });
    await assert.rejects(files.write(handle, 0, "new"), /closed|ended|reset/);
    assert.equal(await textOf(share), text);
    // The handle went with the connection, and so others can write again.
    const other = await connect();
    await other.end(await other.open("doc", { access: WRITE, share: 0 }));
    other.close();
  }
});

test("a write over SMB that is held before its commit has changed nothing", async (t) => {
  const { lab, share, connect } = await sharing(t);
  const files = await connect();
  const handle = await files.open("doc", OPENING);
  for (const at of ["arrival", "read", "commit"] as const) {
    const rule = { service: "smb", operation: "Write", object: "doc", hold: true, at } as const;
    const barrier = await lab.rule(rule);
    const held = files.write(handle, 0, at.slice(0, 3));
    const [waiting] = await heldAt(barrier, held);
    assert.deepEqual(
      [waiting?.service, waiting?.operation, waiting?.container, waiting?.object, waiting?.at],
      ["smb", "Write", "box", "doc", at],
    );
    assert.notEqual(await textOf(share), at.slice(0, 3));
    await barrier.release();
    assert.equal(await held, STATUS.SUCCESS);
    assert.equal(await textOf(share), at.slice(0, 3));
  }
});

test("an open over SMB that is held is judged by what others opened meanwhile", async (t) => {
  const { lab, connect } = await sharing(t);
  const [first, second] = [await connect(), await connect()];
  const barrier = await lab.rule({ service: "smb", operation: "Create", hold: true, at: "commit" });
  const held = first.tryOpen("doc", { ...OPENING, share: 0 });
  await heldAt(barrier, held);
  const handle = await second.open("doc", { access: READ });
  await barrier.release();
  assert.equal((await held).status, STATUS.SHARING_VIOLATION);
  await second.end(handle);
});

test("a third party's update slips in between the read and the write of an SMB client", async (t) => {
  const { lab, share, connect } = await sharing(t);
  const files = await connect();
  const handle = await files.open("doc", OPENING);
  assert.equal(await files.read(handle, 0, 3), "old");
  const rule = await lab.rule({
    service: "smb",
    operation: "Write",
    run: {
      method: "PUT",
      path: "/box/doc?comp=range",
      headers: { "x-ms-write": "update", range: "bytes=0-2" },
      body: "odd",
    },
  });
  assert.equal(await files.write(handle, 0, "n"), STATUS.SUCCESS);
  assert.equal(await textOf(share), "ndd");
  assert.deepEqual((await rule.state()).notes, ["PUT /box/doc?comp=range was answered 201"]);
});

test("rules for SMB are about one protocol, and match account, share and path", async (t) => {
  const { lab, share, port, connect } = await sharing(t);
  const files = await connect();
  const answer = "STATUS_ACCESS_DENIED";
  const statusOf = async (name: string) => (await files.tryOpen(name, OPENING)).status;
  await lab.rule({ answer: 500, times: "always" });
  assert.equal(await statusOf("doc"), STATUS.SUCCESS);
  await lab.clearRules();
  await lab.rule({ service: "smb", answer, times: "always", container: "other" });
  await lab.rule({ service: "smb", answer, times: "always", object: "d*/x" });
  assert.equal(await statusOf("doc"), STATUS.SUCCESS);
  assert.equal(await textOf(share), "old");
  assert.equal(await statusOf("dir\\x"), STATUS.ACCESS_DENIED);
  await lab.clearRules();
  const account = "devstoreaccount1";
  await lab.rule({ service: "smb", answer, times: 2, account, container: "box", skip: 1 });
  const handle = await files.open("doc", OPENING);
  assert.equal(await files.flush(handle), STATUS.ACCESS_DENIED);
  // A log-on has no account yet: the rule still waits.
  const other = await SmbFiles.connect(port, "box");
  t.after(() => other.close());
  assert.equal((await other.tryOpen("doc")).status, STATUS.ACCESS_DENIED);
  // Neither do cancellations meet rules, which have no response, nor do clients that log on again.
  await lab.rule({ service: "smb", answer });
  const { client } = files;
  const cancel = { messageId: client.nextMessageId + 1_000 };
  client.line.send(client.frame(COMMAND.cancel, Buffer.from([4, 0, 0, 0]), cancel));
  assert.equal((await client.logOn({ user: account, domain: "", password: KEY })).status, 0);
  assert.equal(await files.flush(handle), STATUS.ACCESS_DENIED);
});

test("an open that was refused after it was done is not there for the rest of its compound", async (t) => {
  const { lab, connect } = await sharing(t);
  const { client } = await connect();
  const body = { name: "doc", access: 0x80, share: 7, disposition: "open" } as const;
  const statuses = async () => {
    const previous = Buffer.alloc(16, 0xff);
    client.line.send(
      client.compound([
        [COMMAND.create, createBody(body)],
        [COMMAND.close, closeBody(previous), { related: true }],
      ]),
    );
    const frame = (await client.line.next()) as Buffer;
    const next = frame.subarray(frame.readUInt32LE(NEXT_AT));
    return [client.read(frame, false).status, client.read(next, false).status];
  };
  const status = "STATUS_ACCESS_DENIED";
  for (const at of ["arrival", "answer"] as const) {
    await lab.rule({ service: "smb", operation: "Create", answer: status, at });
    assert.deepEqual(await statuses(), [STATUS.ACCESS_DENIED, STATUS.ACCESS_DENIED], at);
  }
  // Within a compound, the path of a request is that of the open before it.
  await lab.rule({ service: "smb", operation: "Close", object: "doc", answer: status });
  assert.deepEqual(await statuses(), [0, STATUS.ACCESS_DENIED]);
  assert.deepEqual(await statuses(), [0, 0]);
});

test("a rule acts on a write that breaks the caches of an SMB client first", async (t) => {
  const { lab, share, connect } = await sharing(t);
  const files = await connect();
  const key = randomBytes(16);
  const { state } = await openLeased(files.client, "doc", key, "RHW");
  assert.equal(state, "RHW");
  const barrier = await lab.rule({ operation: "PutRange", hold: true, at: "commit" });
  const held = share.rootDirectoryClient.getFileClient("doc").uploadRange("new", 0, 3);
  // The break itself is no part of the request that is held.
  const waiting = heldAt(barrier, held);
  const first = await Promise.race([nextBreak(files.client), waiting.then(() => null)]);
  assert.ok(first !== null, "the request was held before caches were broken");
  assert.equal(await giveUp(files.client, key, first.to), 0);
  await waiting;
  assert.equal(await textOf(share), "old");
  await barrier.release();
  await held;
  assert.equal(await textOf(share), "new");
});

test("stopping the server lets go SMB clients that rules hold", async (t) => {
  const { lab, server, connect } = await sharing(t);
  const files = await connect();
  const handle = await files.open("doc", OPENING);
  const hold = { service: "smb", operation: "Write", hold: true, at: "commit" } as const;
  const barrier = await lab.rule({ ...hold, timeout: "1h" });
  // Whether its answer comes before the connection ends is a matter of chance.
  const held = files.write(handle, 0, "new").catch(() => {});
  await heldAt(barrier, held);
  await server.stop();
  await held;
});

test("smbclient tells its user the NT status of a rule", {
  skip: skipWithoutSmbclient,
}, async (t) => {
  const { lab, port } = await sharing(t);
  await lab.rule({
    service: "smb",
    operation: "Create",
    object: "doc",
    answer: "STATUS_DELETE_PENDING",
  });
  const get = () => smbclient(port, "//127.0.0.1/box", "-c", "get doc -");
  assert.match((await get()).text, /NT_STATUS_DELETE_PENDING/);
  assert.match((await get()).text, /old/);
});

test("a wrong rule about SMB is refused with what is allowed", async (t) => {
  const { lab } = await served(t);
  const answer = "STATUS_ACCESS_DENIED";
  const refusals: [object, RegExp][] = [
    [
      { service: "smb", answer: 503 },
      /one of STATUS_ACCESS_DENIED, .*STATUS_SHARING_VIOLATION.*not 503/,
    ],
    [{ service: "smb", answer: "STATUS_SUCCESS" }, /one of STATUS_ACCESS_DENIED/],
    [
      { service: "smb", answer: "STATUS_MORE_PROCESSING_REQUIRED" },
      /one of STATUS_ACCESS_DENIED.*not "STATUS_MORE/,
    ],
    [{ service: "smb", answer: "LeaseIdMissing" }, /one of STATUS_ACCESS_DENIED/],
    [{ service: "file", answer }, /one of 409, 412/],
    [{ operation: "Create", answer: 503 }, /Create is an operation over SMB: add "service": "smb"/],
    [
      { service: "smb", operation: "PutBlob", answer },
      /no operation "PutBlob" of smb. There are .*Create/,
    ],
    [{ service: "smb", operation: "SessionSetup", answer }, /no operation "SessionSetup" of smb/],
    [{ service: "smb", method: "GET", answer }, /method is about requests over REST/],
    [{ service: "smb", headers: { a: "b" }, answer }, /headers is about requests over REST/],
    [{ service: "smb", truncate: 1 }, /truncate is about requests over REST/],
    [{ service: "smb", slow: 1 }, /slow is about requests over REST/],
    [{ service: "smb", answer, retryAfter: 1 }, /retryAfter is about requests over REST/],
    [{ service: "smb", answer, at: "commit" }, /at must be one of arrival, answer; not "commit"/],
    [{ service: "smb", drop: true, at: "read" }, /at must be one of arrival, answer; not "read"/],
    [{ service: "smb", answer, account: "nobody" }, /no account "nobody"/],
  ];
  for (const [rule, message] of refusals) await assert.rejects(lab.rule(rule), message);
  assert.deepEqual(await lab.rules(), []);
});
