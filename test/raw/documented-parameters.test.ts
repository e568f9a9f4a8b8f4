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
 * Nothing is accepted and ignored: every header and every parameter that the service documents for
 * an operation is looked at by whoever handles it, which then follows it or refuses it by name
 * (`unsupported-headers.test.ts`), or stands in the table of those that mean nothing here.
 */

interface Documented {
  readonly headers: readonly string[];
  readonly query: readonly string[];
}

/** What the specifications of 2024-08-04 and 2026-04-06 say; of tables, that of 2019-02-02. */
const DOCUMENTED: Readonly<Record<string, Readonly<Record<string, Documented>>>> = JSON.parse(
  readFileSync("test/vectors/documented-parameters.json", "utf8"),
);

/** What is looked at before an operation is handled. */
const BEFORE: Readonly<Record<string, string>> = {
  "x-ms-file-request-intent": "by authentication, of who comes with a bearer token",
  "x-ms-requires-sync": "by routing: it makes Copy Blob From URL of Copy Blob",
  peekonly: "by routing: it makes Peek Messages of Get Messages",
};

/** What may be sent to some operations and changes nothing. */
const HARMLESS: readonly { parameter: string; of: RegExp; why: string }[] = [
  {
    parameter: "x-ms-structured-content-length",
    of: /_(upload|stageBlock|uploadPages|appendBlock|uploadRange)$/,
    why: "It belongs to `x-ms-structured-body`, without which there is nothing that it could say.",
  },
  {
    parameter: "x-ms-lease-id",
    of: /_breakLease$/,
    why: "Whoever may break a lease need not know its id.",
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
  test(`${name}: every operation that is documented is asked for`, () => {
    const asked = Object.keys(service.requests).sort();
    assert.deepEqual(asked, Object.keys(DOCUMENTED[name] ?? {}).sort());
  });

  test(`${name}: every documented header and parameter is looked at, or listed as harmless`, async () => {
    const noted = noteParameters(service.handlers);
    const server = await service.start();
    const known = placesOf(server);
    for (const [operation, request] of Object.entries(service.requests)) {
      noted.headers.clear();
      noted.query.clear();
      const answer = await service.ask(server, filled(request, known));
      refuseOther(operation, request, answer);
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

test("docs/reference/ignored-parameters.md lists them", () => {
  const rows = unread.map(([service, operation, parameter]) => {
    return `| ${service} | ${operation} | \`${parameter}\` | ${whyHarmless(operation, parameter)} |`;
  });
  const before = Object.entries(BEFORE).map(([name, by]) => `* \`${name}\`: ${by}.`);
  assertReference(
    "ignored-parameters.md",
    `# Headers and parameters that change nothing

Whatever the service documents for an operation is followed, or refused by its name
([Blob](blob-operations.md#features-that-are-refused), [File](file-operations.md)), but for these:

| service | operation | parameter | why |
|---|---|---|---|
${rows.join("\n")}

Looked at before an operation is handled:

${before.join("\n")}

Followed where it means something, and ignored elsewhere, as the service documents it:

* \`x-ms-rehydrate-priority\` of Copy Blob and Set Blob Tier, where nothing has to come out of the archive.

Of the properties of a service, \`Logging\`, \`HourMetrics\` and \`MinuteMetrics\` are kept and shown as they
were set, and nothing is logged or measured for them: see \`--log\` for a log of requests. Switching logging on creates the container
\`$logs\`, as in the service; it stays empty.
`,
  );
});

/** What stands in braces in the requests. */
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

function refuseOther(operation: string, { status }: DocumentedRequest, answer: RawAnswer): void {
  const isWanted = status === undefined ? answer.status < 300 : answer.status === status;
  assert.ok(isWanted, `${operation}: ${answer.status} ${answer.code} ${answer.text}`);
}

/** By its name, so that nothing of it needs to be looked at. */
function isRefusedAsAWhole({ status, code, text }: RawAnswer): boolean {
  return status === 501 || (code === "UnsupportedQueryParameter" && text.includes("Links are"));
}
