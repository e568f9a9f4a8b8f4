import assert from "node:assert/strict";
import { test } from "node:test";
import { DEVELOPMENT_ACCOUNT, splitAccountList } from "./accounts.ts";
import { isLoopback, requireNoExposure } from "./network-guard.ts";

/** A key of this many bytes, in Base64. */
const keyOf = (bytes: number) => Buffer.alloc(bytes, "k").toString("base64");
const OWN = splitAccountList(`shop:${keyOf(16)}`);
/** The second key is too short. */
const SHORT = splitAccountList(`shop:${keyOf(64)}:${keyOf(15)}`);
/** Long, but without the padding of Base64. */
const LOOSE = splitAccountList(`shop:${keyOf(64).replaceAll("=", "")}`);
/** The well-known key under another name. */
const RENAMED = [...OWN, { ...DEVELOPMENT_ACCOUNT, name: "other" }];
const LOCAL = ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", "localhost"];
const REMOTE = ["0.0.0.0", "::", "192.168.1.2", "::ffff:10.0.0.1", "storage.example", "128.0.0.1"];

test("loopback addresses are those that only this machine can reach", () => {
  for (const host of LOCAL) assert.equal(isLoopback(host), true, host);
  for (const host of REMOTE) assert.equal(isLoopback(host), false, host);
});

test("the well-known key, weak keys and unchecked tokens need loopback unless a flag allows more", () => {
  for (const host of [...LOCAL, ...REMOTE]) {
    for (const accounts of [[DEVELOPMENT_ACCOUNT], RENAMED, SHORT, LOOSE, OWN]) {
      for (const oauthBasic of [false, true]) {
        for (const trustNetwork of [false, true]) {
          // One exposed service among several is enough.
          const exposure = { hosts: ["127.0.0.1", host], accounts, oauthBasic, trustNetwork };
          const open = accounts !== OWN || oauthBasic;
          const refused = REMOTE.includes(host) && open && !trustNetwork;
          const check = () => requireNoExposure(exposure);
          if (refused) assert.throws(check, /--trustNetwork/, JSON.stringify(exposure));
          else check();
        }
      }
    }
  }
});

test("a refusal of a weak key names the account and a command that makes a better key", () => {
  const exposure = { hosts: ["0.0.0.0"], accounts: SHORT, oauthBasic: false, trustNetwork: false };
  assert.throws(() => requireNoExposure(exposure), /"shop" is shorter than 16 bytes.*openssl rand/);
  assert.throws(
    () => requireNoExposure({ ...exposure, accounts: LOOSE }),
    /"shop" is not canonical Base64.*openssl rand/,
  );
});
