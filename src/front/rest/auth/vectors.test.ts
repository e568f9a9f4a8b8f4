import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Fault } from "../../../base/fault.ts";
import { parseHttpDate } from "../../../base/time-text.ts";
import { REST_FAULTS } from "../fault-status.ts";
import { ACCOUNT, type Asked, assertRefused, authenticated, sign } from "./request.fixture.ts";
import type { ServiceName } from "./resource.ts";
import { makeUserDelegationKey } from "./user-delegation-key.ts";

interface Vector {
  readonly kind: string;
  readonly name: string;
  readonly stringToSign: string;
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
  readonly key?: string;
  readonly sig?: string;
}

const file = new URL("../../../../../test/vectors/auth-vectors.json", import.meta.url);
const VECTORS: Vector[] = JSON.parse(readFileSync(file, "utf8")).vectors;

/** The resources of the tokens; the file has only the tokens. */
const SAS_PATHS: readonly (readonly [start: string, service: ServiceName, path: string])[] = [
  ["blob-snapshot", "blob", "/c1/b?snapshot=2030-01-01T00:00:00.1234567Z&"],
  ["account", "queue", "/anything?"],
  ["queue", "queue", "/q1/messages?"],
  ["file-s", "file", "/s1/any/file?"],
  ["file-f", "file", "/s1/d/f.txt?"],
  ["udk", "blob", "/c1/b?"],
  ["dfs-directory", "dfs", "/c1/d1/d2/d3/x?"],
  ["table", "table", "/MyTable()?"],
];

function sasRequest(vector: Vector): { service: ServiceName; asked: Asked } {
  const listed = SAS_PATHS.find(([start]) => vector.name.startsWith(start));
  const blobPath = vector.name.endsWith("-c") ? "/c1/any?" : "/c1/dir/a%20b%2B%C3%BC.txt?";
  const [, service, path] = listed ?? ["", "blob" as const, blobPath];
  return { service, asked: { url: `https://127.0.0.1/devstoreaccount1${path}${vector.query}` } };
}

function keyedRequest(vector: Vector): { service: ServiceName; asked: Asked } {
  const { method = "", url = "", headers = {} } = vector;
  const receivedMs = parseHttpDate(headers["x-ms-date"] ?? "") ?? 0;
  const service = (["queue", "file", "table"] as const).find((one) => vector.name.startsWith(one));
  return { service: service ?? "blob", asked: { method, url, headers, receivedMs } };
}

function requestFor(vector: Vector) {
  return vector.kind === "sas" ? sasRequest(vector) : keyedRequest(vector);
}

/**
 * Signs a vector with a key of this server, which cannot make the key of the delegation vectors.
 */
function resigned(vector: Vector): Vector {
  assert.equal(sign(vector.stringToSign, vector.key), vector.sig);
  const identity = {
    objectId: "11111111-1111-1111-1111-111111111111",
    tenantId: "22222222-2222-2222-2222-222222222222",
  };
  const [startMs, expiryMs] = [Date.UTC(2030, 0, 1), Date.UTC(2030, 0, 2)];
  const { delegationSecret } = ACCOUNT;
  const made = makeUserDelegationKey(
    delegationSecret,
    identity,
    startMs,
    expiryMs,
    "b",
    "2026-04-06",
  );
  const sig = encodeURIComponent(sign(vector.stringToSign, made.value.toString("base64")));
  return { ...vector, query: vector.query?.replace(/sig=[^&]+/, `sig=${sig}`) ?? "" };
}

const SIGNED = VECTORS.map((vector) => (vector.name.startsWith("udk") ? resigned(vector) : vector));

test("there are 35 vectors", () => assert.equal(VECTORS.length, 35));

for (const vector of SIGNED) {
  test(`vector ${vector.kind} ${vector.name} is authenticated`, () => {
    const { service, asked } = requestFor(vector);
    const expected = vector.kind !== "sas" ? "owner" : undefined;
    const { access } = authenticated(service, asked);
    if (expected !== undefined) assert.equal(access.kind, expected);
    else assert.match(access.kind, /-sas$/);
  });

  test(`vector ${vector.kind} ${vector.name}: a refusal shows the string to sign`, () => {
    const { service, asked } = requestFor(
      vector.kind === "sas"
        ? { ...vector, query: vector.query?.replace(/sig=../, "sig=") ?? "" }
        : { ...vector, headers: { ...vector.headers, authorization: scheme(vector) } },
    );
    const detail = assertRefused("AuthenticationFailed", () => authenticated(service, asked));
    assert.ok(detail.includes(vector.stringToSign), detail);
  });

  test(`vector ${vector.kind} ${vector.name}: a change to any character is detected`, () => {
    for (const [what, changed] of changes(vector)) {
      const { service, asked } = requestFor(changed);
      assert.throws(
        () => authenticated(service, asked),
        (error) => error instanceof Fault && (isForbidden(error) || isNoVersion(error)),
        `${what}: ${asked.url}`,
      );
    }
  });
}

function isForbidden({ code }: Fault): boolean {
  return REST_FAULTS[code].status === 403;
}

/**
 * Whether the change made the version an invalid date, which is refused before the signature is
 * checked.
 */
function isNoVersion({ code, detail }: Fault): boolean {
  return code === "InvalidHeaderValue" && detail.HeaderName === "x-ms-version";
}

function scheme(vector: Vector): string {
  return `${vector.headers?.authorization?.split(" ")[0]} devstoreaccount1:AAAA`;
}

/** Yields the vector with one character changed, for every character that its signature covers. */
function* changes(vector: Vector): Iterable<readonly [string, Vector]> {
  if (vector.kind === "sas") {
    for (const [what, query] of withOneChanged(vector.query ?? "", /=([^&]+)/g)) {
      yield [what, { ...vector, query }];
    }
    return;
  }
  const path = /(?<=:\/\/[^/]+\/)[^/?]+(.*)$/;
  for (const [what, url] of withOneChanged(vector.url ?? "", path))
    yield [what, { ...vector, url }];
  for (const [name, value] of Object.entries(vector.headers ?? {})) {
    const signable = /^(?:x-ms-|content-|if-)/.test(name);
    const covered = signable && vector.stringToSign.includes(`${value}\n`);
    if (!covered && name !== "authorization") continue;
    const part = name === "authorization" ? /[^:]+:(.*)$/ : /(.*)/;
    for (const [what, changed] of withOneChanged(value, part)) {
      yield [`${name} ${what}`, { ...vector, headers: { ...vector.headers, [name]: changed } }];
    }
  }
}

/** Changes every letter and digit within the groups, one at a time. */
function* withOneChanged(text: string, pattern: RegExp): Iterable<readonly [string, string]> {
  const matches = pattern.global ? text.matchAll(pattern) : [pattern.exec(text)];
  for (const match of matches) {
    const [whole = "", group = ""] = match ?? [];
    const start = (match?.index ?? 0) + whole.length - group.length;
    for (let at = start; at < start + group.length; at++) {
      const char = text.charAt(at);
      if (!/[a-zA-Z0-9]/.test(char) || text.charAt(at - 1) === "%") continue;
      if (/%.$/.test(text.slice(0, at))) continue;
      const other = /\d/.test(char) ? String((Number(char) + 1) % 10) : char === "q" ? "w" : "q";
      yield [`${at} ${char}`, `${text.slice(0, at)}${other}${text.slice(at + 1)}`];
    }
  }
}
