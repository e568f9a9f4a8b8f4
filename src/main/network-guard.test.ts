import assert from "node:assert/strict";
import { test } from "node:test";
import { DEVELOPMENT_ACCOUNT, splitAccountList } from "./accounts.ts";
import { isLoopback, refuseExposure } from "./network-guard.ts";

/** In Base64. */
const keyOf = (bytes: number) => Buffer.alloc(bytes, "k").toString("base64");
const OWN = splitAccountList(`shop:${keyOf(16)}`);
/** Its second key can be guessed. */
const SHORT = splitAccountList(`shop:${keyOf(64)}:${keyOf(15)}`);
/** Long, but without its padding. */
const LOOSE = splitAccountList(`shop:${keyOf(64).replaceAll("=", "")}`);
/** The well-known key under another name. */
const RENAMED = [...OWN, { ...DEVELOPMENT_ACCOUNT, name: "other" }];
const LOCAL = ["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1", "localhost"];
const REMOTE = ["0.0.0.0", "::", "192.168.1.2", "::ffff:10.0.0.1", "storage.example", "128.0.0.1"];

test("loopback is what only this machine reaches", () => {
  for (const host of LOCAL) assert.equal(isLoopback(host), true, host);
  for (const host of REMOTE) assert.equal(isLoopback(host), false, host);
});

test("the well-known key, weak keys and unchecked tokens stay on this machine unless the flag says so", () => {
  for (const host of [...LOCAL, ...REMOTE]) {
    for (const accounts of [[DEVELOPMENT_ACCOUNT], RENAMED, SHORT, LOOSE, OWN]) {
      for (const oauthBasic of [false, true]) {
        for (const trustNetwork of [false, true]) {
          // One exposed service among several is enough.
          const exposure = { hosts: ["127.0.0.1", host], accounts, oauthBasic, trustNetwork };
          const open = accounts !== OWN || oauthBasic;
          const refused = REMOTE.includes(host) && open && !trustNetwork;
          const check = () => refuseExposure(exposure);
          if (refused) assert.throws(check, /--trustNetwork/, JSON.stringify(exposure));
          else check();
        }
      }
    }
  }
});

test("a refusal of a weak key names the account and a command that makes a better key", () => {
  const exposure = { hosts: ["0.0.0.0"], accounts: SHORT, oauthBasic: false, trustNetwork: false };
  assert.throws(() => refuseExposure(exposure), /"shop" is shorter than 16 bytes.*openssl rand/);
  assert.throws(
    () => refuseExposure({ ...exposure, accounts: LOOSE }),
    /"shop" is not canonical Base64.*openssl rand/,
  );
});
