import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../../../base/bytes.ts";
import { HandClock } from "../../../base/clock.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { Authentication, type AuthenticationStep } from "./authentication.ts";
import { readElement } from "./der.ts";
import {
  initToken,
  mechanismList,
  NtlmClient,
  type NtlmUser,
  ntlmIn,
  responseToken,
} from "./ntlm-client.fixture.ts";
import { firstSignature, hmacMd5, passwordHash, userKey } from "./ntlm-keys.ts";
import { NTLM_FLAG } from "./ntlm-messages.ts";
import { readClientToken, serverHint } from "./spnego.ts";

const KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const SECOND_KEY = "c2Vjb25k";
const USER: NtlmUser = { user: "account", domain: "AZURE", password: KEY };

function authentication(): Authentication {
  const passwordHashes = [KEY, SECOND_KEY].map(passwordHash);
  const accounts = new Map([["account", { name: "account", passwordHashes }]]);
  return new Authentication(accounts, "LAZULI", new HandClock(Date.UTC(2026, 0, 1)));
}

function logOn(client: NtlmClient, server = authentication()): AuthenticationStep {
  const list = mechanismList();
  const first = server.step(initToken(list, client.negotiate()));
  assert.equal(first.kind, "more");
  return server.step(responseToken(client.authenticate(ntlmIn(first.token)), client.listMic(list)));
}

const refusedWith = (status: number) => (error: unknown) =>
  error instanceof StatusError && error.status === status;

test("the keys of NTLMv2 are those of its published example", () => {
  const hex = (text: string) => Buffer.from(text, "hex");
  const key = userKey(passwordHash("Password"), "User", "Domain");
  assert.equal(key.toString("hex"), "0c868a403bfd7a93a3001ef22ef02e3f");
  const info = hex(
    "02000c0044006f006d00610069006e0001000c005300650072007600650072000000000000000000",
  );
  const answer = Buffer.concat([
    hex("01010000000000000000000000000000aaaaaaaaaaaaaaaa00000000"),
    info,
  ]);
  const proof = hmacMd5(key, hex("0123456789abcdef"), answer);
  assert.equal(proof.toString("hex"), "68cd0ab851e51c96aabc927bebef6a1c");
  assert.equal(hmacMd5(key, proof).toString("hex"), "8de40ccadbc14a82f15cb0ad0de95ca3");
});

test("a client with either key is let in, whatever domain and case it writes", () => {
  for (const user of [
    USER,
    { ...USER, domain: "" },
    { ...USER, user: "ACCOUNT", domain: "localhost" },
    { ...USER, password: SECOND_KEY },
  ]) {
    const client = new NtlmClient(user);
    const done = logOn(client);
    assert.equal(done.kind, "done");
    assert.equal(done.account, "account");
    assert.deepEqual(done.sessionKey, client.sessionKey);
  }
});

test("bare NTLM is understood, and answered in kind", () => {
  const client = new NtlmClient(USER);
  const server = authentication();
  const first = server.step(client.negotiate());
  assert.equal(first.token.subarray(0, 7).toString(), "NTLMSSP");
  const done = server.step(client.authenticate(first.token));
  assert.equal(done.kind, "done");
  assert.equal(done.token.length, 0);
});

test("a client without key exchange or without a code is let in with the key both know", () => {
  const client = new NtlmClient(USER);
  client.flags &= ~NTLM_FLAG.keyExchange;
  client.withMic = false;
  const server = authentication();
  const first = server.step(initToken(mechanismList(), client.negotiate()));
  const done = server.step(responseToken(client.authenticate(ntlmIn(first.token))));
  assert.deepEqual(done.kind === "done" && done.sessionKey, client.sessionKey);
});

test("a wrong key and a wrong name are refused alike", () => {
  for (const user of [
    { ...USER, password: "wrong" },
    { ...USER, user: "nobody" },
    { ...USER, user: "" },
  ]) {
    assert.throws(() => logOn(new NtlmClient(user)), refusedWith(STATUS.LOGON_FAILURE));
  }
});

test("whoever changes a message on the way is found out", () => {
  const client = new NtlmClient(USER);
  client.tampered = true;
  assert.throws(() => logOn(client), refusedWith(STATUS.LOGON_FAILURE));
});

test("whoever changes the list of mechanisms on the way is found out", () => {
  const client = new NtlmClient(USER);
  const server = authentication();
  const first = server.step(initToken(mechanismList(), client.negotiate()));
  const last = client.authenticate(ntlmIn(first.token));
  const mic = client.listMic(mechanismList(true));
  assert.throws(() => server.step(responseToken(last, mic)), refusedWith(STATUS.LOGON_FAILURE));
});

test("a client that would rather have Kerberos is told to use NTLM, and must sign the list", () => {
  const list = mechanismList(true);
  const begin = (client: NtlmClient) => {
    const server = authentication();
    assert.equal(server.step(initToken(list, Buffer.from("a ticket"))).kind, "more");
    const first = server.step(responseToken(client.negotiate()));
    return { server, last: client.authenticate(ntlmIn(first.token)) };
  };
  const client = new NtlmClient(USER);
  const { server, last } = begin(client);
  const done = server.step(responseToken(last, client.listMic(list)));
  assert.equal(done.kind, "done");
  const answer = firstSignature(client.sessionKey, "server-to-client", true, list);
  assert.ok(done.token.includes(answer));
  const unsigned = begin(new NtlmClient(USER));
  assert.throws(
    () => unsigned.server.step(responseToken(unsigned.last)),
    refusedWith(STATUS.LOGON_FAILURE),
  );
});

test("NTLMv1 and anonymous clients are refused", () => {
  const cut = (change: (message: Bytes) => void) => {
    const client = new NtlmClient(USER);
    const server = authentication();
    const first = server.step(client.negotiate());
    const message = client.authenticate(first.token);
    change(message);
    server.step(message);
  };
  const oldAnswer = (message: Bytes) => message.writeUInt16LE(24, 20);
  assert.throws(() => cut(oldAnswer), refusedWith(STATUS.LOGON_FAILURE));
  const nobody = (message: Bytes) => {
    message.writeUInt16LE(0, 20);
    message.writeUInt16LE(0, 36);
  };
  assert.throws(() => cut(nobody), refusedWith(STATUS.ACCESS_DENIED));
  const client = new NtlmClient(USER);
  client.flags &= ~NTLM_FLAG.extendedSecurity;
  assert.throws(() => authentication().step(client.negotiate()), refusedWith(STATUS.LOGON_FAILURE));
});

test("what makes no sense is refused, wherever it is cut or changed", () => {
  const client = new NtlmClient(USER);
  const token = initToken(mechanismList(), client.negotiate());
  const first = authentication().step(token);
  const last = responseToken(client.authenticate(ntlmIn(first.token)));
  for (const whole of [token, last]) {
    for (let length = 0; length < whole.length; length++) {
      const cut = whole.subarray(0, length);
      assert.throws(() => authentication().step(cut), StatusError, `${length} of ${whole.length}`);
    }
  }
  const server = authentication();
  server.step(token);
  for (let at = 0; at < last.length; at++) {
    const changed = Buffer.from(last);
    changed[at] = (changed[at] as number) ^ 0xff;
    try {
      server.step(changed);
    } catch (error) {
      assert.ok(error instanceof StatusError, `${at}: ${error}`);
    }
  }
});

test("the hint in NEGOTIATE offers NTLM and nothing else", () => {
  const hint = serverHint();
  assert.deepEqual(readElement(hint).whole, hint);
  const read = readClientToken(hint);
  assert.equal(read.kind === "init" && read.mechanisms.length, 1);
});
