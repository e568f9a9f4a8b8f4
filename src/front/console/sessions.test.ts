import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../base/clock.ts";
import { SESSION_MS, Sessions, signatureOf } from "./sessions.ts";

const KEY = Buffer.alloc(32, 1).toString("base64");
const OTHER = Buffer.alloc(32, 2).toString("base64");

function opened() {
  const clock = new ManualClock(1_700_000_000_000);
  const events: string[] = [];
  const sessions = new Sessions(
    clock,
    () => events.push("first"),
    () => events.push("none"),
  );
  return { clock, events, sessions };
}

test("the token signs the operator in once", () => {
  const { sessions } = opened();
  assert.equal(sessions.signInByToken("wrong"), null);
  const id = sessions.signInByToken(sessions.token);
  assert.ok(id !== null);
  assert.equal(sessions.find(id)?.account, null);
  assert.equal(sessions.signInByToken(sessions.token), null);
});

test("a challenge is answered once, in time, and with a key of the account", () => {
  const { sessions, clock } = opened();
  const signIn = (challenge: string, key: string) =>
    sessions.signInByKey("account", [OTHER, KEY], challenge, signatureOf(challenge, key));
  const challenge = sessions.newChallenge();
  const id = signIn(challenge, KEY);
  assert.equal(sessions.find(id ?? "")?.account, "account");
  assert.equal(signIn(challenge, KEY), null);
  assert.equal(signIn("made up", KEY), null);
  const wrong = Buffer.alloc(32, 3).toString("base64");
  assert.equal(signIn(sessions.newChallenge(), wrong), null);
  const late = sessions.newChallenge();
  clock.advance(60_000);
  assert.equal(signIn(late, KEY), null);
});

test("a session whose page is open lasts, until it is closed for long or somebody signs out", () => {
  const { sessions, clock, events } = opened();
  const id = sessions.signInByToken(sessions.token) ?? "";
  let ends = 0;
  const end = () => {
    ends++;
  };
  const close = sessions.use(id, end);
  clock.advance(3 * SESSION_MS);
  sessions.expire();
  assert.deepEqual(events, ["first"]);
  close();
  clock.advance(SESSION_MS);
  sessions.expire();
  assert.deepEqual(events, ["first"]);
  clock.advance(1);
  sessions.expire();
  assert.deepEqual([events, ends], [["first", "none"], 0]);
  const challenge = sessions.newChallenge();
  const other = sessions.signInByKey("account", [KEY], challenge, signatureOf(challenge, KEY));
  sessions.use(other ?? "", end);
  sessions.signOut(other ?? "");
  assert.equal(ends, 1);
});

test("sessions end when they are signed out, or unused for long", () => {
  const { sessions, clock, events } = opened();
  const id = sessions.signInByToken(sessions.token) ?? "";
  clock.advance(SESSION_MS);
  assert.ok(sessions.find(id) !== null);
  clock.advance(SESSION_MS + 1);
  assert.equal(sessions.find(id), null);
  assert.deepEqual(events, ["first", "none"]);
  const challenge = sessions.newChallenge();
  const other = sessions.signInByKey("account", [KEY], challenge, signatureOf(challenge, KEY));
  sessions.signOut(other ?? "");
  assert.deepEqual(events, ["first", "none", "first", "none"]);
});
