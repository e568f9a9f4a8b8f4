import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { DIALECT } from "../../src/front/smb/codec/negotiate.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { startSmb, type TestSmb, type TestSmbOptions } from "./server.ts";
import { setting, skipWithoutSmbclient, smbclient } from "./smbclient.ts";

const skip = skipWithoutSmbclient;
const LIST = "-L //127.0.0.1";
const DIALECTS = ["SMB2_02", "SMB2_10", "SMB3_00", "SMB3_02", "SMB3_11"];

async function started(t: TestContext, options: TestSmbOptions = {}): Promise<TestSmb> {
  const smb = await startSmb({ shares: ["box", "docs"], ...options });
  t.after(async () => {
    await smb.close();
    assert.deepEqual(smb.failures, []);
  });
  return smb;
}

async function listed(port: number, ...args: string[]): Promise<string[]> {
  const { text } = await smbclient(port, LIST, "-g", ...args);
  return [...text.matchAll(/^(?:Disk|IPC)\|([^|]+)\|/gm)].map(([, name]) => name as string);
}

test("smbclient lists the shares in every dialect, signed and encrypted", { skip }, async (t) => {
  const { port } = await started(t);
  for (const dialect of DIALECTS) {
    const shares = await listed(port, "-m", dialect, "--client-protection=sign");
    assert.deepEqual(shares, ["box", "docs", "IPC$"], dialect);
  }
  for (const dialect of DIALECTS.slice(2)) {
    const shares = await listed(port, "-m", dialect, "--client-protection=encrypt");
    assert.deepEqual(shares, ["box", "docs", "IPC$"], dialect);
  }
});

test("every algorithm that smbclient knows can be negotiated", { skip }, async (t) => {
  const { port } = await started(t);
  for (const one of ["aes-128-gmac", "aes-128-cmac", "hmac-sha-256"]) {
    const algorithm = setting("client smb3 signing algorithms", one);
    assert.equal((await listed(port, "--client-protection=sign", algorithm)).length, 3, one);
  }
  for (const one of ["aes-128-gcm", "aes-128-ccm", "aes-256-gcm", "aes-256-ccm"]) {
    const algorithm = setting("client smb3 encryption algorithms", one);
    assert.equal((await listed(port, "--client-protection=encrypt", algorithm)).length, 3, one);
  }
});

test("any domain is accepted", { skip }, async (t) => {
  const { port } = await started(t);
  for (const user of [`AZURE/${ACCOUNT}`, `localhost/${ACCOUNT}`, ACCOUNT.toUpperCase()]) {
    assert.equal((await listed(port, "-U", `${user}%${KEY}`)).length, 3, user);
  }
});

test("SMB1 negotiates SMB2, or fails", { skip }, async (t) => {
  const { port } = await started(t);
  const old = setting("client min protocol", "NT1");
  assert.equal((await listed(port, old)).length, 3);
  const { code } = await smbclient(port, LIST, old, "-m", "NT1");
  assert.notEqual(code, 0);
});

test("wrong keys, unknown accounts, guests and NTLMv1 are refused", { skip }, async (t) => {
  const { port } = await started(t);
  const refused = async (...args: string[]) => (await smbclient(port, LIST, ...args)).text;
  assert.match(await refused("-U", `${ACCOUNT}%wrong`), /LOGON_FAILURE/);
  assert.match(await refused("-U", `stranger%${KEY}`), /LOGON_FAILURE/);
  assert.match(await refused("-U", "guest%"), /LOGON_FAILURE/);
  assert.match(await refused("-N"), /ACCESS_DENIED/);
  assert.match(await refused(setting("client ntlmv2 auth", "no")), /LOGON_FAILURE/);
});

test("if encryption is required, 2.1 is refused and 3 is encrypted", { skip }, async (t) => {
  const { port } = await started(t, { encryption: "required", signingRequired: true });
  assert.match((await smbclient(port, LIST, "-m", "SMB2_10")).text, /ACCESS_DENIED/);
  assert.equal((await listed(port)).length, 3);
  assert.equal((await listed(port, "-m", "SMB3_00")).length, 3);
});

test("dialects below the lowest permitted one are refused", { skip }, async (t) => {
  const { port } = await started(t, { dialectMin: DIALECT.smb300 });
  for (const dialect of ["SMB2_02", "SMB2_10"]) {
    const { code, text } = await smbclient(port, LIST, "-m", dialect);
    assert.notEqual(code, 0);
    assert.match(text, /negotiation .*failed|NOT_SUPPORTED/);
  }
  for (const dialect of ["SMB3_00", "SMB3_02", "SMB3_11"]) {
    assert.equal((await listed(port, "-m", dialect)).length, 3, dialect);
  }
  // Clients that offer everything, from SMB1 and from 2.1 on.
  assert.equal((await listed(port, setting("client min protocol", "NT1"))).length, 3);
});

test("failed log-ons are logged with address and account, and never with a key", {
  skip,
}, async (t) => {
  const { port, warnings } = await started(t);
  await smbclient(port, LIST, "-U", `${ACCOUNT}%d3Jvbmcga2V5`);
  await smbclient(port, LIST, "-U", `stranger%${KEY}`);
  await smbclient(port, LIST, "-N");
  const log = warnings.join("\n");
  assert.match(log, new RegExp(`account "${ACCOUNT}" at 127\\.0\\.0\\.1: wrong account or key`));
  assert.match(log, /account "stranger" at 127\.0\.0\.1: wrong account or key/);
  assert.match(log, /account "" at 127\.0\.0\.1: anonymous/);
  for (const secret of ["d3Jvbmcga2V5", KEY]) assert.ok(!log.includes(secret));
});

test("if encryption is off, a client that requires it is refused", { skip }, async (t) => {
  const { port } = await started(t, { encryption: "off" });
  const { text } = await smbclient(port, LIST, "--client-protection=encrypt");
  assert.match(text, /[Ee]ncryption required/);
  assert.equal((await listed(port)).length, 3);
});

test("a share that does not exist is refused by name", { skip }, async (t) => {
  const { port } = await started(t);
  const { text } = await smbclient(port, "//127.0.0.1/nope", "-c", "ls");
  assert.match(text, /BAD_NETWORK_NAME/);
});
