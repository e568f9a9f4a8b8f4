import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimer } from "../../service/file/manual-timer.fixture.ts";
import { StoreError, type StoreErrorKind } from "../../store/store.ts";
import { COMMAND, FLAG } from "./codec/header.ts";
import { CONTROL } from "./codec/ioctl.ts";
import { DIALECT, type Dialect } from "./codec/negotiate.ts";
import { HEADER_BYTES, Writer } from "./codec/wire.ts";
import { CIPHER, type CipherId } from "./crypto/cipher.ts";
import { SIGNING } from "./crypto/signer.ts";
import { STATUS } from "./nt-status.ts";
import { type DirectLine, EMPTY_BODY, type SmbClient } from "./smb-client.fixture.ts";
import { serverUnderTest, USER } from "./smb-server.fixture.ts";

const DIALECTS = [DIALECT.smb202, DIALECT.smb210, DIALECT.smb300, DIALECT.smb302, DIALECT.smb311];

async function loggedOn(client: SmbClient, dialect: number = DIALECT.smb311): Promise<SmbClient> {
  await client.negotiate({ dialects: [dialect] });
  assert.equal((await client.logOn(USER)).status, STATUS.SUCCESS);
  return client;
}

const hungUp = /closed the connection/;

test("every dialect, signing algorithm and cipher works in a session", async () => {
  const { client, failures } = await serverUnderTest();
  for (const dialect of DIALECTS) {
    const one = await loggedOn(client(), dialect);
    assert.equal(one.dialect, dialect);
    const reply = await one.treeConnect("IPC$");
    assert.equal(reply.status, STATUS.SUCCESS);
    assert.ok((reply.flags & FLAG.signed) !== 0);
  }
  for (const signing of Object.values(SIGNING)) {
    const one = client();
    await one.negotiate({ signings: [signing] });
    await one.logOn(USER);
    assert.equal((await one.treeConnect("BOX")).status, STATUS.SUCCESS);
  }
  for (const cipher of Object.values(CIPHER)) {
    const one = client();
    await one.negotiate({ ciphers: [cipher] });
    await one.logOn(USER);
    const reply = await one.treeConnect("box", { sealed: true });
    assert.equal(reply.status, STATUS.SUCCESS);
    assert.equal(reply.isSealed, true);
  }
  assert.deepEqual(failures, []);
});

test("the best dialect that both sides know is chosen; without one the client is refused", async () => {
  const { client } = await serverUnderTest();
  const old = client();
  await old.negotiate({ dialects: [DIALECT.smb202, DIALECT.smb210] });
  assert.equal(old.dialect, DIALECT.smb210);
  assert.equal((await client().negotiate({ dialects: [0x0999] })).status, STATUS.NOT_SUPPORTED);
  const none = await client().negotiate({ dialects: [] });
  assert.equal(none.status, STATUS.INVALID_PARAMETER);
});

test("dialects below the lowest allowed one are refused by name, others accepted", async () => {
  const { client } = await serverUnderTest({ dialectMin: DIALECT.smb300 });
  for (const dialects of [[DIALECT.smb202], [DIALECT.smb210], [DIALECT.smb202, DIALECT.smb210]]) {
    assert.equal((await client().negotiate({ dialects })).status, STATUS.NOT_SUPPORTED);
  }
  for (const dialect of [DIALECT.smb300, DIALECT.smb302, DIALECT.smb311]) {
    const one = client();
    await one.negotiate({ dialects: [DIALECT.smb202, DIALECT.smb210, dialect] });
    assert.equal(one.dialect, dialect);
  }
});

test("an SMB1 negotiation leads to the dialect that it names, unless that is too low", async () => {
  const ask = async (dialectMin: Dialect, words: string) => {
    const { client } = await serverUnderTest({ dialectMin });
    const { line } = client();
    line.send(smb1Negotiate(words));
    const answer = await line.next();
    return answer === null ? null : answer.readUInt16LE(HEADER_BYTES + 4);
  };
  assert.equal(await ask(DIALECT.smb202, "SMB 2.002"), DIALECT.smb202);
  assert.equal(await ask(DIALECT.smb300, "SMB 2.002"), null);
  assert.equal(await ask(DIALECT.smb300, "SMB 2.???"), DIALECT.smb2Any);
});

function smb1Negotiate(words: string): Buffer {
  const dialects = Buffer.from(`\x02NT LM 0.12\0\x02${words}\0`, "latin1");
  const head = Buffer.alloc(32 + 3);
  head.write("\xffSMB\x72", "latin1");
  head.writeUInt16LE(dialects.length, 33);
  return Buffer.concat([head, dialects]);
}

test("a client that negotiates twice, or sends something before, is disconnected", async () => {
  const { client } = await serverUnderTest();
  const twice = client();
  await twice.negotiate();
  await assert.rejects(twice.negotiate(), hungUp);
  await assert.rejects(client().call(COMMAND.echo, EMPTY_BODY), hungUp);
});

test("a changed answer to NEGOTIATE ends the session in 3.1.1", async () => {
  const { client } = await serverUnderTest();
  const one = client();
  const { line } = one;
  const next = line.next.bind(line);
  line.next = async () => {
    const frame = await next();
    line.next = next;
    // Pretends that signing is not enabled.
    if (frame !== null) frame[HEADER_BYTES + 2] = 0;
    return frame;
  };
  await one.negotiate();
  await assert.rejects(one.logOn(USER), /changed on the way/);
  assert.equal((await one.treeConnect("box")).status, STATUS.ACCESS_DENIED);
});

test("in 3.1.1 a tree is connected only with a signature", async () => {
  const { client } = await serverUnderTest();
  const newest = await loggedOn(client());
  await assert.rejects(newest.treeConnect("box", {}), hungUp);
  const older = await loggedOn(client(), DIALECT.smb302);
  assert.equal((await older.treeConnect("box", {})).status, STATUS.SUCCESS);
});

test("a client can validate NEGOTIATE, and is disconnected if it got something else", async () => {
  const { client } = await serverUnderTest();
  const ask = (one: SmbClient, capabilities: number) => {
    const input = new Writer().u32(capabilities).zeros(16).u16(1).u16(1).u16(DIALECT.smb300).done();
    const none = Buffer.alloc(16, 0xff);
    const head = new Writer().u16(57).u16(0).u32(CONTROL.validateNegotiate).bytes(none);
    head.u32(120).u32(input.length).zeros(12).u32(24).u32(1).u32(0).bytes(input);
    return one.call(COMMAND.ioctl, head.done(), { signed: true });
  };
  const one = await loggedOn(client(), DIALECT.smb300);
  await one.treeConnect("IPC$");
  const reply = await ask(one, one.stated.capabilities);
  assert.equal(reply.status, STATUS.SUCCESS);
  assert.equal(reply.bytes.readUInt16LE(HEADER_BYTES + 48 + 22), DIALECT.smb300);
  await assert.rejects(ask(one, 0), hungUp);
});

test("a request with a wrong signature is refused, and has no effect", async () => {
  const { client } = await serverUnderTest();
  const one = await loggedOn(client());
  const frame = one.frame(COMMAND.logoff, EMPTY_BODY, { signed: true });
  frame[50] = (frame[50] as number) ^ 1;
  one.line.send(frame);
  assert.equal((await one.receive()).status, STATUS.ACCESS_DENIED);
  assert.equal((await one.treeConnect("box")).status, STATUS.SUCCESS);
});

test("if signing is required, unsigned requests are refused", async () => {
  const { client } = await serverUnderTest({ signingRequired: true });
  const one = await loggedOn(client(), DIALECT.smb210);
  assert.equal((await one.treeConnect("box", {})).status, STATUS.ACCESS_DENIED);
  assert.equal((await one.treeConnect("box")).status, STATUS.SUCCESS);
});

test("if encryption is required, plain requests and old dialects are refused", async () => {
  const { client } = await serverUnderTest({ encryption: "required" });
  const one = client();
  await one.negotiate();
  const reply = await one.logOn(USER);
  assert.equal(reply.bytes.readUInt16LE(HEADER_BYTES + 2), 4);
  assert.equal((await one.treeConnect("box")).status, STATUS.ACCESS_DENIED);
  assert.equal((await one.treeConnect("box", { sealed: true })).status, STATUS.SUCCESS);
  for (const dialect of [DIALECT.smb202, DIALECT.smb210]) {
    const old = client();
    await old.negotiate({ dialects: [dialect] });
    assert.equal((await old.logOn(USER)).status, STATUS.ACCESS_DENIED);
  }
  const without = client();
  await without.negotiate({ dialects: [DIALECT.smb300], capabilities: 0 });
  assert.equal((await without.logOn(USER)).status, STATUS.ACCESS_DENIED);
});

test("the client's first known cipher is chosen", async () => {
  const { client } = await serverUnderTest();
  const unknown = 99 as CipherId;
  for (const [first, second] of [
    [CIPHER.aes128Gcm, CIPHER.aes256Gcm],
    [CIPHER.aes256Gcm, CIPHER.aes128Gcm],
  ] as const) {
    const one = client();
    await one.negotiate({ ciphers: [unknown, first, second] });
    assert.equal(one.cipher, first);
  }
});

test("if encryption is off, no cipher is negotiated", async () => {
  const { client } = await serverUnderTest({ encryption: "off" });
  const one = client();
  const reply = await one.negotiate({ dialects: [DIALECT.smb300] });
  assert.equal(reply.bytes.readUInt32LE(HEADER_BYTES + 24) & 0x40, 0);
  await one.logOn(USER);
  await assert.rejects(one.treeConnect("box", { sealed: true }), hungUp);
});

test("an encrypted frame that was changed, or is of another session, disconnects the client", async () => {
  const { client } = await serverUnderTest();
  const one = await loggedOn(client());
  const frame = one.frame(COMMAND.echo, EMPTY_BODY, { sealed: true });
  frame[frame.length - 1] = (frame.at(-1) as number) ^ 1;
  one.line.send(frame);
  await assert.rejects(one.receive(), hungUp);
  const other = await loggedOn(client());
  const foreign = other.call(COMMAND.logoff, EMPTY_BODY, { sealed: true, sessionId: 1 });
  await assert.rejects(foreign, hungUp);
});

test("a wrong key is refused", async () => {
  const { client, server } = await serverUnderTest();
  const one = client();
  await one.negotiate();
  const reply = await one.logOn({ ...USER, password: "d3Jvbmc=" });
  assert.equal(reply.status, STATUS.LOGON_FAILURE);
  assert.equal(server.sessions.size, 0);
});

test("failed log-ons are logged with address and account, and delayed after several", async () => {
  const timer = new ManualTimer();
  const { client, warnings, server } = await serverUnderTest({ timer });
  const guess = async (address: string) => {
    const one = client(address);
    await one.negotiate();
    return await one.logOn({ ...USER, password: "d3Jvbmc=" });
  };
  for (let time = 0; time < 4; time++) {
    assert.equal((await guess("10.0.0.1")).status, STATUS.LOGON_FAILURE);
  }
  const fifth = guess("10.0.0.1");
  while (timer.running === 0) await new Promise((resolve) => setImmediate(resolve));
  const right = client("10.0.0.1");
  await right.negotiate();
  assert.equal((await right.logOn(USER)).status, STATUS.SUCCESS);
  assert.equal((await guess("10.0.0.2")).status, STATUS.LOGON_FAILURE);
  timer.pass(1_000);
  assert.equal((await fifth).status, STATUS.LOGON_FAILURE);
  assert.equal(server.sessions.size, 1);
  assert.match(
    warnings[0] as string,
    /account "account" at 10\.0\.0\.1: wrong account or key \(1 in/,
  );
  assert.match(warnings[4] as string, /\(5 in a row, answered after 1000 ms\)/);
  assert.equal(warnings.length, 6);
});

test("a client that disconnects while its failure is delayed leaves nothing behind", async () => {
  const timer = new ManualTimer();
  const limits = { delayMs: () => 60_000 };
  const { client, server, failures } = await serverUnderTest({ timer, logonLimits: limits });
  const one = client();
  await one.negotiate();
  const reply = one.logOn({ ...USER, password: "d3Jvbmc=" });
  while (timer.running === 0) await new Promise((resolve) => setImmediate(resolve));
  await (one.line as DirectLine).end();
  await assert.rejects(reply, hungUp);
  assert.equal(server.sessions.size, 0);
  assert.deepEqual(failures, []);
});

test("a session ends with LOGOFF, with its connection, and when its client reconnects", async () => {
  const { client, server } = await serverUnderTest();
  const one = await loggedOn(client());
  assert.equal((await one.call(COMMAND.logoff, EMPTY_BODY, { signed: true })).status, 0);
  const after = await one.call(COMMAND.logoff, EMPTY_BODY, { signed: true });
  assert.equal(after.status, STATUS.USER_SESSION_DELETED);
  const lost = await loggedOn(client());
  const back = client();
  await back.negotiate();
  await back.logOn(USER, lost.sessionId);
  assert.deepEqual([...server.sessions.keys()], [back.sessionId]);
  back.line.close();
  assert.equal(server.sessions.size, 0);
});

test("a client may log on again in its session, and its keys and trees stay", async () => {
  const { client } = await serverUnderTest();
  const one = await loggedOn(client());
  await one.treeConnect("box");
  const again = await one.logOn(USER);
  assert.equal(again.status, STATUS.SUCCESS);
  assert.equal(again.sessionId, one.sessionId);
  const off = await one.call(COMMAND.treeDisconnect, EMPTY_BODY, { signed: true });
  assert.equal(off.status, STATUS.SUCCESS);
});

test("a second connection for one session is refused by name", async () => {
  const { client } = await serverUnderTest();
  const one = await loggedOn(client());
  const body = new Writer().u16(25).u8(1).u8(1).zeros(8).u16(88).u16(1).u64(0).u8(0).done();
  const reply = await one.call(COMMAND.sessionSetup, body, { signed: true });
  assert.equal(reply.status, STATUS.REQUEST_NOT_ACCEPTED);
});

test("unknown shares, trees, commands and files are refused", async () => {
  const { client } = await serverUnderTest();
  const one = await loggedOn(client());
  assert.equal((await one.treeConnect("nope")).status, STATUS.BAD_NETWORK_NAME);
  const noTree = await one.call(COMMAND.treeDisconnect, EMPTY_BODY, { treeId: 99 });
  assert.equal(noTree.status, STATUS.NETWORK_NAME_DELETED);
  assert.equal((await one.call(99, EMPTY_BODY)).status, STATUS.INVALID_PARAMETER);
  await one.treeConnect("IPC$");
  const close = new Writer().u16(24).zeros(6).u64(1).u64(1).done();
  assert.equal((await one.call(COMMAND.close, close)).status, STATUS.FILE_CLOSED);
});

test("a message id is used once, and only if it was granted", async () => {
  const { client } = await serverUnderTest();
  const one = await loggedOn(client());
  await assert.rejects(one.call(COMMAND.echo, EMPTY_BODY, { messageId: 0 }), hungUp);
  const two = await loggedOn(client());
  await assert.rejects(two.call(COMMAND.echo, EMPTY_BODY, { messageId: 9_000 }), hungUp);
});

test("the responses of a compound come in one frame, in order, each signed", async () => {
  const { client } = await serverUnderTest();
  const one = await loggedOn(client());
  const signed = { signed: true };
  one.line.send(
    one.compound([
      [COMMAND.echo, EMPTY_BODY, signed],
      [99, EMPTY_BODY, signed],
      [COMMAND.logoff, EMPTY_BODY, signed],
    ]),
  );
  const frame = (await one.line.next()) as Buffer;
  const statuses: number[] = [];
  for (let rest = frame; ; ) {
    const next = rest.readUInt32LE(20);
    const reply = one.read(next === 0 ? rest : rest.subarray(0, next), false);
    if (statuses.length !== 1) assert.ok((reply.flags & FLAG.signed) !== 0);
    statuses.push(reply.status);
    if (next === 0) break;
    assert.equal(next % 8, 0);
    rest = rest.subarray(next);
  }
  assert.deepEqual(statuses, [STATUS.SUCCESS, STATUS.INVALID_PARAMETER, STATUS.SUCCESS]);
});

test("a related request takes session and tree from the one before it, and needs one", async () => {
  const { client } = await serverUnderTest();
  const one = await loggedOn(client());
  await one.treeConnect("IPC$");
  const alone = await one.call(COMMAND.treeDisconnect, EMPTY_BODY, { related: true });
  assert.equal(alone.status, STATUS.INVALID_PARAMETER);
  const nothing = { related: true, sessionId: 2 ** 50, treeId: 77 };
  one.line.send(
    one.compound([
      [COMMAND.echo, EMPTY_BODY],
      [COMMAND.treeDisconnect, EMPTY_BODY, nothing],
    ]),
  );
  const frame = (await one.line.next()) as Buffer;
  const second = frame.subarray(frame.readUInt32LE(20));
  assert.equal(one.read(second, false).status, STATUS.SUCCESS);
});

test("a frame with too many requests, or cut in the middle, disconnects the client", async () => {
  const { client } = await serverUnderTest({ limits: { compoundMax: 3 } });
  const one = await loggedOn(client());
  one.line.send(one.compound(Array(4).fill([COMMAND.echo, EMPTY_BODY])));
  await assert.rejects(one.receive(), hungUp);
  for (const damage of [
    (frame: Buffer) => frame.subarray(0, 70),
    (frame: Buffer) => frame.fill(0xff, 20, 24),
    (frame: Buffer) => frame.fill(7, 20, 21),
  ]) {
    const two = await loggedOn(client());
    const frame = two.compound(Array(2).fill([COMMAND.echo, EMPTY_BODY]));
    two.line.send(damage(frame));
    await assert.rejects(two.receive(), hungUp);
  }
});

test("the status tells a client whether it may try again after the store failed", async () => {
  let failure: StoreError | null = null;
  const { client, failures } = await serverUnderTest({ failure: () => failure });
  const one = await loggedOn(client());
  const cases: [StoreErrorKind, number][] = [
    ["unreachable", STATUS.SERVER_UNAVAILABLE],
    ["broken", STATUS.SERVER_UNAVAILABLE],
    ["full", STATUS.DISK_FULL],
    ["unknown", STATUS.INTERNAL_ERROR],
    ["damaged", STATUS.INTERNAL_ERROR],
  ];
  for (const [kind, status] of cases) {
    failure = new StoreError(kind, "a detail");
    assert.equal((await one.treeConnect("box")).status, status, kind);
    assert.equal(failures.pop(), failure);
  }
  failure = null;
  assert.equal((await one.treeConnect("box")).status, STATUS.SUCCESS);
});

test("the numbers of sessions and trees are limited", async () => {
  const limits = { sessionsPerConnectionMax: 1, treesPerSessionMax: 1 };
  const { client } = await serverUnderTest({ limits });
  const one = await loggedOn(client());
  assert.equal((await one.treeConnect("box")).status, STATUS.SUCCESS);
  assert.equal((await one.treeConnect("docs")).status, STATUS.INSUFFICIENT_RESOURCES);
  one.sessionId = 0;
  assert.equal((await one.logOn(USER)).status, STATUS.INSUFFICIENT_RESOURCES);
});

test("a log-on is judged by the accounts at its end, not at its beginning", async () => {
  const { client, server } = await serverUnderTest();
  const one = client();
  await one.negotiate({});
  const line = one.line as DirectLine;
  // The second message of the log-on is sent after the account is gone.
  const send = line.send.bind(line);
  let sent = 0;
  line.send = (frame) => {
    if (++sent === 2) server.useAccounts(new Map());
    send(frame);
  };
  assert.equal((await one.logOn(USER)).status, STATUS.LOGON_FAILURE);
});
