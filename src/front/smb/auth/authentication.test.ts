import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import type { Bytes } from "../../../base/bytes.ts";
import { ManualClock } from "../../../base/clock.ts";
import {
  initToken,
  mechanismList,
  type NtlmUser,
  ntlmIn,
  responseToken,
} from "../client/ntlm-client.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { Authentication, type AuthenticationDone, LogonRefused } from "./authentication.ts";
import { readElement } from "./der.ts";
import { KERBEROS, NtlmClient } from "./ntlm-client.fixture.ts";
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
  return new Authentication(
    (name) => accounts.get(name),
    "LAZULI",
    new ManualClock(Date.UTC(2026, 0, 1)),
  );
}

/** Runs a step that is not the last, and returns its token. */
function goOn(server: Authentication, token: Bytes): Bytes {
  const step = server.step(token);
  assert.equal(step.kind, "more");
  return step.token;
}

/** Runs the last step, and checks the client's claim. */
function finish(server: Authentication, token: Bytes): AuthenticationDone {
  const step = server.step(token);
  assert.equal(step.kind, "claim");
  return step.prove();
}

function logOn(client: NtlmClient, server = authentication()): AuthenticationDone {
  const list = mechanismList();
  const first = goOn(server, initToken(list, client.negotiate()));
  return finish(server, responseToken(client.authenticate(ntlmIn(first)), client.listMic(list)));
}

const refusedWith = (status: number) => (error: unknown) =>
  error instanceof StatusError && error.status === status;

test("the keys of NTLMv2 match its published example", () => {
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

test("a client with either key is accepted, whatever domain and case it writes", () => {
  for (const user of [
    USER,
    { ...USER, domain: "" },
    { ...USER, user: "ACCOUNT", domain: "localhost" },
    { ...USER, password: SECOND_KEY },
  ]) {
    const client = new NtlmClient(user);
    const done = logOn(client);
    assert.equal(done.account, "account");
    assert.deepEqual(done.sessionKey, client.sessionKey);
  }
});

test("bare NTLM is accepted, and answered without SPNEGO", () => {
  const client = new NtlmClient(USER);
  const server = authentication();
  const first = goOn(server, client.negotiate());
  assert.equal(first.subarray(0, 7).toString(), "NTLMSSP");
  const done = finish(server, client.authenticate(first));
  assert.equal(done.token.length, 0);
});

test("a client without key exchange or without a MIC is accepted with the key that both know", () => {
  const client = new NtlmClient(USER);
  client.flags &= ~NTLM_FLAG.keyExchange;
  client.withMic = false;
  const server = authentication();
  const first = goOn(server, initToken(mechanismList(), client.negotiate()));
  const done = finish(server, responseToken(client.authenticate(ntlmIn(first))));
  assert.deepEqual(done.sessionKey, client.sessionKey);
});

test("a wrong key and a wrong name get the same refusal", () => {
  for (const user of [
    { ...USER, password: "wrong" },
    { ...USER, user: "nobody" },
    { ...USER, user: "" },
  ]) {
    assert.throws(() => logOn(new NtlmClient(user)), refusedWith(STATUS.LOGON_FAILURE));
  }
});

test("a message changed on the way is found", () => {
  const client = new NtlmClient(USER);
  client.tampered = true;
  assert.throws(() => logOn(client), refusedWith(STATUS.LOGON_FAILURE));
});

/** What a man in the middle, or a client, may do to a log-on with a MIC. */
const WITHOUT_RIGHT_MIC: readonly [what: string, does: (client: NtlmClient) => void][] = [
  ["is zeros", (client) => client.change((message) => message.fill(0, 72, 88))],
  ["is wrong in one bit", (client) => client.change((message) => flip(message, 87))],
  ["is cut out, and the fields moved up", (client) => client.change(withoutMicField)],
  [
    "is made without the key",
    (client) => client.change((message) => randomBytes(16).copy(message, 72)),
  ],
];

for (const [what, does] of WITHOUT_RIGHT_MIC) {
  test(`a client that promises a MIC is refused if it ${what}`, () => {
    const client = new NtlmClient(USER);
    does(client);
    assert.throws(() => logOn(client), refusedWith(STATUS.LOGON_FAILURE));
  });
}

test("a MIC is required only if it is promised, and the promise cannot be taken back", () => {
  const client = new NtlmClient(USER);
  client.withMic = false;
  assert.equal(logOn(client).account, "account");
  // The client repeats the flags that a man in the middle put into CHALLENGE, beside its own.
  for (const place of ["pairsBefore", "pairsBehind"] as const) {
    const misled = new NtlmClient(USER);
    misled[place] = Buffer.from([6, 0, 4, 0, 0, 0, 0, 0]);
    misled.change((message) => message.fill(0, 72, 88));
    assert.throws(() => logOn(misled), refusedWith(STATUS.LOGON_FAILURE), place);
  }
});

/** Ids of pairs in target info: names of the domain and the server, and the time. */
for (const id of [1, 2, 3, 4, 7]) {
  for (const how of ["left out", "changed"] as const) {
    test(`a response with pair ${id} of the target info ${how} is refused`, () => {
      const client = new NtlmClient(USER);
      client.withMic = false;
      client.changeInfo = (pairs) => {
        const pair = pairs.findIndex((one) => one.readUInt16LE(0) === id);
        if (how === "left out") pairs.splice(pair, 1);
        else flip(pairs[pair] as Bytes, 4);
      };
      assert.throws(() => logOn(client), refusedWith(STATUS.LOGON_FAILURE));
    });
  }
}

test("flags that were not negotiated, or lack required ones, are refused", () => {
  for (const [offered, used] of [
    [~NTLM_FLAG.keyExchange, NTLM_FLAG.keyExchange],
    [-1, ~NTLM_FLAG.extendedSecurity],
    [-1, ~NTLM_FLAG.unicode],
  ] as const) {
    const client = new NtlmClient(USER);
    const all = client.flags;
    client.withMic = false;
    client.flags &= offered;
    const server = authentication();
    const first = goOn(server, client.negotiate());
    client.flags = used > 0 ? all : all & used;
    const message = client.authenticate(first);
    assert.throws(() => finish(server, message), refusedWith(STATUS.LOGON_FAILURE));
  }
});

test("an NTLMv2 response of another version is refused", () => {
  for (const at of [0, 1]) {
    const client = new NtlmClient(USER);
    client.withMic = false;
    client.changeAnswer = (answer) => void answer.writeUInt8(2, at);
    assert.throws(() => logOn(client), refusedWith(STATUS.LOGON_FAILURE));
  }
});

test("a refusal gives the reason to the log, and none to the client", () => {
  const reasonOf = (client: NtlmClient) => {
    try {
      logOn(client);
    } catch (error) {
      return error instanceof LogonRefused ? error.reason : String(error);
    }
    return "";
  };
  const tampered = new NtlmClient(USER);
  tampered.tampered = true;
  assert.match(reasonOf(tampered), /changed on the way/);
  assert.match(reasonOf(new NtlmClient({ ...USER, password: "x" })), /wrong account or key/);
});

function flip(bytes: Bytes, at: number): void {
  bytes[at] = (bytes[at] as number) ^ 1;
}

/** The message of a client that does not know the MIC. */
function withoutMicField(message: Bytes): Bytes {
  const cut = Buffer.concat([message.subarray(0, 72), message.subarray(88)]);
  for (const at of [20, 28, 36, 52]) cut.writeUInt32LE(message.readUInt32LE(at + 4) - 16, at + 4);
  return cut;
}

test("a list of mechanisms changed on the way is found", () => {
  const client = new NtlmClient(USER);
  const server = authentication();
  const first = goOn(server, initToken(mechanismList(), client.negotiate()));
  const last = client.authenticate(ntlmIn(first));
  const mic = client.listMic(mechanismList(KERBEROS));
  assert.throws(() => finish(server, responseToken(last, mic)), refusedWith(STATUS.LOGON_FAILURE));
});

test("a client that prefers Kerberos is asked to use NTLM, and must sign the list", () => {
  const list = mechanismList(KERBEROS);
  const begin = (client: NtlmClient) => {
    const server = authentication();
    goOn(server, initToken(list, Buffer.from("a ticket")));
    const first = goOn(server, responseToken(client.negotiate()));
    return { server, last: client.authenticate(ntlmIn(first)) };
  };
  const client = new NtlmClient(USER);
  const { server, last } = begin(client);
  const done = finish(server, responseToken(last, client.listMic(list)));
  const answer = firstSignature(client.sessionKey, "server-to-client", true, list);
  assert.ok(done.token.includes(answer));
  const unsigned = begin(new NtlmClient(USER));
  assert.throws(
    () => finish(unsigned.server, responseToken(unsigned.last)),
    refusedWith(STATUS.LOGON_FAILURE),
  );
});

test("NTLMv1 and anonymous clients are refused", () => {
  const cut = (change: (message: Bytes) => void) => {
    const client = new NtlmClient(USER);
    const server = authentication();
    const message = client.authenticate(goOn(server, client.negotiate()));
    change(message);
    finish(server, message);
  };
  const oldAnswer = (message: Bytes) => message.writeUInt16LE(24, 20);
  assert.throws(() => cut(oldAnswer), refusedWith(STATUS.LOGON_FAILURE));
  const nobody = (message: Bytes) => {
    message.writeUInt16LE(0, 20);
    message.writeUInt16LE(0, 36);
  };
  assert.throws(() => cut(nobody), refusedWith(STATUS.ACCESS_DENIED));
  const flagged = (message: Bytes) => message.writeUInt32LE(NTLM_FLAG.anonymous | 1, 60);
  assert.throws(() => cut(flagged), refusedWith(STATUS.ACCESS_DENIED));
  const client = new NtlmClient(USER);
  client.flags &= ~NTLM_FLAG.extendedSecurity;
  assert.throws(() => authentication().step(client.negotiate()), refusedWith(STATUS.LOGON_FAILURE));
});

test("malformed tokens are refused, wherever they are cut or changed", () => {
  const client = new NtlmClient(USER);
  const token = initToken(mechanismList(), client.negotiate());
  const first = goOn(authentication(), token);
  const last = responseToken(client.authenticate(ntlmIn(first)));
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
      finish(server, changed);
    } catch (error) {
      assert.ok(error instanceof StatusError, `${at}: ${error}`);
    }
  }
});

test("the hint in NEGOTIATE offers only NTLM", () => {
  const hint = serverHint();
  assert.deepEqual(readElement(hint).whole, hint);
  const read = readClientToken(hint);
  assert.equal(read.kind === "init" && read.mechanisms.length, 1);
});
