import assert from "node:assert/strict";
import { test } from "node:test";
import type { CorsRule } from "../../../rules/cors-rules.ts";
import { corsHeaders, preflight } from "./cors.ts";
import { assertRefused, requestOf } from "./request.fixture.ts";

function rule(more: Partial<CorsRule>): CorsRule {
  return {
    allowedOrigins: ["http://a.com"],
    allowedMethods: ["GET", "PUT"],
    allowedHeaders: ["x-ms-meta-data*", "x-ms-meta-abc"],
    exposedHeaders: ["x-ms-meta-*", "ETag"],
    maxAgeSeconds: 200,
    ...more,
  };
}

function asking(rules: readonly CorsRule[], origin: string, method: string, headers?: string) {
  const sent: Record<string, string> = { Origin: origin, "Access-Control-Request-Method": method };
  if (headers !== undefined) sent["Access-Control-Request-Headers"] = headers;
  return () => preflight(rules, requestOf({ url: "http://h/a", headers: sent }).headers);
}

const ALLOWED = [
  ...["Access-Control-Allow-Origin", "http://a.com", "Access-Control-Allow-Credentials", "true"],
  ...["Access-Control-Allow-Methods", "PUT"],
];

test("a preflight that matches a rule gets what the rule allows", () => {
  assert.deepEqual(asking([rule({})], "http://a.com", "PUT")(), [
    ...ALLOWED,
    ...["Access-Control-Max-Age", "200"],
  ]);
  const headers = "x-ms-meta-data1, X-MS-META-ABC";
  assert.deepEqual(asking([rule({})], "http://a.com", "PUT", headers)(), [
    ...ALLOWED,
    ...["Access-Control-Allow-Headers", headers, "Access-Control-Max-Age", "200"],
  ]);
});

test("a rule for any origin answers with a star and without credentials", () => {
  assert.deepEqual(asking([rule({ allowedOrigins: ["*"] })], "http://b.com", "GET")(), [
    ...["Access-Control-Allow-Origin", "*", "Access-Control-Allow-Methods", "GET"],
    ...["Access-Control-Max-Age", "200"],
  ]);
});

test("without a matching rule, a preflight fails", () => {
  const rules = [rule({})];
  assertRefused("CorsPreflightFailure", asking([], "http://a.com", "GET"));
  for (const origin of [
    "http://b.com",
    "HTTP://A.COM",
    "https://a.com",
    "http://a.com:80",
    "null",
  ]) {
    assertRefused("CorsPreflightFailure", asking(rules, origin, "GET"), origin);
  }
  for (const method of ["DELETE", "put"]) {
    assertRefused("CorsPreflightFailure", asking(rules, "http://a.com", method), method);
  }
  for (const headers of ["x-ms-meta-abcd", "x-ms-meta-abc,authorization", "x-ms-meta-dat"]) {
    assertRefused("CorsPreflightFailure", asking(rules, "http://a.com", "GET", headers), headers);
  }
});

test("the first rule that matches origin and method decides, even if a later one has the headers", () => {
  const rules = [
    rule({ allowedMethods: ["DELETE"] }),
    rule({ allowedHeaders: ["x-ms-version"] }),
    rule({ allowedHeaders: ["*"] }),
  ];
  asking(rules, "http://a.com", "GET", "x-ms-version")();
  assertRefused("CorsPreflightFailure", asking(rules, "http://a.com", "GET", "x-ms-date"));
});

test("a star allows every header, and a rule without headers allows none", () => {
  asking([rule({ allowedHeaders: ["*"] })], "http://a.com", "GET", "anything,else")();
  asking([rule({ allowedHeaders: [] })], "http://a.com", "GET")();
  asking([rule({ allowedHeaders: [] })], "http://a.com", "GET", "")();
  assertRefused(
    "CorsPreflightFailure",
    asking([rule({ allowedHeaders: [] })], "http://a.com", "GET", "x"),
  );
});

test("a wildcard matches every host below a domain", () => {
  const rules = [rule({ allowedOrigins: ["https://*.contoso.com"] })];
  for (const origin of ["https://www.contoso.com", "https://a.b-c.contoso.com"]) {
    assert.equal(asking(rules, origin, "GET")()[1], origin);
  }
  for (const origin of [
    "https://contoso.com",
    "https://.contoso.com",
    "http://www.contoso.com",
    "https://evilcontoso.com",
    "https://www.contoso.com.evil.org",
    "https://evil.org/.contoso.com",
    "https://evil.org#.contoso.com",
    "https://user@www.contoso.com",
    "https://www.contoso.com:8080",
  ]) {
    assertRefused("CorsPreflightFailure", asking(rules, origin, "GET"), origin);
  }
  const withPort = [rule({ allowedOrigins: ["https://*.contoso.com:8080"] })];
  asking(withPort, "https://www.contoso.com:8080", "GET")();
});

test("a preflight must name origin and method", () => {
  for (const headers of [
    {},
    { Origin: "http://a.com" },
    { "Access-Control-Request-Method": "GET" },
  ]) {
    const { headers: sent } = requestOf({ url: "http://h/a", headers });
    assertRefused("MissingRequiredHeader", () => preflight([rule({})], sent));
  }
});

const RESPONSE = ["ETag", "x-ms-meta-a", "X-Ms-Meta-B", "Content-Length"];

test("a page that a rule allows sees the response and its exposed headers", () => {
  assert.deepEqual(corsHeaders([rule({})], "GET", "http://a.com", RESPONSE), [
    ...["Access-Control-Allow-Origin", "http://a.com", "Access-Control-Allow-Credentials", "true"],
    ...["Access-Control-Expose-Headers", "ETag,x-ms-meta-a,X-Ms-Meta-B", "Vary", "Origin"],
  ]);
});

test("a rule for any origin also applies without an Origin, and the response does not vary", () => {
  const rules = [rule({ allowedOrigins: ["*"], exposedHeaders: ["*"] })];
  for (const origin of ["http://b.com", undefined]) {
    assert.deepEqual(corsHeaders(rules, "GET", origin, RESPONSE), [
      ...["Access-Control-Allow-Origin", "*", "Access-Control-Expose-Headers"],
      "ETag,x-ms-meta-a,X-Ms-Meta-B,Content-Length",
    ]);
  }
});

test("reads vary by origin if there are rules and none matches", () => {
  for (const origin of ["http://b.com", undefined]) {
    for (const method of ["GET", "HEAD"]) {
      const rules = [rule({ allowedMethods: [method] })];
      assert.deepEqual(corsHeaders(rules, method, origin, RESPONSE), ["Vary", "Origin"]);
    }
    assert.deepEqual(corsHeaders([rule({})], "PUT", origin, RESPONSE), []);
    assert.deepEqual(corsHeaders([], "GET", origin, RESPONSE), []);
  }
});

test("writes do not vary", () => {
  const headers = corsHeaders([rule({ exposedHeaders: [] })], "PUT", "http://a.com", RESPONSE);
  assert.deepEqual(headers, ALLOWED.slice(0, 4));
});
