import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, type KeyObject, sign as signBytes } from "node:crypto";
import { test } from "node:test";
import { issuerOf, type OAuth } from "./bearer.ts";
import {
  ACCOUNT_NAME,
  type Asked,
  assertRefusedLater as assertRefused,
  authenticating,
  NOON,
} from "./request.fixture.ts";
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
  from: {
    keys: [jwk(rsa.publicKey, { kid: "rsa" }), jwk(ec.publicKey, { kid: "ec", alg: "ES256" })],
  },
});

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

/** A token made like an issuer's. */
function tokenOf(
  claims: object,
  header: Record<string, unknown> = { alg: "RS256", kid: "rsa" },
  key: KeyObject = rsa.privateKey,
): string {
  return tokenOfText(JSON.stringify(claims), header, key);
}

function tokenOfText(
  claims: string,
  header: Record<string, unknown> = { alg: "RS256", kid: "rsa" },
  key: KeyObject = rsa.privateKey,
): string {
  const signed = `${part(header)}.${Buffer.from(claims).toString("base64url")}`;
  const algorithm = String(header.alg);
  const hash = `sha${algorithm.slice(2)}`;
  const options = algorithm.startsWith("PS")
    ? { key, padding: 6, saltLength: Number(algorithm.slice(2)) / 8 }
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
  return async () => authenticating(service, { url: URL, ...more, headers }, oauth);
}

test("a signed token of the issuer grants the owner's rights and names its subject", async () => {
  const { access, identity } = await asking(tokenOf(CLAIMS))();
  assert.equal(access.kind, "owner");
  assert.deepEqual(identity, { objectId: "object", tenantId: TENANT });
});

test("every asymmetric algorithm is verified", async () => {
  for (const alg of ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]) {
    await asking(tokenOf(CLAIMS, { alg, kid: "rsa" }))();
    const forged = tokenOf(CLAIMS, { alg, kid: "rsa" }, otherRsa.privateKey);
    await assertRefused("InvalidBearerToken", asking(forged), alg);
  }
  await asking(tokenOf(CLAIMS, { alg: "ES256", kid: "ec" }, ec.privateKey))();
});

test("other algorithms are refused, even with a valid signature", async () => {
  const unsigned = `${part({ alg: "none", kid: "rsa" })}.${part(CLAIMS)}.`;
  await assertRefused("InvalidBearerToken", asking(unsigned));
  const pem = rsa.publicKey.export({ format: "pem", type: "spki" });
  const text = `${part({ alg: "HS256", kid: "rsa" })}.${part(CLAIMS)}`;
  const shared = createHmac("sha256", pem).update(text).digest("base64url");
  const detail = await assertRefused("InvalidBearerToken", asking(`${text}.${shared}`));
  assert.match(detail, /Tokens signed with "HS256" are not taken/);
  for (const alg of ["ES256", "RS1", "", 7, null]) {
    const header = part({ alg, kid: "rsa" });
    await assertRefused(
      "InvalidBearerToken",
      asking(`${header}.${part(CLAIMS)}.AAAA`),
      String(alg),
    );
  }
  const wrongFamily = tokenOf(CLAIMS, { alg: "RS256", kid: "ec" });
  await assertRefused("InvalidBearerToken", asking(wrongFamily));
});

test("a change to any character of a signed token is detected", async () => {
  const token = tokenOf(CLAIMS);
  for (let at = 0; at < token.length; at++) {
    const other = token.charAt(at) === "A" ? "B" : "A";
    const changed = `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
    await assertRefused("InvalidBearerToken", asking(changed), `${at}`);
  }
});

test("the token names the key that signed it", async () => {
  const unknown = tokenOf(CLAIMS, { alg: "RS256", kid: "new" });
  assert.match(await assertRefused("InvalidBearerToken", asking(unknown)), /has no key "new"/);
  const silent = tokenOf(CLAIMS, { alg: "RS256" });
  const [first, second] = [jwk(rsa.publicKey, { kid: "a" }), jwk(otherRsa.publicKey, { kid: "b" })];
  const several = issuerOf({ issuer: ISSUER, from: { keys: [first, second] } });
  assert.match(await assertRefused("InvalidBearerToken", asking(silent, several)), /kid/);
  const single = issuerOf({ issuer: ISSUER, from: { keys: [jwk(rsa.publicKey, {})] } });
  await asking(silent, single)();
  const extended = tokenOf(CLAIMS, { alg: "RS256", kid: "rsa", crit: ["exp"] });
  await assertRefused("InvalidBearerToken", asking(extended));
});

for (const oauth of [BASIC, TRUSTED]) {
  test(`${oauth.mode}: a token is valid for its lifetime, with 5 minutes of skew`, async () => {
    const token = tokenOf({ ...CLAIMS, nbf: NOON_S, exp: NOON_S + 3_600 });
    const at = (seconds: number) => asking(token, oauth, { receivedMs: NOON + seconds * 1_000 });
    for (const seconds of [-300, 0, 3_600, 3_899]) await at(seconds)();
    assert.match(await assertRefused("InvalidBearerToken", at(-301)), /not yet valid/);
    assert.match(await assertRefused("InvalidBearerToken", at(3_900)), /expired/);
  });

  test(`${oauth.mode}: a token must have the storage audience, a trusted issuer and a subject`, async () => {
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
      { exp: String(NOON_S + 3_600) },
      { exp: null },
      { nbf: "soon" },
      { nbf: null },
      { oid: undefined },
      { oid: { a: 1 } },
    ]) {
      const token = tokenOf({ ...CLAIMS, ...wrong });
      await assertRefused("InvalidBearerToken", asking(token, oauth), JSON.stringify(wrong));
    }
  });

  test(`${oauth.mode}: times that are not finite numbers are refused`, async () => {
    for (const number of ["1e400", "-1e400", '"NaN"', '"Infinity"', "[9e9]", "true"]) {
      for (const name of ["exp", "nbf"]) {
        const text = JSON.stringify({ ...CLAIMS, [name]: "@" }).replace('"@"', number);
        const token = tokenOfText(text);
        await assertRefused("InvalidBearerToken", asking(token, oauth), `${name} ${number}`);
      }
    }
  });

  for (const [service, names] of [
    ["blob", ["blob", "dfs"]],
    ["dfs", ["blob", "dfs"]],
    ["queue", ["queue"]],
    ["table", ["table"]],
    ["file", ["file"]],
  ] as const) {
    const tokenFor = (aud: unknown) => tokenOf({ ...CLAIMS, aud });
    const more = { headers: { "x-ms-file-request-intent": "backup" } };
    const at = (aud: unknown, url: string) =>
      asking(tokenFor(aud), oauth, { ...more, url }, service);
    /** By path, by the first label of the host, and by its own domain. */
    const urls = [
      URL,
      `https://${ACCOUNT_NAME}.${service}.localhost:10000/c`,
      "https://files.example.org/c",
    ];

    test(`${oauth.mode}, ${service}: storage in general and this account are valid audiences`, async () => {
      const own = names.map((name) => `https://${ACCOUNT_NAME}.${name}.core.windows.net`);
      for (const aud of [
        ...["https://storage.azure.com", "https://storage.azure.com/"],
        "e406a681-f3d4-42a8-90b6-c2b029497af1",
        ...own,
        ...own.map((one) => `${one}/`),
        `https://${ACCOUNT_NAME}.${names[0]}.core.usgovcloudapi.net`,
        "https://files.example.org",
        ["https://graph.microsoft.com", "https://storage.azure.com"],
      ]) {
        for (const url of urls) await at(aud, url)();
      }
    });

    test(`${oauth.mode}, ${service}: a token for another account or service is refused`, async () => {
      const others = ["blob", "queue", "table", "file"].filter(
        (one) => !(names as readonly string[]).includes(one),
      );
      for (const aud of [
        ...names.map((name) => `https://otheraccount.${name}.core.windows.net`),
        ...others.map((name) => `https://${ACCOUNT_NAME}.${name}.core.windows.net`),
        `https://${ACCOUNT_NAME}x.${names[0]}.core.windows.net`,
        `https://${ACCOUNT_NAME}.${names[0]}.core.windows.net.evil.org`,
        `http://${ACCOUNT_NAME}.${names[0]}.core.windows.net`,
        `https://${ACCOUNT_NAME}.${service}.localhost:10000`,
        "https://other.example.org",
        ["https://otheraccount.blob.core.windows.net", 7, null],
      ]) {
        for (const url of urls) {
          const detail = await assertRefused("InvalidBearerToken", at(aud, url), String(aud));
          assert.match(detail, /\(aud\)/);
        }
      }
    });
  }
}

test("basic: the signature is not verified, and every Microsoft authority is trusted", async () => {
  await asking(`${part({ alg: "none" })}.${part(CLAIMS)}.AAAA`, BASIC)();
  for (const iss of [
    `https://sts.windows.net/${TENANT}/`,
    `https://login.microsoftonline.com/${TENANT}/v2.0`,
    `https://sts.chinacloudapi.cn/${TENANT}/`,
  ]) {
    await asking(tokenOf({ ...CLAIMS, iss }), BASIC)();
  }
});

test("an issuer may have its own audience and name subjects instead of objects", async () => {
  const oauth = issuerOf({
    issuer: "https://id.example.org",
    audience: "lazuli",
    from: { keys: [jwk(rsa.publicKey, { kid: "rsa" })] },
  });
  const { nbf, exp } = CLAIMS;
  const token = tokenOf({ iss: "https://id.example.org", aud: "lazuli", sub: "me", nbf, exp });
  const { identity } = await asking(token, oauth)();
  assert.deepEqual(identity, { objectId: "me", tenantId: "https://id.example.org" });
  await assertRefused(
    "InvalidBearerToken",
    await asking(tokenOf({ ...CLAIMS, iss: "https://id.example.org" }), oauth),
  );
});

test("text that is not a token is refused", async () => {
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
    `${header}.${part({ ...CLAIMS, long: "x".repeat(16_384) })}.AAAA`,
  ]) {
    for (const oauth of [BASIC, TRUSTED]) {
      const detail = await assertRefused("InvalidBearerToken", asking(token, oauth), token);
      assert.match(detail, /not a signed JSON Web Token/, token);
    }
  }
});

test("tokens are accepted over https only, and in versions that support them", async () => {
  const token = tokenOf(CLAIMS);
  const http = asking(token, TRUSTED, { url: URL.replace("https", "http") });
  assert.match(await assertRefused("AuthenticationFailed", http), /HTTPS/);
  const version = (text: string) => asking(token, TRUSTED, { headers: { "x-ms-version": text } });
  await version("2017-11-09")();
  assert.match(await assertRefused("AuthenticationFailed", version("2017-07-29")), /2017-11-09/);
});

test("a server without OAuth refuses tokens and says why", async () => {
  assert.match(await assertRefused("InvalidBearerToken", asking(tokenOf(CLAIMS), null)), /--oauth/);
});

test("a valid token does not grant access to an unknown account", async () => {
  const url = URL.replace(ACCOUNT_NAME, "nosuch");
  await assertRefused("AuthenticationFailed", asking(tokenOf(CLAIMS), TRUSTED, { url }));
});

test("below a share, Files requires the backup intent header with a token", async () => {
  const token = tokenOf(CLAIMS);
  const url = `${URL}/file`;
  await assertRefused("MissingRequiredHeader", asking(token, TRUSTED, { url }, "file"));
  await asking(
    token,
    TRUSTED,
    { url, headers: { "x-ms-file-request-intent": "backup" } },
    "file",
  )();
  await asking(token, TRUSTED, {}, "file")();
});

test("unusable signing keys are refused at the start", async () => {
  const small = generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey;
  for (const [keys, sentence] of [
    [[], /no signing keys/],
    [[jwk(small, { kid: "small" })], /1024 bits/],
    [[{ kty: "oct", k: "AAAA" }], /RSA and EC/],
    [[{ kty: "RSA", kid: "torn", n: "x" }], /not a complete public key/],
  ] as const) {
    assert.throws(() => issuerOf({ issuer: ISSUER, from: { keys } }), sentence);
  }
});
