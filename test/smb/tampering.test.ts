import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { COMMAND, readHeader } from "../../src/front/smb/codec/header.ts";
import { isTransform, readTransform } from "../../src/front/smb/codec/transform.ts";
import { HEADER_BYTES } from "../../src/front/smb/codec/wire.ts";
import { EMPTY_BODY, SmbClient, TcpLine } from "../../src/front/smb/smb-client.fixture.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { startSmb } from "./server.ts";
import { skipWithoutSmbclient, smbclient } from "./smbclient.ts";
import { startProxy, type Tamper } from "./tamper.ts";

const skip = skipWithoutSmbclient;
const LIST = "-L //127.0.0.1";

async function between(t: TestContext, tamper: Tamper): Promise<number> {
  const smb = await startSmb();
  const proxy = await startProxy(smb.port, tamper);
  t.after(async () => {
    await proxy.close();
    await smb.close();
    assert.deepEqual(smb.failures, []);
  });
  return proxy.port;
}

const isOf = (frame: Buffer, command: number) => readHeader(frame)?.command === command;

/** Changes one frame of a command, and counts the changes. */
function changing(from: "client" | "server", command: number, change: (frame: Buffer) => void) {
  const done = { count: 0 };
  const tamper: Tamper = (frame, side) => {
    if (side !== from || !isOf(frame, command) || done.count > 0) return frame;
    done.count++;
    change(frame);
    return frame;
  };
  return { tamper, done };
}

test("a proxy that changes nothing goes unnoticed", { skip }, async (t) => {
  const port = await between(t, (frame) => frame);
  assert.match((await smbclient(port, LIST)).text, /box/);
});

/** Downgrades that an attacker might try, at these offsets of NEGOTIATE. */
const CHANGES: readonly [what: string, side: "client" | "server", at: number, to: number][] = [
  ["signing is not even enabled, says the answer", "server", 2, 0],
  ["the server is another one", "server", 8, 0x55],
  ["the server can do less", "server", 24, 0],
  ["the client demands no signing", "client", 4, 0],
  ["the client is another one", "client", 12, 0x55],
];

for (const [what, side, at, to] of CHANGES) {
  test(`3.1.1: no session is established if ${what}`, { skip }, async (t) => {
    const { tamper, done } = changing(side, COMMAND.negotiate, (frame) => {
      const old = frame[HEADER_BYTES + at] as number;
      frame[HEADER_BYTES + at] = old === to ? old ^ 0xff : to;
    });
    const port = await between(t, tamper);
    const { code, text } = await smbclient(port, LIST, "-m", "SMB3_11");
    assert.equal(done.count, 1);
    assert.notEqual(code, 0, text);
    assert.doesNotMatch(text, /Disk/);
  });
}

test("3.0: a client that was downgraded to an older dialect notices", { skip }, async (t) => {
  const { tamper, done } = changing("client", COMMAND.negotiate, (frame) => {
    const count = frame.readUInt16LE(HEADER_BYTES + 2);
    for (let index = 0; index < count; index++) {
      const at = HEADER_BYTES + 36 + index * 2;
      if (frame.readUInt16LE(at) >= 0x0300) frame.writeUInt16LE(0x0210, at);
    }
  });
  const port = await between(t, tamper);
  const { code, text } = await smbclient(port, LIST, "-m", "SMB3_02");
  assert.equal(done.count, 1);
  assert.notEqual(code, 0, text);
  assert.doesNotMatch(text, /Disk/);
});

/** The start of CHALLENGE and AUTHENTICATE in a frame. */
const NTLM = Buffer.from("NTLMSSP\0", "latin1");
const MIC_AT = 72;
const MIC_BYTES = 16;
/** The id of the time in target info, and its length of 8 bytes. */
const TIME = Buffer.from([7, 0, 8, 0]);

for (const dialect of ["SMB3_00", "SMB3_02", "SMB3_11"]) {
  test(`${dialect}: a log-on whose MIC was removed on the way is refused`, { skip }, async (t) => {
    const done = { count: 0 };
    const port = await between(t, (frame, side) => {
      const at = frame.indexOf(NTLM);
      const isLast = at >= 0 && frame.readUInt32LE(at + 8) === 3;
      if (side !== "client" || !isLast) return frame;
      done.count++;
      assert.notDeepEqual(frame.subarray(at + MIC_AT, at + MIC_AT + MIC_BYTES), Buffer.alloc(16));
      return frame.fill(0, at + MIC_AT, at + MIC_AT + MIC_BYTES);
    });
    assert.match((await smbclient(port, LIST, "-m", dialect)).text, /LOGON_FAILURE/);
    assert.equal(done.count, 1);
  });

  test(`${dialect}: a log-on with other target info than was sent is refused`, {
    skip,
  }, async (t) => {
    const done = { count: 0 };
    const port = await between(t, (frame, side) => {
      const at = frame.indexOf(NTLM);
      const isChallenge = at >= 0 && frame.readUInt32LE(at + 8) === 2;
      if (side !== "server" || !isChallenge) return frame;
      done.count++;
      // Under another id it is no time, and clients without a time send no MIC.
      frame.writeUInt16LE(0x77, frame.indexOf(TIME, at));
      return frame;
    });
    assert.match((await smbclient(port, LIST, "-m", dialect)).text, /LOGON_FAILURE/);
    assert.equal(done.count, 1);
  });
}

test("a signed request that is changed does nothing, and a changed answer is not accepted", {
  skip,
}, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-tamper-"));
  t.after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "up"), "hello");
  for (const side of ["client", "server"] as const) {
    const { tamper, done } = changing(side, COMMAND.write, (frame) => {
      const last = frame.length - 1;
      frame[last] = (frame[last] as number) ^ 1;
    });
    const port = await between(t, tamper);
    const command = ["--client-protection=sign", "-c", `lcd ${folder}; put up there`];
    const { code, text } = await smbclient(port, "//127.0.0.1/box", ...command);
    assert.equal(done.count, 1);
    assert.match(`${code} ${text}`, /ACCESS_DENIED|DISCONNECTED|INVALID|^[^0]/);
    if (side === "server") continue;
    const { text: listed } = await smbclient(port, "//127.0.0.1/box", "-c", "ls");
    assert.match(listed, /there\s+A\s+0 /);
  }
});

test("no nonce is used twice, within a session or across sessions", { skip }, async (t) => {
  const nonces = { client: [] as string[], server: [] as string[] };
  const port = await between(t, (frame, from) => {
    if (isTransform(frame)) nonces[from].push(readTransform(frame)?.nonce.toString("hex") ?? "");
    return frame;
  });
  for (const dialect of ["SMB3_11", "SMB3_11", "SMB3_00"]) {
    await smbclient(port, LIST, "-m", dialect, "--client-protection=encrypt");
  }
  assert.ok(nonces.server.length > 10);
  assert.equal(new Set(nonces.server).size, nonces.server.length);
});

test("a replayed encrypted request is not executed", async (t) => {
  const port = await between(t, (frame) => frame);
  const client = new SmbClient(await TcpLine.open(port));
  await client.negotiate();
  await client.logOn({ user: ACCOUNT, domain: "", password: KEY });
  const frame = client.frame(COMMAND.echo, EMPTY_BODY, { sealed: true });
  client.line.send(frame);
  assert.equal((await client.receive()).status, 0);
  client.line.send(frame);
  assert.equal(await client.line.next(), null);
});
