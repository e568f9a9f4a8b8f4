import assert from "node:assert/strict";
import { STATUS_CODES } from "node:http";
import { test } from "node:test";
import { FAULT_CODES, type FaultCode } from "../../base/fault.ts";
import { assertReference } from "../../base/reference.fixture.ts";
import { DATALAKE_FAULTS, FILE_MESSAGES, REST_FAULTS } from "./fault-status.ts";

test("docs/reference/errors.md lists every error as it is sent", () => {
  assertReference("errors.md", reference());
});

test("every refusal has a valid HTTP status, a code and a sentence", () => {
  for (const [name, { status, code, message }] of Object.entries(REST_FAULTS)) {
    assert.ok(STATUS_CODES[status] !== undefined && status >= 300, name);
    assert.match(code, /^[A-Z][A-Za-z0-9]+$/, name);
    assert.match(message, /^[A-Z].*\.$/, name);
  }
});

test("codes are unique and sorted", () => {
  assert.deepEqual([...FAULT_CODES], [...new Set(FAULT_CODES)].sort());
  assert.deepEqual(Object.keys(REST_FAULTS), [...FAULT_CODES]);
});

function reference(): string {
  const rows = Object.values(REST_FAULTS)
    .map(({ status, code, message }) => `| ${code} | ${status} | ${message} |`)
    .sort();
  const fileRows = Object.entries(FILE_MESSAGES).map(
    ([code, message]) => `| ${REST_FAULTS[code as FaultCode].code} | ${message} |`,
  );
  const dataLakeRows = Object.entries(DATALAKE_FAULTS).map(
    ([code, own]) => `| ${own.code} | ${REST_FAULTS[code as FaultCode].code} | ${own.message} |`,
  );
  return `# Errors of the REST services

Every error is sent with its code in the header \`x-ms-error-code\` and, except for a HEAD or a 304,
in a body: XML for Blob, Queue and File, JSON for Table and Data Lake. Clients should go by status
and code; the text may change. SDKs repeat requests that got a 500 or 503.

| code | status | message |
|---|---|---|
${[...new Set(rows)].join("\n")}

In the File service leases are on files and shares, and some messages say so:

| code | message |
|---|---|
${fileRows.join("\n")}

Data Lake has its own names for some of them:

| code | instead of | message |
|---|---|---|
${dataLakeRows.join("\n")}
`;
}
