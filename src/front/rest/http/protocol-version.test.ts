import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../../base/fault.ts";
import { NEWEST_VERSION, protocolVersion } from "./protocol-version.ts";
import { parseQuery } from "./query.ts";

function version(header: string | undefined, query = ""): string {
  return protocolVersion({ get: () => header, raw: [] }, parseQuery(query));
}

test("the header names the version; the default is the newest", () => {
  assert.equal(version("2019-12-12"), "2019-12-12");
  assert.equal(version("2099-01-01"), "2099-01-01");
  assert.equal(version(undefined), NEWEST_VERSION);
});

test("a SAS may name the version in the URL: api-version, else the header, else sv", () => {
  assert.equal(version("2019-12-12", "sig=x&api-version=2018-03-28&sv=2017-04-17"), "2018-03-28");
  assert.equal(version("2019-12-12", "sig=x&sv=2017-04-17"), "2019-12-12");
  assert.equal(version(undefined, "sig=x&sv=2017-04-17"), "2017-04-17");
  assert.equal(version(undefined, "sig=x&sv=junk"), NEWEST_VERSION, "the signature is refused");
  assert.equal(version(undefined, "api-version=2018-03-28&sv=2017-04-17"), NEWEST_VERSION);
});

test("a version that is no date, or of another century, is refused by name", () => {
  for (const text of [
    "newest",
    "",
    "2020-13-01",
    "2020-00-10",
    "2020-01-00",
    "2021-02-29",
    "2020-04-31",
    "2100-01-01",
    "3025-05-06",
    "2020-1-1",
    "2020-01-01T00:00:00Z",
  ]) {
    assert.throws(
      () => version(text),
      (error) => error instanceof Fault && error.detail.HeaderName === "x-ms-version",
      text,
    );
    assert.throws(
      () => version(undefined, `sig=x&api-version=${text}`),
      (error) => error instanceof Fault && error.detail.QueryParameterName === "api-version",
      text,
    );
  }
  assert.equal(version("2020-02-29"), "2020-02-29");
});
