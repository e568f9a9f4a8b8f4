import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { Fault } from "../../../base/fault.ts";
import { IssuerKeys } from "./issuer-keys.ts";
import type { Jwk } from "./signing-keys.ts";

const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const keyNamed = (kid: string): Jwk => ({ ...publicKey.export({ format: "jwk" }), kid });

const INPUT = { payload: "", signature: "" };
const MINUTE_MS = 60_000;

/** An issuer whose responses the test controls. */
class TestIssuer {
  kids: string[] = ["a"];
  isDown = false;
  loads = 0;
  failures = 0;
  /** Every load waits for this. */
  gate: Promise<void> = Promise.resolve();
  readonly keys = new IssuerKeys(async () => {
    this.loads++;
    await this.gate;
    if (this.isDown) throw new Error("it is down");
    return this.kids.map(keyNamed);
  });

  constructor() {
    this.keys.onFailure = () => {
      this.failures++;
    };
  }

  find(kid: string, now: number) {
    return this.keys.find({ alg: "RS256", kid }, INPUT, now);
  }
}

const noKey = { code: "ERR_JWKS_NO_MATCHING_KEY" };
const unavailable = (error: unknown) =>
  error instanceof Fault &&
  error.code === "ServerBusy" &&
  /it is down/.test(error.detail.Reason ?? "");

test("keys are loaded once, for the first token", async () => {
  const issuer = new TestIssuer();
  assert.equal(issuer.loads, 0);
  await issuer.find("a", 0);
  await issuer.find("a", 1);
  assert.equal(issuer.loads, 1);
});

test("concurrent requests for keys share one load", async () => {
  const issuer = new TestIssuer();
  let open = () => {};
  issuer.gate = new Promise((resolve) => {
    open = resolve;
  });
  const found = Array.from({ length: 50 }, () => issuer.find("a", 0));
  open();
  await Promise.all(found);
  assert.equal(issuer.loads, 1);
  issuer.kids = ["a", "b"];
  await Promise.all(Array.from({ length: 50 }, () => issuer.find("b", MINUTE_MS)));
  assert.equal(issuer.loads, 2);
});

test("an unknown key reloads the keys, at a limited rate", async () => {
  const issuer = new TestIssuer();
  await issuer.find("a", 0);
  issuer.kids = ["a", "b"];
  await assert.rejects(issuer.find("b", 9_999), noKey);
  await issuer.find("b", 10_000);
  for (let at = 10_001; at < 20_000; at += 1_000) {
    await assert.rejects(issuer.find("invented", at), noKey);
  }
  assert.equal(issuer.loads, 2);
});

test("a withdrawn key stops working once the keys are old", async () => {
  const issuer = new TestIssuer();
  await issuer.find("a", 0);
  issuer.kids = ["b"];
  await issuer.find("a", 10 * MINUTE_MS - 1);
  assert.equal(issuer.loads, 1);
  // The key still works: the reload it starts runs in the background.
  await issuer.find("a", 10 * MINUTE_MS);
  await issuer.find("b", 10 * MINUTE_MS);
  await assert.rejects(issuer.find("a", 10 * MINUTE_MS + 1), noKey);
});

test("while an issuer is down its old keys keep working, and unknown keys get a 503", async () => {
  const issuer = new TestIssuer();
  await issuer.find("a", 0);
  issuer.isDown = true;
  await issuer.find("a", 60 * MINUTE_MS);
  await assert.rejects(issuer.find("b", 60 * MINUTE_MS), unavailable);
  assert.deepEqual([issuer.loads, issuer.failures], [2, 1]);
  issuer.isDown = false;
  issuer.kids = ["a", "b"];
  await assert.rejects(issuer.find("b", 60 * MINUTE_MS + 9_999), unavailable);
  await issuer.find("b", 60 * MINUTE_MS + 10_000);
});

test("before any keys are loaded a token gets a 503, until the issuer answers", async () => {
  const issuer = new TestIssuer();
  issuer.isDown = true;
  await assert.rejects(issuer.find("a", 0), unavailable);
  issuer.isDown = false;
  await assert.rejects(issuer.find("a", 1), unavailable);
  await issuer.find("a", 10_000);
});

test("setting the clock back does not stop keys from being loaded", async () => {
  const issuer = new TestIssuer();
  await issuer.find("a", 1_000 * MINUTE_MS);
  issuer.kids = ["b"];
  await issuer.find("b", 0);
});

test("a refresh loads the keys again at once, and says whether they have changed", async () => {
  const issuer = new TestIssuer();
  assert.equal(await issuer.keys.refresh(0), false);
  assert.equal(issuer.loads, 0, "nothing is loaded before the first token");
  await issuer.find("a", 0);
  assert.equal(await issuer.keys.refresh(1), false);
  issuer.kids = ["b"];
  assert.equal(await issuer.keys.refresh(2), true);
  assert.equal(issuer.loads, 3);
  await issuer.find("b", 3);
  await assert.rejects(issuer.find("a", 3), noKey);
});

test("after a failed refresh the loaded keys keep working", async () => {
  const issuer = new TestIssuer();
  await issuer.find("a", 0);
  issuer.isDown = true;
  assert.equal(await issuer.keys.refresh(1), false);
  assert.equal(issuer.failures, 1);
  await issuer.find("a", 2);
});

test("a refresh during a load waits for it, and loads again what has changed since", async () => {
  const issuer = new TestIssuer();
  await issuer.find("a", 0);
  let open = () => {};
  issuer.gate = new Promise((resolve) => {
    open = resolve;
  });
  const first = issuer.keys.refresh(1);
  while (issuer.loads < 2) await undefined;
  const second = issuer.keys.refresh(2);
  open();
  await Promise.all([first, second]);
  assert.equal(issuer.loads, 3);
});
