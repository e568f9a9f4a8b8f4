import assert from "node:assert/strict";
import { test } from "node:test";
import { type OAuth, STORAGE } from "./bearer.ts";
import { challenge } from "./challenge.ts";
import { IssuerKeys } from "./issuer-keys.ts";

const TENANT = "11111111-2222-4333-8444-555555555555";
const ANY_TENANT = "00000000-0000-0000-0000-000000000000";
const MICROSOFT = "https://login.microsoftonline.com";
const tokenOf = (claims: unknown) =>
  `Bearer e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;

function issuer(name: string, audience: string | null = null): OAuth {
  return { mode: "issuer", issuer: name, audience, keys: new IssuerKeys(async () => []) };
}

function expected(authority: string, resource: string | null = STORAGE): string {
  const uri = `Bearer authorization_uri=${authority}/oauth2/authorize`;
  return resource === null ? uri : `${uri} resource_id=${resource}`;
}

test("the challenge names the issuer's tenant and the resource", () => {
  for (const [name, authority] of [
    [`https://sts.windows.net/${TENANT}/`, `${MICROSOFT}/${TENANT}`],
    [`${MICROSOFT}/${TENANT}/v2.0`, `${MICROSOFT}/${TENANT}`],
    ["https://login.example.org/tenant/v2.0", "https://login.example.org/tenant"],
  ] as const) {
    assert.equal(challenge(issuer(name), undefined), expected(authority));
    assert.equal(challenge(issuer(name), tokenOf({ tid: ANY_TENANT })), expected(authority));
  }
});

test("if any tenant is accepted, the challenge names the tenant of the refused token", () => {
  for (const oauth of [null, { mode: "basic" }] as const) {
    const named = (authorization: string | undefined) => challenge(oauth, authorization);
    assert.equal(named(undefined), expected(`${MICROSOFT}/${ANY_TENANT}`));
    assert.equal(named(tokenOf({ tid: TENANT })), expected(`${MICROSOFT}/${TENANT}`));
    const strange = [{ tid: "x y/z" }, { tid: 1 }, {}, null].map(tokenOf);
    for (const header of [...strange, "Bearer e30", "Bearer a.b.c", "SharedKey a:b"]) {
      assert.equal(named(header), expected(`${MICROSOFT}/${ANY_TENANT}`), header);
    }
  }
});

test("an audience that is a URL is the resource; any other is left out", () => {
  const name = "https://login.example.org/tenant";
  const own = "https://files.example.org";
  assert.equal(challenge(issuer(name, own), undefined), expected(name, own));
  for (const audience of ["api://storage", "a9b7", "https://[x"]) {
    assert.equal(challenge(issuer(name, audience), undefined), expected(name, null));
  }
});
