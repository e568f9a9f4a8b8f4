import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../../../base/fault.ts";
import { rfc1123 } from "../../../base/time-text.ts";
import {
  ACCOUNT_NAME,
  assertRefused,
  assertRefusedLater,
  authenticated,
  authenticating,
  NOON,
  sign,
} from "./request.fixture.ts";
import type { ServiceName } from "./resource.ts";

const ROOT = `http://127.0.0.1:10000/${ACCOUNT_NAME}`;
const DATE = rfc1123(NOON);

function bare(service: ServiceName, version: string | null, account = ACCOUNT_NAME) {
  const headers: Record<string, string> = version === null ? {} : { "x-ms-version": version };
  return () => authenticated(service, { url: `http://127.0.0.1/${account}/c/b`, headers });
}

/** A request signed by the owner, with any method and any path below the account's root. */
function signed(method: string, target: string) {
  const [path = "", query = ""] = target.split("?");
  const parameters = query === "" ? "" : `\n${query.replace("=", ":")}`;
  const resource = `/${ACCOUNT_NAME}${path}${parameters}`;
  const text = `${method}${"\n".repeat(12)}x-ms-date:${DATE}\n${resource}`;
  const headers = {
    "x-ms-date": DATE,
    authorization: `SharedKey ${ACCOUNT_NAME}:${sign(text)}`,
  };
  return () => authenticated("blob", { method, url: `http://127.0.0.1${target}`, headers });
}

test("an Authorization header that cannot be parsed is refused as such", () => {
  for (const authorization of [
    "",
    " ",
    "SharedKey",
    "SharedKey ",
    "SharedKey x",
    "SharedKey :sig",
    `SharedKey ${ACCOUNT_NAME}:`,
    "SharedKeyLite x",
    "Basic dXNlcjpwYXNz",
    "sig=abc",
    `${ACCOUNT_NAME}:sig`,
  ]) {
    const headers = { "x-ms-date": DATE, authorization };
    const attempt = () => authenticated("blob", { url: `${ROOT}/c/b`, headers });
    assertRefused("InvalidAuthenticationInfo", attempt, authorization);
  }
});

test("if header and SAS are both wrong, the refusal is about the header", () => {
  const headers = { "x-ms-date": DATE, authorization: `SharedKey ${ACCOUNT_NAME}:y` };
  const url = `${ROOT}/c/b?sv=2020-12-06&sr=b&sp=r&se=2030-01-02&sig=x`;
  const detail = assertRefused("AuthenticationFailed", () =>
    authenticated("blob", { url, headers }),
  );
  assert.match(detail, /MAC signature/);
});

test("requests without credentials are anonymous, and old versions hide what exists", () => {
  const access = (service: ServiceName, version: string | null) => bare(service, version)().access;
  assert.deepEqual(access("blob", "2019-12-12"), { kind: "anonymous", hides: false });
  assert.deepEqual(access("blob", "2019-07-07"), { kind: "anonymous", hides: true });
  assert.deepEqual(access("blob", null), { kind: "anonymous", hides: true });
  assert.deepEqual(access("dfs", "2017-11-09"), { kind: "anonymous", hides: false });
});

test("only Blob and Data Lake are open to anonymous requests", () => {
  assertRefused("NoAuthenticationInformation", bare("queue", "2019-12-12"));
  assertRefused("NoAuthenticationInformation", bare("table", "2020-12-06"));
  assertRefused("NoAuthenticationInformation", bare("file", "2026-04-06"));
  assertRefused("AuthenticationFailed", bare("queue", "2019-07-07"));
  assertRefused("AuthenticationFailed", bare("table", "2019-02-02"));
  assertRefused("AuthenticationFailed", bare("table", null));
});

test("without credentials, an unknown account looks like a private one", () => {
  assertRefused("NoAuthenticationInformation", bare("blob", "2026-04-06", "nosuch"));
  assertRefused("ResourceNotFound", bare("blob", null, "nosuch"));
});

test("the secondary is read-only", () => {
  const secondary = `/${ACCOUNT_NAME}-secondary/c/b`;
  for (const method of ["GET", "HEAD"])
    assert.equal(signed(method, secondary)().access.kind, "owner");
  signed("POST", `${secondary}?comp=query`)();
  for (const method of ["PUT", "DELETE", "PATCH", "MERGE", "POST"]) {
    assertRefused("InsufficientAccountPermissions", signed(method, secondary), method);
    signed(method, `/${ACCOUNT_NAME}/c/b`)();
  }
  const unsigned = () =>
    authenticated("blob", { method: "PUT", url: `http://127.0.0.1${secondary}?sig=x&sr=b` });
  assertRefused("AuthenticationFailed", unsigned, "credentials come first");
});

const hostile = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom(
    "SharedKey ",
    "SharedKeyLite devstoreaccount1:",
    "Bearer eyJhbGciOiJub25lIn0.e30.",
    "2030-01-02",
    "2020-12-06",
    "2026-04-06",
    "__proto__",
    "c",
    "d",
    "b",
    "10.0.0.1-10.0.0.2",
    "https",
    "999999999999999999999",
    "/".repeat(50),
  ),
);
const PARAMETERS =
  "sv ss srt sp st se sip spr si sr sdd sig ses tn spk srk epk erk rscc rscd skoid sktid skt " +
  "ske sks skv srh srq sduoid suoid saoid scid skdutid snapshot versionid comp restype api-version";

test("any input is either accepted or refused with a Fault", async () => {
  const services = fc.constantFrom<ServiceName>("blob", "dfs", "file", "queue", "table");
  const names = fc.constantFrom(...PARAMETERS.split(" "));
  const query = fc.array(fc.tuple(names, hostile), { maxLength: 24 });
  const authorization = fc.option(hostile, { nil: undefined });
  await fc.assert(
    fc.asyncProperty(services, query, authorization, async (service, pairs, header) => {
      const parts = pairs.map(
        ([name, value]) => `${name}=${encodeURIComponent(wellFormed(value))}`,
      );
      const headers: Record<string, string> = { "x-ms-date": DATE };
      if (header !== undefined) headers.authorization = header;
      await refusesOrPasses(() =>
        authenticating(service, { url: `${ROOT}/c/d/e?${parts.join("&")}`, headers }, BASIC),
      );
    }),
    { numRuns: 3_000 },
  );
});

const BASIC = { mode: "basic" } as const;

function wellFormed(text: string): string {
  return text.replaceAll(/\p{Surrogate}/gu, "");
}

async function refusesOrPasses(attempt: () => unknown): Promise<void> {
  try {
    await attempt();
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
  }
}

const DELEGATED =
  "sv=2026-04-06&skoid=a&sktid=b&skt=2030-01-01&ske=2030-01-02&sks=b&skv=x&sr=b&sp=r" +
  "&se=2030-01-02&sig=x";

test("the longest possible inputs are handled as fast as short ones", async () => {
  const long = 16_000;
  const urls = [
    `${ROOT}/c/b?${"a&".repeat(long / 2)}`,
    `${ROOT}/c/b?sr=d&sdd=9999&sv=2020-12-06&sp=r&se=2030-01-02&sig=${"a".repeat(long)}`,
    `${ROOT}/${"/".repeat(long)}?sr=d&sdd=9999&sv=2020-12-06&sp=r&se=2030-01-02&sig=x`,
    `${ROOT}/c/b?${DELEGATED}&srh=${",".repeat(long)}`,
    `${ROOT}/c/b?sip=${"1.".repeat(long / 2)}&sv=2020-12-06&sp=r&se=2030-01-02&sr=b&sig=x`,
  ];
  const headers: [string, string][] = [
    ["x-ms-date", DATE],
    ["authorization", "SharedKey a:b"],
    ["x-ms-meta-spaces", " \t".repeat(long / 2)],
    ...Array.from({ length: 1_000 }, (_, at): [string, string] => [
      `x-ms-meta-${"-".repeat(at % 7)}${at}`,
      "v",
    ]),
  ];
  for (const url of urls) {
    await refusesOrPasses(() => authenticated("blob", { url }));
    await refusesOrPasses(() => authenticated("blob", { url, headers }));
  }
  for (const token of [`${".".repeat(long)}`, "a".repeat(long), "[".repeat(long)]) {
    const authorization = `Bearer ${token}`;
    const url = ROOT.replace("http:", "https:");
    const asked = { url: `${url}/c`, headers: { authorization } };
    const attempt = async () => authenticating("blob", asked, BASIC);
    await assertRefusedLater("InvalidBearerToken", attempt);
  }
});
