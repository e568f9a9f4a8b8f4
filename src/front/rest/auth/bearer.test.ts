import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, type KeyObject, sign as signBytes } from "node:crypto";
import { test } from "node:test";
import { challenge, issuerOf, type OAuth } from "./bearer.ts";
import { ACCOUNT_NAME, type Asked, assertRefused, authenticated, NOON } from "./request.fixture.ts";
import type { ServiceName } from "./resource.ts";

const TENANT = "22222222-2222-2222-2222-222222222222";
const ISSUER = `https://sts.windows.net/${TENANT}/`;
const URL = `https://127.0.0.1:10000/${ACCOUNT_NAME}/c`;
const BASIC: OAuth = { mode: "basic" };
const NOON_S = NOON / 1000;

const CLAIMS = {
  aud: "https://storage.azure.com",
  iss: ISSUER,
  nbf: NOON_S - 60,
  exp: NOON_S + 3_600,
  oid: "object",
  tid: TENANT,
};

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const otherRsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });

function jwk(key: KeyObject, more: object): Record<string, unknown> {
  return { ...key.export({ format: "jwk" }), ...more };
}

const TRUSTED = issuerOf({
  issuer: ISSUER,
  keys: [jwk(rsa.publicKey, { kid: "rsa" }), jwk(ec.publicKey, { kid: "ec", alg: "ES256" })],
});

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** A token as an issuer would make it. */
function tokenOf(
  claims: object,
  header: Record<string, unknown> = { alg: "RS256", kid: "rsa" },
  key: KeyObject = rsa.privateKey,
): string {
  const signed = `${part(header)}.${part(claims)}`;
  const algorithm = String(header.alg);
  const hash = `sha${algorithm.slice(2)}`;
  const options = algorithm.startsWith("PS")
    ? { key, padding: 6, saltLength: 32 }
    : { key, dsaEncoding: "ieee-p1363" as const };
  return `${signed}.${signBytes(hash, Buffer.from(signed), options).toString("base64url")}`;
}

function asking(
  token: string,
  oauth: OAuth | null = TRUSTED,
  more: Partial<Asked> = {},
  service: ServiceName = "blob",
) {
  const headers = {
    "x-ms-version": "2026-04-06",
    authorization: `Bearer ${token}`,
    ...more.headers,
  };
  return () => authenticated(service, { url: URL, ...more, headers }, oauth);
}

test("a signed token of the issuer is the owner's, and tells who it speaks for", () => {
  const { access, identity } = asking(tokenOf(CLAIMS))();
  assert.equal(access.kind, "owner");
  assert.deepEqual(identity, { objectId: "object", tenantId: TENANT });
});

test("every algorithm whose signer alone can sign is verified", () => {
  for (const alg of ["RS256", "RS384", "RS512", "PS256"]) {
    asking(tokenOf(CLAIMS, { alg, kid: "rsa" }))();
    const forged = tokenOf(CLAIMS, { alg, kid: "rsa" }, otherRsa.privateKey);
    assertRefused("InvalidBearerToken", asking(forged), alg);
  }
  asking(tokenOf(CLAIMS, { alg: "ES256", kid: "ec" }, ec.privateKey))();
});

test("no other algorithm is taken, however well it is signed", () => {
  const unsigned = `${part({ alg: "none", kid: "rsa" })}.${part(CLAIMS)}.`;
  assertRefused("InvalidBearerToken", asking(unsigned));
  const pem = rsa.publicKey.export({ format: "pem", type: "spki" });
  const text = `${part({ alg: "HS256", kid: "rsa" })}.${part(CLAIMS)}`;
  const shared = createHmac("sha256", pem).update(text).digest("base64url");
  assertRefused("InvalidBearerToken", asking(`${text}.${shared}`));
  for (const alg of ["ES256", "RS1", "", 7, null]) {
    const header = part({ alg, kid: "rsa" });
    assertRefused("InvalidBearerToken", asking(`${header}.${part(CLAIMS)}.AAAA`), String(alg));
  }
  const wrongFamily = tokenOf(CLAIMS, { alg: "RS256", kid: "ec" });
  assertRefused("InvalidBearerToken", asking(wrongFamily));
});

test("no character of a signed token can be changed", () => {
  const token = tokenOf(CLAIMS);
  for (let at = 0; at < token.length; at++) {
    const other = token.charAt(at) === "A" ? "B" : "A";
    const changed = `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
    assertRefused("InvalidBearerToken", asking(changed), `${at}`);
  }
});

test("the token says which key signed it", () => {
  const unknown = tokenOf(CLAIMS, { alg: "RS256", kid: "new" });
  assert.match(assertRefused("InvalidBearerToken", asking(unknown)), /no single key/);
  const silent = tokenOf(CLAIMS, { alg: "RS256" });
  assert.match(assertRefused("InvalidBearerToken", asking(silent)), /kid/);
  const single = issuerOf({ issuer: ISSUER, keys: [jwk(rsa.publicKey, {})] });
  asking(silent, single)();
  const extended = tokenOf(CLAIMS, { alg: "RS256", kid: "rsa", crit: ["exp"] });
  assertRefused("InvalidBearerToken", asking(extended));
});

for (const oauth of [BASIC, TRUSTED]) {
  test(`${oauth.mode}: a token is good for its time, give or take 5 minutes`, () => {
    const token = tokenOf({ ...CLAIMS, nbf: NOON_S, exp: NOON_S + 3_600 });
    const at = (seconds: number) => asking(token, oauth, { receivedMs: NOON + seconds * 1_000 });
    for (const seconds of [-300, 0, 3_600, 3_899]) at(seconds)();
    assert.match(assertRefused("InvalidBearerToken", at(-301)), /not valid yet/);
    assert.match(assertRefused("InvalidBearerToken", at(3_900)), /expired/);
  });

  test(`${oauth.mode}: a token must be for storage, from a trusted issuer, about somebody`, () => {
    for (const wrong of [
      { aud: "https://vault.azure.net" },
      { aud: "https://storage.azure.com.evil.org" },
      { aud: ["https://graph.microsoft.com"] },
      { aud: undefined },
      { aud: 7 },
      { iss: "https://evil.org/" },
      { iss: `${ISSUER}x` },
      { iss: undefined },
      { exp: undefined },
      { exp: "soon" },
      { nbf: "soon" },
      { oid: undefined },
      { oid: { a: 1 } },
    ]) {
      const token = tokenOf({ ...CLAIMS, ...wrong });
      assertRefused("InvalidBearerToken", asking(token, oauth), JSON.stringify(wrong));
    }
  });

  test(`${oauth.mode}: every way to write storage as the audience is known`, () => {
    for (const aud of [
      "https://storage.azure.com/",
      "e406a681-f3d4-42a8-90b6-c2b029497af1",
      "https://devstoreaccount1.blob.core.windows.net",
      "https://devstoreaccount1.queue.core.windows.net/",
      "https://devstoreaccount1.blob.core.usgovcloudapi.net",
      ["https://graph.microsoft.com", "https://storage.azure.com"],
    ]) {
      asking(tokenOf({ ...CLAIMS, aud }), oauth)();
    }
  });
}

test("basic: the signature is not looked at, every Microsoft authority is trusted", () => {
  asking(`${part({ alg: "none" })}.${part(CLAIMS)}.AAAA`, BASIC)();
  for (const iss of [
    `https://sts.windows.net/${TENANT}/`,
    `https://login.microsoftonline.com/${TENANT}/v2.0`,
    `https://sts.chinacloudapi.cn/${TENANT}/`,
  ]) {
    asking(tokenOf({ ...CLAIMS, iss }), BASIC)();
  }
});

test("an issuer may set its own audience and name subjects instead of objects", () => {
  const oauth = issuerOf({
    issuer: "https://id.example.org",
    audience: "lazuli",
    keys: [jwk(rsa.publicKey, { kid: "rsa" })],
  });
  const { nbf, exp } = CLAIMS;
  const token = tokenOf({ iss: "https://id.example.org", aud: "lazuli", sub: "me", nbf, exp });
  const { identity } = asking(token, oauth)();
  assert.deepEqual(identity, { objectId: "me", tenantId: "https://id.example.org" });
  assertRefused(
    "InvalidBearerToken",
    asking(tokenOf({ ...CLAIMS, iss: "https://id.example.org" }), oauth),
  );
});

test("what is not a token is refused", () => {
  const [header, claims] = [part({ alg: "RS256", kid: "rsa" }), part(CLAIMS)];
  for (const token of [
    "",
    "abc",
    "a.b",
    "a.b.c",
    "..",
    `${header}.${claims}`,
    `${header}.${claims}.AAAA.AAAA`,
    `${header}.${claims}=.AAAA`,
    `${header}.${part([])}.AAAA`,
    `${header}.${part(null)}.AAAA`,
    `${header}.${part("text")}.AAAA`,
    `${header}.${Buffer.from("{").toString("base64url")}.AAAA`,
    `${header}.${Buffer.from(`${'{"a":'.repeat(9)}1${"}".repeat(9)}`).toString("base64url")}.AAAA`,
    `${header}.${part({ ...CLAIMS, long: "x".repeat(16_384) })}.AAAA`,
  ]) {
    for (const oauth of [BASIC, TRUSTED]) {
      const detail = assertRefused("InvalidBearerToken", asking(token, oauth), token);
      assert.match(detail, /not a signed JSON Web Token/, token);
    }
  }
});

test("tokens travel over https alone, and in versions that know them", () => {
  const token = tokenOf(CLAIMS);
  const http = asking(token, TRUSTED, { url: URL.replace("https", "http") });
  assert.match(assertRefused("AuthenticationFailed", http), /HTTPS/);
  const version = (text: string) => asking(token, TRUSTED, { headers: { "x-ms-version": text } });
  version("2017-11-09")();
  assert.match(assertRefused("AuthenticationFailed", version("2017-07-29")), /2017-11-09/);
});

test("a server without OAuth takes no tokens, and says so", () => {
  assert.match(assertRefused("InvalidBearerToken", asking(tokenOf(CLAIMS), null)), /--oauth/);
});

test("a good token does not open an account that does not exist", () => {
  const url = URL.replace(ACCOUNT_NAME, "nosuch");
  assertRefused("AuthenticationFailed", asking(tokenOf(CLAIMS), TRUSTED, { url }));
});

test("Files takes tokens from those who say that they mean to override its permissions", () => {
  const token = tokenOf(CLAIMS);
  assertRefused("MissingRequiredHeader", asking(token, TRUSTED, {}, "file"));
  asking(token, TRUSTED, { headers: { "x-ms-file-request-intent": "backup" } }, "file")();
});

test("the challenge names the authority and the resource", () => {
  const tail = "resource_uri=https://storage.azure.com";
  for (const oauth of [null, BASIC]) {
    assert.equal(
      challenge(oauth),
      `Bearer authorization_uri=https://login.microsoftonline.com/common/oauth2/authorize ${tail}`,
    );
  }
  assert.equal(
    challenge(TRUSTED),
    `Bearer authorization_uri=https://login.microsoftonline.com/${TENANT}/oauth2/authorize ${tail}`,
  );
});

test("signing keys that cannot be used are refused at the start", () => {
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
  for (const [keys, sentence] of [
    [[], /no signing keys/],
    [[jwk(small, { kid: "small" })], /1024 bits/],
    [[{ kty: "oct", k: "AAAA" }], /RSA and EC/],
    [[{ kty: "RSA", kid: "torn", n: "x" }], /not a complete public key/],
  ] as const) {
    assert.throws(() => issuerOf({ issuer: ISSUER, keys }), sentence);
  }
});
