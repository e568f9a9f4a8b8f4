import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AccountSASPermissions,
  type AccountSASSignatureValues,
  type BlobSASSignatureValues,
  type ContainerClient,
  ContainerSASPermissions,
  generateAccountSASQueryParameters,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { type RawAnswer, rawRequest } from "./raw-request.ts";
import { CREDENTIAL, forThisFile, startServer } from "./server.ts";

const server = await forThisFile(startServer());
let count = 0;

async function makeContainer(): Promise<ContainerClient> {
  const container = await server.makeContainer();
  await container.getBlockBlobClient("blob").upload("text", 4);
  return container;
}

const HOUR_MS = 3_600_000;

function putAcl(container: ContainerClient, body: string): Promise<RawAnswer> {
  const path = `/${container.containerName}?restype=container&comp=acl`;
  return rawRequest(server, { method: "PUT", path, body });
}

function identifiers(...list: string[]): string {
  return `<SignedIdentifiers>${list.join("")}</SignedIdentifiers>`;
}

function identifier(id: string, terms = ""): string {
  const policy = `<AccessPolicy>${terms}</AccessPolicy>`;
  return `<SignedIdentifier><Id>${id}</Id>${policy}</SignedIdentifier>`;
}

test("an ACL comes back as it was set, and is replaced as a whole", async () => {
  const container = await makeContainer();
  const startsOn = new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
  const expiresOn = new Date(Date.UTC(2030, 0, 2));
  const full = { startsOn, expiresOn, permissions: "racwdl" };
  await container.setAccessPolicy("blob", [
    { id: "all & <more>", accessPolicy: full },
    { id: "bare", accessPolicy: {} },
  ] as never);
  const found = await container.getAccessPolicy();
  assert.equal(found.blobPublicAccess, "blob");
  assert.deepEqual(found.signedIdentifiers, [
    { id: "all & <more>", accessPolicy: full },
    { id: "bare", accessPolicy: undefined },
  ]);
  await container.setAccessPolicy();
  const cleared = await container.getAccessPolicy();
  assert.deepEqual([cleared.blobPublicAccess, cleared.signedIdentifiers], [undefined, []]);
});

test("an empty body or an empty element removes all policies", async () => {
  const container = await makeContainer();
  for (const body of ["", identifiers(), "<SignedIdentifiers />"]) {
    assert.equal((await putAcl(container, identifiers(identifier("one")))).status, 200);
    assert.equal((await container.getAccessPolicy()).signedIdentifiers.length, 1);
    assert.equal((await putAcl(container, body)).status, 200);
    assert.deepEqual((await container.getAccessPolicy()).signedIdentifiers, []);
  }
});

test("an invalid ACL is refused, and the old one stays", async () => {
  const container = await makeContainer();
  await putAcl(container, identifiers(identifier("kept")));
  const six = ["1", "2", "3", "4", "5", "6"].map((id) => identifier(id));
  for (const [body, code] of [
    ["<SignedIdentifiers>", "InvalidXmlDocument"],
    ["no xml", "InvalidXmlDocument"],
    ["<Other />", "InvalidXmlDocument"],
    ["<!DOCTYPE a [<!ENTITY b 'c'>]><SignedIdentifiers />", "InvalidXmlDocument"],
    [identifiers(...six), "InvalidXmlDocument"],
    [identifiers("<Other />"), "UnsupportedXmlNode"],
    [identifiers("<SignedIdentifier />"), "MissingRequiredXmlNode"],
    [identifiers(identifier("x".repeat(65))), "InvalidXmlNodeValue"],
    [identifiers(identifier("x"), identifier("x")), "InvalidXmlNodeValue"],
    [identifiers(identifier("x", "<Start>soon</Start>")), "InvalidXmlNodeValue"],
    [identifiers(identifier("x", "<Expiry>2026-02-30</Expiry>")), "InvalidXmlNodeValue"],
    [identifiers(identifier("x", "<Permission>rZ</Permission>")), "InvalidXmlNodeValue"],
  ] as const) {
    const answer = await putAcl(container, body);
    assert.deepEqual([answer.status, answer.code], [400, code], body);
  }
  const big = await putAcl(container, `<!--${"x".repeat(70_000)}--><SignedIdentifiers />`);
  assert.deepEqual([big.status, big.code], [413, "RequestBodyTooLarge"]);
  const level = await rawRequest(server, {
    method: "PUT",
    path: `/${container.containerName}?restype=container&comp=acl`,
    headers: { "x-ms-blob-public-access": "everything" },
  });
  assert.deepEqual([level.status, level.code], [400, "InvalidHeaderValue"]);
  const unchanged = await container.getAccessPolicy();
  assert.deepEqual(
    unchanged.signedIdentifiers.map(({ id }) => id),
    ["kept"],
  );
});

function serviceSas(container: ContainerClient, terms: Partial<BlobSASSignatureValues>): string {
  const { containerName } = container;
  return generateBlobSASQueryParameters({ containerName, ...terms }, CREDENTIAL).toString();
}

function read(container: ContainerClient, sas: string): Promise<RawAnswer> {
  const path = `/${container.containerName}/blob?${sas}`;
  return rawRequest(server, { path, signed: false });
}

test("a stored policy grants what its SAS omits, and its removal revokes at once", async () => {
  const container = await makeContainer();
  const policy = (permissions: string) => {
    const startsOn = new Date(server.clock.now());
    const expiresOn = new Date(server.clock.now() + HOUR_MS);
    const accessPolicy = { startsOn, expiresOn, permissions };
    return container.setAccessPolicy(undefined, [{ id: "readers", accessPolicy }]);
  };
  const sas = serviceSas(container, { identifier: "readers" });
  assert.deepEqual((await read(container, sas)).code, "AuthenticationFailed");
  await policy("r");
  assert.equal((await read(container, sas)).text, "text");
  await policy("w");
  assert.equal((await read(container, sas)).code, "AuthorizationPermissionMismatch");
  await policy("r");
  server.clock.advance(HOUR_MS);
  assert.equal((await read(container, sas)).code, "AuthenticationFailed");
  await policy("r");
  assert.equal((await read(container, sas)).status, 200);
  await container.setAccessPolicy();
  const revoked = await read(container, sas);
  assert.deepEqual([revoked.status, revoked.code], [403, "AuthenticationFailed"]);
});

test("a SAS that repeats a field of its stored policy is refused", async () => {
  const container = await makeContainer();
  const expiresOn = new Date(server.clock.now() + HOUR_MS);
  await container.setAccessPolicy(undefined, [
    { id: "until", accessPolicy: { expiresOn, permissions: undefined } },
  ] as never);
  const permissions = ContainerSASPermissions.parse("r");
  const good = serviceSas(container, { identifier: "until", permissions });
  assert.equal((await read(container, good)).status, 200);
  const twice = serviceSas(container, { identifier: "until", permissions, expiresOn });
  assert.equal((await read(container, twice)).code, "AuthenticationFailed");
});

test("a container's service SAS grants its blobs and its list, and nothing else", async () => {
  const container = await makeContainer();
  const sas = serviceSas(container, {
    permissions: ContainerSASPermissions.parse("racwdxltmei"),
    expiresOn: new Date(Date.now() + HOUR_MS),
  });
  const ask = async (method: string, query: string, headers = {}) => {
    const path = `/${container.containerName}?restype=container${query}&${sas}`;
    const answer = await rawRequest(server, { method, path, headers, signed: false });
    return answer.code || answer.status;
  };
  assert.equal(await ask("GET", "&comp=list"), 200);
  assert.equal((await read(container, sas)).status, 200);
  const lease = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "15" };
  for (const [method, query, headers] of [
    ["PUT", ""],
    ["GET", ""],
    ["DELETE", ""],
    ["GET", "&comp=metadata"],
    ["PUT", "&comp=metadata"],
    ["GET", "&comp=acl"],
    ["PUT", "&comp=acl"],
    ["PUT", "&comp=lease", lease],
  ] as const) {
    assert.equal(await ask(method, query, headers), "AuthorizationFailure", `${method} ${query}`);
  }
});

/** The letters of an account SAS that grant each container operation. */
const ACCOUNT_LETTERS: readonly [method: string, query: string, letters: string][] = [
  ["GET", "", "r"],
  ["GET", "&comp=metadata", "r"],
  ["PUT", "&comp=metadata", "w"],
  ["GET", "&comp=acl", ""],
  ["PUT", "&comp=acl", ""],
  ["GET", "&comp=list", "l"],
  ["PUT", "&comp=lease", "w"],
  ["DELETE", "", "d"],
];

test("an account SAS grants what its letters say, on the resource types it names", async () => {
  const account = (terms: Partial<AccountSASSignatureValues>) =>
    generateAccountSASQueryParameters(
      {
        services: "b",
        resourceTypes: "c",
        permissions: AccountSASPermissions.parse("rwdlac"),
        expiresOn: new Date(Date.now() + HOUR_MS),
        ...terms,
      },
      CREDENTIAL,
    ).toString();
  const headers = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1" };
  for (const [method, query, letters] of ACCOUNT_LETTERS) {
    const container = await makeContainer();
    const ask = async (sas: string) => {
      const path = `/${container.containerName}?restype=container${query}&${sas}`;
      return (await rawRequest(server, { method, path, headers, signed: false })).code;
    };
    const what = `${method} ${query}`;
    const without = [..."rwdlac"].filter((letter) => !letters.includes(letter)).join("");
    const denied = letters === "" ? "AuthorizationFailure" : "AuthorizationPermissionMismatch";
    const permissions = AccountSASPermissions.parse(without);
    assert.equal(await ask(account({ permissions })), denied, what);
    if (letters === "") continue;
    const elsewhere = await ask(account({ resourceTypes: "so" }));
    assert.equal(elsewhere, "AuthorizationResourceTypeMismatch", what);
    const enough = AccountSASPermissions.parse(letters.slice(0, 1));
    assert.equal(await ask(account({ permissions: enough })), "", what);
  }
});

test("anonymous clients read what the public access level allows, and never write", async () => {
  const ask = async (container: ContainerClient, method: string, path: string) => {
    const whole = `/${container.containerName}${path}`;
    return (await rawRequest(server, { method, path: whole, signed: false })).code;
  };
  const NO = "NoAuthenticationInformation";
  for (const [level, blob, rest] of [
    [undefined, NO, NO],
    ["blob", "", NO],
    ["container", "", ""],
  ] as const) {
    const container = await makeContainer();
    await container.setAccessPolicy(level);
    assert.equal(await ask(container, "GET", "/blob"), blob);
    assert.equal(await ask(container, "HEAD", "/blob"), blob);
    assert.equal(await ask(container, "GET", "?restype=container"), rest);
    assert.equal(await ask(container, "GET", "?restype=container&comp=metadata"), rest);
    assert.equal(await ask(container, "GET", "?restype=container&comp=list"), rest);
    assert.equal(await ask(container, "GET", "?restype=container&comp=acl"), NO);
    assert.equal(await ask(container, "PUT", "?restype=container&comp=metadata"), NO);
    assert.equal(await ask(container, "DELETE", "?restype=container"), NO);
    assert.equal(await ask(container, "DELETE", "/blob"), NO);
  }
});

test("a client without access does not learn what exists", async () => {
  const { containerName } = await makeContainer();
  for (const name of [containerName, "not-there"]) {
    const path = `/${name}?restype=container`;
    const now = await rawRequest(server, { path, signed: false });
    assert.deepEqual([now.status, now.code], [401, "NoAuthenticationInformation"]);
    assert.match(now.headers.get("www-authenticate") ?? "", /^Bearer authorization_uri=/);
    const old = await rawRequest(server, { path, signed: false, version: "2018-11-09" });
    assert.deepEqual([old.status, old.code], [404, "ResourceNotFound"]);
  }
});

test("public access set at a container's creation applies", async () => {
  const container = server.client().getContainerClient(`container-${++count}`);
  await container.create({ access: "container" });
  assert.equal((await container.getProperties()).blobPublicAccess, "container");
  const path = `/${container.containerName}?restype=container&comp=list`;
  assert.equal((await rawRequest(server, { path, signed: false })).status, 200);
});
