import assert from "node:assert/strict";
import { test } from "node:test";
import { AzureNamedKeyCredential, generateTableSas } from "@azure/data-tables";
import {
  BlobSASPermissions,
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
  SASProtocol,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { generateQueueSASQueryParameters, QueueSASPermissions } from "@azure/storage-queue";
import { ACCOUNT_NAME, assertRefused, authenticated, KEY, NOON, sign } from "./request.fixture.ts";
import type { ServiceName } from "./resource.ts";

const ROOT = `http://127.0.0.1:10000/${ACCOUNT_NAME}`;
const CREDENTIAL = new StorageSharedKeyCredential(ACCOUNT_NAME, KEY);
const EXPIRES = new Date(NOON + 3_600_000);
const BLOB_VERSIONS = ["2015-04-05", "2018-11-09", "2020-02-10", "2020-12-06", "2026-04-06"];
const NAME = "dir/a b+ü%.txt";
const BLOB = `/c1/${encodeURIComponent(NAME)}`;

type Values = Parameters<typeof generateBlobSASQueryParameters>[0];

/** A token made by the official client, for a container or, with a name, for a blob. */
function blobToken(values: Partial<Values>): string {
  const permissions =
    values.blobName === undefined
      ? ContainerSASPermissions.parse("rl")
      : BlobSASPermissions.parse("r");
  return generateBlobSASQueryParameters(
    { containerName: "c1", permissions, expiresOn: EXPIRES, ...values },
    CREDENTIAL,
  ).toString();
}

function asking(path: string, token: string, service: ServiceName = "blob") {
  const joint = path.includes("?") ? "&" : "?";
  return () => authenticated(service, { url: `${ROOT}${path}${joint}${token}` });
}

/** A token whose fields, and the order in which they are signed, the test states. */
function handMade(query: string, lines: readonly string[]): string {
  return `${query}&sig=${encodeURIComponent(sign(lines.join("\n")))}`;
}

const EVERYTHING = {
  startsOn: new Date(NOON),
  ipRange: { start: "10.0.0.1", end: "10.0.0.9" },
  protocol: SASProtocol.HttpsAndHttp,
  cacheControl: "no-cache",
  contentDisposition: 'attachment; filename="ü.txt"',
  contentEncoding: "gzip",
  contentLanguage: "de",
  contentType: "text/plain",
};

for (const version of BLOB_VERSIONS) {
  test(`${version}: a container's token grants it and its blobs, and no other container`, () => {
    const token = blobToken({ version, ...EVERYTHING });
    const { access } = asking("/c1", token)();
    assert.deepEqual(access, { kind: "service-sas", letters: "rl", policy: null });
    asking("/c1/any/blob", token)();
    asking("/c1/any/blob?snapshot=2030-01-01T00:00:00.0000000Z", token)();
    assertRefused("AuthenticationFailed", asking("/c2", token));
    assertRefused("AuthenticationFailed", asking("/c1x/any", token));
    assertRefused("AuthenticationFailed", asking("/", token));
  });

  test(`${version}: a blob's token grants that blob alone`, () => {
    const token = blobToken({ version, blobName: NAME, ...EVERYTHING });
    asking(BLOB, token)();
    assertRefused("AuthenticationFailed", asking(`${BLOB}x`, token));
    assertRefused("AuthenticationFailed", asking("/c1", token));
    assertRefused("AuthenticationFailed", asking(BLOB, token.replace("sr=b", "sr=c")));
  });

  test(`${version}: every field is signed`, () => {
    const token = blobToken({ version, blobName: NAME, ...EVERYTHING });
    for (const part of token.split("&")) {
      const without = token.split("&").filter((other) => other !== part);
      if (part.startsWith("sig=")) continue;
      assertRefused("AuthenticationFailed", asking(BLOB, without.join("&")), part);
    }
  });
}

test("response headers are replaced as the token says, as bytes that can be sent", () => {
  const { overrides } = asking("/c1", blobToken(EVERYTHING))();
  assert.deepEqual(overrides, [
    ...["Cache-Control", "no-cache"],
    ...["Content-Disposition", Buffer.from('attachment; filename="ü.txt"').toString("latin1")],
    ...["Content-Encoding", "gzip", "Content-Language", "de", "Content-Type", "text/plain"],
  ]);
});

test("a token for a snapshot or a version grants that alone, not the base blob", () => {
  const time = "2030-01-01T00:00:00.1234567Z";
  const snapshot = blobToken({ blobName: "b", snapshotTime: time });
  asking(`/c1/b?snapshot=${time}`, snapshot)();
  assertRefused("AuthenticationFailed", asking("/c1/b", snapshot));
  assertRefused("AuthenticationFailed", asking(`/c1/b?versionid=${time}`, snapshot));
  const version = blobToken({ blobName: "b", versionId: time });
  asking(`/c1/b?versionid=${time}`, version)();
  assertRefused("AuthenticationFailed", asking("/c1/b", version));
  assertRefused("AuthenticationFailed", asking(`/c1/b?snapshot=${time}`, version));
});

test("the oldest token formats are verified", () => {
  const CR = `/${ACCOUNT_NAME}/c1`;
  const se = "2030-01-02";
  const none = handMade(`sr=c&sp=r&se=${se}`, ["r", "", se, CR, ""]);
  asking("/c1/b", none)();
  const v2012 = handMade(`sv=2012-02-12&sr=c&sp=r&se=${se}`, ["r", "", se, CR, "", "2012-02-12"]);
  assert.deepEqual(asking("/c1/b", `${v2012}&rscc=x`)().overrides, []);
  for (const [version, resource] of [
    ["2013-08-15", CR],
    ["2014-02-14", CR],
    ["2015-02-21", `/blob${CR}`],
  ] as const) {
    const lines = ["r", "", se, resource, "", version, "no-cache", "", "", "", ""];
    const token = handMade(`sv=${version}&sr=c&sp=r&se=${se}&rscc=no-cache`, lines);
    assert.deepEqual(asking("/c1/b", token)().overrides, ["Cache-Control", "no-cache"]);
  }
});

test("a directory's token grants the directory and everything below it", () => {
  const lines = ["rl", "", "2030-01-02", `/blob/${ACCOUNT_NAME}/c1/d1/d2`];
  const rest = ["", "", "", "2020-02-10", "d", "", "", "", "", "", ""];
  const query = "sv=2020-02-10&sr=d&sp=rl&se=2030-01-02";
  const token = handMade(query, [...lines, ...rest]);
  for (const path of ["/c1/d1/d2", "/c1/d1/d2/x", "/c1/d1/d2/d3/x", "/c1/d1/d2/"]) {
    for (const service of ["blob", "dfs"] as const) asking(path, `${token}&sdd=2`, service)();
  }
  for (const path of ["/c1", "/c1/d1", "/c1/d1/d2x", "/c1/d1/x/d2", "/c2/d1/d2/x"]) {
    assertRefused("AuthenticationFailed", asking(path, `${token}&sdd=2`), path);
  }
  assertRefused("QueryParameterSasMandatory", asking("/c1/d1/d2/x", token));
  for (const depth of ["-1", "x", "1.5", "1e1", "99999", " 2"]) {
    const asked = asking("/c1/d1/d2/x", `${token}&sdd=${encodeURIComponent(depth)}`);
    assertRefused("QueryParameterSddInvalid", asked, depth);
  }
});

test("a token for the root directory grants the whole file system", () => {
  const lines = ["r", "", "2030-01-02", `/blob/${ACCOUNT_NAME}/c1`, "", "", "", "2020-02-10", "d"];
  const token = handMade("sv=2020-02-10&sr=d&sp=r&se=2030-01-02&sdd=0", [
    ...lines,
    ...["", "", "", "", "", ""],
  ]);
  asking("/c1/any/file", token, "dfs")();
});

test("resource types are accepted from the version that signs them on", () => {
  const lines = ["r", "", "2030-01-02", `/blob/${ACCOUNT_NAME}/c1/d1`, "", "", "", "2018-03-28"];
  const query = "sv=2018-03-28&sp=r&se=2030-01-02";
  const token = handMade(query, [...lines, "", "", "", "", ""]);
  asking("/c1/d1", `${token}&sr=b`)();
  assertRefused("AuthenticationFailed", asking("/c1/d1", `${token}&sr=d&sdd=1`));
  assertRefused("AuthenticationFailed", asking("/c1/d1", `${token}&sr=bs`));
  for (const kind of ["f", "s", "x", "__proto__", "constructor"]) {
    assertRefused("AuthenticationFailed", asking("/c1/d1", `${token}&sr=${kind}`), kind);
  }
  assertRefused("AuthenticationFailed", asking("/c1/d1", token), "no sr");
});

for (const version of ["2015-02-21", "2015-04-05", "2020-12-06", "2026-04-06"]) {
  test(`${version}: tokens for a share and for a file grant what they name`, () => {
    const se = "2030-01-02";
    const terms = version === "2015-02-21" ? ["", version] : ["", "", "", version];
    const after = [...terms, "", "", "", "", "text/plain"];
    const query = `sv=${version}&sp=r&se=${se}&rsct=text/plain`;
    const share = handMade(query, ["r", "", se, `/file/${ACCOUNT_NAME}/s1`, ...after]);
    const overrides = ["Content-Type", "text/plain"];
    assert.deepEqual(asking("/s1/d/f", `${share}&sr=s`, "file")().overrides, overrides);
    asking("/s1", `${share}&sr=s`, "file")();
    assertRefused("AuthenticationFailed", asking("/s2", `${share}&sr=s`, "file"));
    assertRefused("AuthenticationFailed", asking("/s1", `${share}&sr=f`, "file"));
    const file = handMade(query, ["r", "", se, `/file/${ACCOUNT_NAME}/s1/d/f`, ...after]);
    asking("/s1/d/f", `${file}&sr=f`, "file")();
    assertRefused("AuthenticationFailed", asking("/s1/d/g", `${file}&sr=f`, "file"));
    assertRefused("AuthenticationFailed", asking("/s1/d/f", `${file}&sr=s`, "file"));
  });
}

test("a queue's token grants the queue and its messages", () => {
  const token = generateQueueSASQueryParameters(
    { queueName: "q1", permissions: QueueSASPermissions.parse("rp"), expiresOn: EXPIRES },
    CREDENTIAL,
  ).toString();
  asking("/q1/messages", token, "queue")();
  assertRefused("AuthenticationFailed", asking("/q2/messages", token, "queue"));
  const se = "2030-01-02";
  const lines = ["r", "", se, `/${ACCOUNT_NAME}/q1`, "", "2012-02-12"];
  asking("/q1", handMade(`sv=2012-02-12&sp=r&se=${se}`, lines), "queue")();
  assertRefused("AuthenticationFailed", asking("/q1", `sp=r&se=${se}&sig=x`, "queue"), "no sv");
});

test("a table's token grants its table, ignoring case, and gives the range of keys", () => {
  const token = generateTableSas("MyTable", new AzureNamedKeyCredential(ACCOUNT_NAME, KEY), {
    expiresOn: EXPIRES,
    startPartitionKey: "a",
    startRowKey: "b",
    endPartitionKey: "c",
    endRowKey: "d",
  });
  const expected = {
    table: "mytable",
    startPartition: "a",
    startRow: "b",
    endPartition: "c",
    endRow: "d",
  };
  for (const path of ["/MyTable", "/mytable()", "/MYTABLE(PartitionKey='a',RowKey='b')"]) {
    assert.deepEqual(asking(path, token, "table")().keyRange, expected);
  }
  assertRefused("AuthenticationFailed", asking("/Other", token, "table"));
  assertRefused("AuthenticationFailed", asking("/MyTable", token.replace("tn=", "x="), "table"));
});

test("an open end of a range differs from an empty key", () => {
  const se = "2030-01-02";
  const lines = ["r", "", se, `/table/${ACCOUNT_NAME}/t`, "", "", "", "2015-04-05", "", "", "", ""];
  const token = handMade(`sv=2015-04-05&tn=T&sp=r&se=${se}`, lines);
  const open = {
    table: "t",
    startPartition: null,
    startRow: null,
    endPartition: null,
    endRow: null,
  };
  assert.deepEqual(asking("/t", token, "table")().keyRange, open);
  const { keyRange } = asking("/t", `${token}&epk=`, "table")();
  assert.deepEqual(keyRange, { ...open, endPartition: "" });
  assertRefused("AuthenticationFailed", asking("/t", `${token}&srk=`, "table"));
  assertRefused("AuthenticationFailed", asking("/t", `${token}&erk=`, "table"));
  const v2012 = ["r", "", se, `/${ACCOUNT_NAME}/t`, "", "2012-02-12", "", "", "", ""];
  asking("/t", handMade(`sv=2012-02-12&tn=T&sp=r&se=${se}`, v2012), "table")();
});

test("a token without a policy must state its permissions and its expiry", () => {
  const resource = `/blob/${ACCOUNT_NAME}/c1`;
  const rest = ["", "", "", "2015-04-05", "", "", "", "", ""];
  const endless = handMade("sv=2015-04-05&sr=c&sp=r", ["r", "", "", resource, ...rest]);
  assert.match(assertRefused("AuthenticationFailed", asking("/c1", endless)), /se is mandatory/);
  const se = "2030-01-02";
  const empty = handMade(`sv=2015-04-05&sr=c&se=${se}`, ["", "", se, resource, ...rest]);
  assert.match(assertRefused("AuthenticationFailed", asking("/c1", empty)), /sp is mandatory/);
});

test("fields that a token leaves to a stored policy are passed on", () => {
  const identifier = "policy";
  const bare = generateBlobSASQueryParameters({ containerName: "c1", identifier }, CREDENTIAL);
  assert.deepEqual(asking("/c1", bare.toString())().access, {
    kind: "service-sas",
    letters: null,
    policy: { id: "policy", startMs: null, expiryMs: null },
  });
  const timed = blobToken({ identifier, startsOn: new Date(NOON) });
  assert.deepEqual(asking("/c1", timed)().access, {
    kind: "service-sas",
    letters: "rl",
    policy: { id: "policy", startMs: NOON, expiryMs: EXPIRES.getTime() },
  });
  assertRefused("AuthenticationFailed", asking("/c1", timed.replace("si=policy", "si=other")));
});
