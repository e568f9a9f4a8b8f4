import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { assertReference } from "../../src/base/reference.fixture.ts";
import { BLOB_HANDLERS } from "../../src/front/rest/blob/handlers.ts";
import { FILE_HANDLERS } from "../../src/front/rest/file/handlers.ts";
import { QUEUE_HANDLERS } from "../../src/front/rest/queue/handlers.ts";
import { TABLE_HANDLERS } from "../../src/front/rest/table/handlers.ts";
import { startFileServer } from "../sdk/file-server.ts";
import { startQueueServer } from "../sdk/queue-server.ts";
import { type RawAnswer, type RawAsked, rawRequest } from "../sdk/raw-request.ts";
import { startServer, type TestService } from "../sdk/server.ts";
import { startTableServer, tableRequest } from "../sdk/table-server.ts";
import {
  BLOB_REQUESTS,
  type DocumentedRequest,
  type DocumentedRequests,
  FILE_REQUESTS,
  QUEUE_REQUESTS,
  TABLE_REQUESTS,
} from "./documented-requests.ts";
import { noteParameters } from "./noted-parameters.ts";

/**
 * Nothing is accepted and ignored: for every header and parameter that the service documents for an
 * operation, the handler reads it and obeys it or refuses it by name
 * (`unsupported-headers.test.ts`), or it is listed in the table of those without effect.
 */

interface Documented {
  readonly headers: readonly string[];
  readonly query: readonly string[];
}

/** From the specifications of 2024-08-04 and 2026-04-06; for tables, of 2019-02-02. */
const DOCUMENTED: Readonly<Record<string, Readonly<Record<string, Documented>>>> = JSON.parse(
  readFileSync("test/vectors/documented-parameters.json", "utf8"),
);

/** Parameters that are read before an operation is handled. */
const BEFORE: Readonly<Record<string, string>> = {
  "x-ms-file-request-intent": "by authentication, of requests with a bearer token",
  "x-ms-requires-sync": "by routing: it selects Copy Blob From URL instead of Copy Blob",
  peekonly: "by routing: it selects Peek Messages instead of Get Messages",
};

/** Parameters that some operations accept without effect. */
const HARMLESS: readonly { parameter: string; of: RegExp; why: string }[] = [
  {
    parameter: "x-ms-structured-content-length",
    of: /_(upload|stageBlock|uploadPages|appendBlock|uploadRange)$/,
    why: "It belongs to `x-ms-structured-body`, and means nothing without it.",
  },
  {
    parameter: "x-ms-lease-id",
    of: /_breakLease$/,
    why: "Breaking a lease requires no lease id.",
  },
];

function whyHarmless(operation: string, parameter: string): string | null {
  const found = HARMLESS.find((one) => one.parameter === parameter && one.of.test(operation));
  return found?.why ?? null;
}

interface Service {
  readonly handlers: object;
  readonly requests: DocumentedRequests;
  start(): Promise<TestService>;
  ask(server: TestService, asked: RawAsked): Promise<RawAnswer>;
}

const SERVICES: Readonly<Record<string, Service>> = {
  blob: {
    handlers: BLOB_HANDLERS,
    requests: BLOB_REQUESTS,
    start: startServer,
    ask: rawRequest,
  },
  file: {
    handlers: FILE_HANDLERS,
    requests: FILE_REQUESTS,
    start: startFileServer,
    ask: rawRequest,
  },
  queue: {
    handlers: QUEUE_HANDLERS,
    requests: QUEUE_REQUESTS,
    start: startQueueServer,
    ask: rawRequest,
  },
  table: {
    handlers: TABLE_HANDLERS,
    requests: TABLE_REQUESTS,
    start: startTableServer,
    ask: tableRequest,
  },
};

/** Rows of the reference: service, operation, parameter. */
const unread: [string, string, string][] = [];

for (const [name, service] of Object.entries(SERVICES)) {
  test(`${name}: every documented operation is requested`, () => {
    const asked = Object.keys(service.requests).sort();
    assert.deepEqual(asked, Object.keys(DOCUMENTED[name] ?? {}).sort());
  });

  test(`${name}: every documented header and parameter is read, or listed as harmless`, async () => {
    const noted = noteParameters(service.handlers);
    const server = await service.start();
    const known = placesOf(server);
    for (const [operation, request] of Object.entries(service.requests)) {
      noted.headers.clear();
      noted.query.clear();
      const answer = await service.ask(server, filled(request, known));
      requireExpectedStatus(operation, request, answer);
      remember(known, answer);
      if (isRefusedAsAWhole(answer)) continue;
      const { headers, query } = DOCUMENTED[name]?.[operation] ?? { headers: [], query: [] };
      const left = [
        ...headers.filter((header) => !noted.headers.has(header)),
        ...query.filter((parameter) => !noted.query.has(parameter)),
      ].filter((parameter) => !(parameter in BEFORE));
      for (const parameter of left) {
        assert.ok(whyHarmless(operation, parameter), `${operation} ignores ${parameter}`);
        unread.push([name, operation, parameter]);
      }
    }
    await server.close();
    assert.deepEqual(server.failures, []);
  });
}

test("docs/reference/ignored-parameters.md lists the parameters without effect", () => {
  const rows = unread.map(([service, operation, parameter]) => {
    return `| ${service} | ${operation} | \`${parameter}\` | ${whyHarmless(operation, parameter)} |`;
  });
  const before = Object.entries(BEFORE).map(([name, by]) => `* \`${name}\`: ${by}.`);
  assertReference(
    "ignored-parameters.md",
    `# Headers and parameters without effect

The server obeys every header and parameter that the service documents for an operation, or refuses it by name
([Blob](blob-operations.md#features-that-are-refused), [File](file-operations.md)), except these:

| service | operation | parameter | why |
|---|---|---|---|
${rows.join("\n")}

These take effect before an operation is handled:

${before.join("\n")}

Obeyed where it applies and otherwise ignored, as the service documents it:

* \`x-ms-rehydrate-priority\` of Copy Blob and Set Blob Tier, if nothing is rehydrated.

The service properties \`Logging\`, \`HourMetrics\` and \`MinuteMetrics\` are stored and returned as they
were set, but they cause no logging and no metrics; \`--log\` writes a log of requests. Switching logging on creates the container
\`$logs\`, as in the service, but it stays empty.
`,
  );
});

/** Values for the placeholders in braces in the requests. */
function placesOf({ url }: TestService): Map<string, string> {
  const names = { source: "there", pages: "pages", folder: "folder" };
  return new Map(Object.entries(names).map(([place, name]) => [place, `${url}/box/${name}`]));
}

const REMEMBERED = { snapshot: "x-ms-snapshot", permission: "x-ms-file-permission-key" };

function remember(known: Map<string, string>, { headers }: RawAnswer): void {
  for (const [place, header] of Object.entries(REMEMBERED)) {
    const value = headers.get(header);
    if (value !== null) known.set(place, value);
  }
}

function filled({ path, headers, ...asked }: DocumentedRequest, known: Map<string, string>) {
  const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, place) => known.get(place) ?? "");
  const entries = Object.entries(headers ?? {}).map(([name, value]) => [name, fill(value)]);
  return { ...asked, path: fill(path), headers: Object.fromEntries(entries) };
}

function requireExpectedStatus(
  operation: string,
  { status }: DocumentedRequest,
  answer: RawAnswer,
): void {
  const isWanted = status === undefined ? answer.status < 300 : answer.status === status;
  assert.ok(isWanted, `${operation}: ${answer.status} ${answer.code} ${answer.text}`);
}

/** Whether the operation is refused by name, so that its parameters need not be read. */
function isRefusedAsAWhole({ status, code, text }: RawAnswer): boolean {
  return status === 501 || (code === "UnsupportedQueryParameter" && text.includes("Links are"));
}
