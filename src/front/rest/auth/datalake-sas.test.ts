import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DataLakeSASPermissions,
  DirectorySASPermissions,
  FileSystemSASPermissions,
  generateDataLakeSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-file-datalake";
import {
  ACCOUNT,
  ACCOUNT_NAME,
  assertRefused,
  authenticated,
  KEY,
  NOON,
} from "./request.fixture.ts";
import { makeUserDelegationKey } from "./user-delegation-key.ts";

const ROOT = `http://127.0.0.1:10004/${ACCOUNT_NAME}`;
const HOUR_MS = 3_600_000;
const EXPIRES = new Date(NOON + HOUR_MS);
const VERSIONS = ["2020-02-10", "2020-12-06", "2025-07-05", "2026-04-06"];

type Values = Parameters<typeof generateDataLakeSASQueryParameters>[0];

/** Makes tokens with the official client, with the account's key or with that of a user. */
const SIGNERS: Readonly<Record<string, (values: Values) => string>> = {
  account: (values) =>
    generateDataLakeSASQueryParameters(
      values,
      new StorageSharedKeyCredential(ACCOUNT_NAME, KEY),
    ).toString(),
  user: (values) =>
    generateDataLakeSASQueryParameters(values, delegationKey(), ACCOUNT_NAME).toString(),
};

function delegationKey() {
  const identity = { objectId: "object", tenantId: "tenant" };
  const times = [NOON - HOUR_MS, NOON + HOUR_MS] as const;
  const { delegationSecret } = ACCOUNT;
  const key = makeUserDelegationKey(delegationSecret, identity, ...times, "b", "2026-04-06");
  return {
    signedObjectId: key.objectId,
    signedTenantId: key.tenantId,
    signedStartsOn: new Date(key.startMs),
    signedExpiresOn: new Date(key.expiryMs),
    signedService: key.service,
    signedVersion: key.version,
    value: key.value.toString("base64"),
  };
}

/** A request at both doors. */
function asking(path: string, token: string) {
  return () => {
    const url = `${ROOT}${path}?${token}`;
    const found = authenticated("dfs", { url });
    assert.deepEqual(authenticated("blob", { url }), found);
    return found;
  };
}

function directoryToken(pathName: string, version: string, more: Partial<Values> = {}): Values {
  return {
    fileSystemName: "fs",
    pathName,
    isDirectory: true,
    directoryDepth: pathName.split("/").length,
    permissions: DirectorySASPermissions.parse("racwdlmeop"),
    expiresOn: EXPIRES,
    version,
    ...more,
  };
}

for (const [signer, sign] of Object.entries(SIGNERS)) {
  for (const version of VERSIONS) {
    test(`${version}, signed by the ${signer}: a directory's token grants it and all below`, () => {
      const token = sign(directoryToken("d1/d 2ü", version));
      const encoded = `/fs/d1/${encodeURIComponent("d 2ü")}`;
      for (const path of [encoded, `${encoded}/file`, `${encoded}/a/b/c`]) {
        const { access } = asking(path, token)();
        assert.equal(access.kind === "service-sas" ? access.letters : null, "racwdlmeop");
      }
      for (const path of [
        "/fs",
        "/fs/d1",
        "/fs/d1/other",
        `${encoded}x`,
        "/fs/d1/file",
        "/other",
      ]) {
        assertRefused("AuthenticationFailed", asking(path, token), path);
      }
    });

    test(`${version}, signed by the ${signer}: the depth of a directory belongs to its token`, () => {
      const token = sign(directoryToken("d1/d2", version));
      assert.match(token, /&sdd=2(&|$)/);
      for (const depth of [0, 1, 3]) {
        const changed = token.replace("sdd=2", `sdd=${depth}`);
        assertRefused("AuthenticationFailed", asking("/fs/d1/d2/d3/file", changed), `${depth}`);
      }
      const missing = token.replace("&sdd=2", "");
      assertRefused("QueryParameterSasMandatory", asking("/fs/d1/d2/file", missing));
      for (const wrong of ["-1", "x", "1.0", "99999"]) {
        const changed = token.replace("sdd=2", `sdd=${wrong}`);
        assertRefused("QueryParameterSddInvalid", asking("/fs/d1/d2/file", changed), wrong);
      }
    });

    test(`${version}, signed by the ${signer}: tokens of file systems and files are as of Blob`, () => {
      const all = { fileSystemName: "fs", expiresOn: EXPIRES, version };
      const letters = FileSystemSASPermissions.parse("racwdlmeop");
      const filesystem = sign({ ...all, permissions: letters });
      asking("/fs", filesystem)();
      asking("/fs/a/b", filesystem)();
      assertRefused("AuthenticationFailed", asking("/other/a", filesystem));
      const permissions = DataLakeSASPermissions.parse("racwdmeop");
      const file = sign({ ...all, pathName: "a/b", permissions });
      asking("/fs/a/b", file)();
      assertRefused("AuthenticationFailed", asking("/fs/a/b/c", file));
      assertRefused("AuthenticationFailed", asking("/fs/a", file));
    });
  }
}

test("a user's token names who acts with it, and these names are signed", () => {
  const agent = { agentObjectId: "checked", correlationId: "0c0ffee0-0000-4000-8000-00000000000a" };
  const authorized = { preauthorizedAgentObjectId: "authorized" };
  for (const version of VERSIONS) {
    for (const [more, oid] of [
      [agent, "checked"],
      [authorized, "authorized"],
    ] as const) {
      const token = SIGNERS.user?.(directoryToken("d", version, more)) ?? "";
      const { access } = asking("/fs/d/file", token)();
      const user = access.kind === "service-sas" ? access.user : null;
      assert.deepEqual(user, { claims: { oid: [oid] }, kind: oid });
      const other = token.replace(oid, "another");
      assertRefused("AuthenticationFailed", asking("/fs/d/file", other));
    }
  }
});

test("a token names one user, and does not name one in a version that does not sign the name", () => {
  const token = SIGNERS.user?.(directoryToken("d", "2020-12-06", { agentObjectId: "a" })) ?? "";
  const both = assertRefused("AuthenticationFailed", asking("/fs/d", `${token}&saoid=b`));
  assert.match(both, /saoid or suoid, not both/);
  const old = token.replace("sv=2020-12-06", "sv=2018-11-09").replace("sr=d", "sr=c");
  const unsigned = assertRefused("AuthenticationFailed", asking("/fs/d", old));
  assert.match(unsigned, /suoid is not signed/);
});
