import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { systemClock } from "../../src/base/clock.ts";
import { assertReference } from "../../src/base/reference.fixture.ts";
import { HEALTHY } from "../../src/front/health.ts";
import type { Metric } from "../../src/front/metrics/metric.ts";
import { REST_FAULTS } from "../../src/front/rest/fault-status.ts";
import { restReadMemory } from "../../src/front/rest/http/own-server.ts";
import { SendBudget } from "../../src/front/send-budget.ts";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import { WaitingWork } from "../../src/front/waiting-work.ts";
import { systemSchedule } from "../../src/main/background.ts";
import { Metrics } from "../../src/main/metrics/metrics.ts";
import { openData } from "../../src/main/open-data.ts";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";

const ALERTS = "docs/operate/alerts.yml";
const DASHBOARD = "docs/operate/dashboard.json";

const metrics = await allMetrics();
const byName = new Map(metrics.map((metric) => [metric.name, metric]));

/** The metrics of a server with a data folder, which has all that there are. */
async function allMetrics(): Promise<readonly Metric[]> {
  const location = mkdtempSync(join(tmpdir(), "lazuli-metrics-"));
  after(() => rmSync(location, { recursive: true }));
  const data = await openData({ location, memoryBytesMax: null }, systemClock, assert.fail);
  const measured = new Metrics(["blob", "queue", "table", "file", "dfs", "smb"]);
  const sources = measured.sources({
    stores: [data.store],
    engine: data.engine,
    sharedRecords: () => [],
    budget: new SendBudget(),
    work: new WaitingWork(),
    readMemory: restReadMemory(),
    clock: systemClock,
    schedule: systemSchedule,
    software: "Lazuli/1.2.3",
    health: () => HEALTHY,
    onError: assert.fail,
  });
  await measured.close();
  await data.close();
  return sources.flatMap((source) => source.metrics);
}

test("docs/reference/metrics.md lists every metric", () => {
  assertReference("metrics.md", reference());
});

test("names are as Prometheus wants them, each once", () => {
  assert.equal(byName.size, metrics.length);
  for (const { name, type, help } of metrics) {
    assert.match(name, /^(?:lazuli|process|nodejs)_[a-z_]+$/);
    assert.equal(name.endsWith("_total"), type === "counter", name);
    assert.match(help, /^[A-Z0-9].*\.$/, name);
  }
});

for (const file of [ALERTS, DASHBOARD]) {
  test(`${file} names only metrics and labels that there are`, () => {
    const used = usedIn(expressionsOf(file));
    assert.ok(used.length >= 10);
    for (const { name, labels } of used) {
      const metric = metricOf(name);
      assert.ok(metric !== undefined, `${name} is not exposed`);
      for (const label of labels) {
        assert.ok(ADDED_LABELS.has(label) || labelsOf(metric).includes(label), `${name}: ${label}`);
      }
    }
  });
}

test("the dashboard shows every metric of our own", () => {
  const used = new Set(usedIn(expressionsOf(DASHBOARD)).map(({ name }) => metricOf(name)?.name));
  const missing = metrics.map(({ name }) => name).filter((name) => /^lazuli_/.test(name));
  assert.deepEqual(
    missing.filter((name) => !used.has(name)),
    [...NOT_SHOWN],
  );
});

test("the codes that alert rules look for exist", () => {
  const rest = new Set<string>(Object.values(REST_FAULTS).map(({ code }) => code));
  const smb = new Set(Object.keys(STATUS).map((name) => `STATUS_${name}`));
  const named = expressionsOf(ALERTS).flatMap((text) => [
    ...text.matchAll(/\b(?:code|error)=~?"([^"]+)"/g),
  ]);
  const codes = named.flatMap(([, all = ""]) => all.split("|"));
  assert.ok(codes.length >= 5);
  for (const code of codes) {
    assert.ok(/^\d{3}$/.test(code) || rest.has(code) || smb.has(code), code);
  }
});

test("promtool accepts the alert rules", (t) => {
  const reason = skipWithoutDebianProgram("promtool", "prometheus");
  if (reason !== null) return t.skip(reason);
  const checked = spawnSync("promtool", ["check", "rules", ALERTS], { encoding: "utf8" });
  assert.equal(checked.status, 0, checked.stdout + checked.stderr);
});

/** Labels that Prometheus adds, and that of buckets. */
const ADDED_LABELS = new Set(["job", "instance", "le"]);
/** Figures that help to read others, and need no picture. */
const NOT_SHOWN: readonly string[] = ["lazuli_census_records"];

/** The expressions of rules or panels. Those of rules may span lines. */
function expressionsOf(file: string): string[] {
  const text = readFileSync(file, "utf8");
  if (file.endsWith(".json")) return expressionsIn(JSON.parse(text));
  return [...text.matchAll(/^ +expr: (?:\|\n((?: {10}.*\n)+)|(.*)$)/gm)].map(
    ([, long, short]) => long ?? short ?? "",
  );
}

function expressionsIn(value: unknown): string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) =>
    (name === "expr" || name === "query") && typeof one === "string" ? [one] : expressionsIn(one),
  );
}

interface Use {
  readonly name: string;
  readonly labels: readonly string[];
}

/** The metrics of expressions, with the labels that they are selected by. */
function usedIn(expressions: readonly string[]): Use[] {
  return expressions.flatMap((text) => {
    const grouped = [...text.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, all = ""]) =>
      all.split(",").map((label) => label.trim()),
    );
    return [...text.matchAll(/\b((?:lazuli|process|nodejs)_[a-z_]+)\b(?:\{([^}]*)\})?/g)].map(
      ([, name = "", selector = ""]) => ({
        name,
        labels: [
          ...grouped,
          ...[...selector.matchAll(/([a-z_]+)(?:=~|!~|!=|=)/g)].map(([, label = ""]) => label),
        ],
      }),
    );
  });
}

/** The metric of a name, or of a series of a histogram. */
function metricOf(name: string): Metric | undefined {
  const found = byName.get(name);
  if (found !== undefined) return found;
  const family = byName.get(name.replace(/_(?:bucket|sum|count)$/, ""));
  return family?.type === "histogram" ? family : undefined;
}

function labelsOf({ labels }: Metric): readonly string[] {
  return labels;
}

function reference(): string {
  const rows = metrics.map(({ name, type, labels, help }) => {
    const shown = labels.map((label) => `\`${label}\``).join(", ");
    return `| \`${name}\` | ${type} | ${shown} | ${help} |`;
  });
  return `# Metrics

\`--metricsPort 9464\` serves \`GET /metrics\` in Prometheus' text format 0.0.4, and in OpenMetrics 1.0 if the request asks for it.
\`GET /healthz\` answers as it does on the ports of the services. Other paths are 404. Metrics are off by default; they listen on
loopback unless \`--metricsHost\` says otherwise. There are no credentials: whoever reaches the port can read how much of what is
done, but no name of an account, a container, an object or a client, and no data. How to use them: [operate](../operate/README.md).

| metric | type | labels | meaning |
|---|---|---|---|
${rows.join("\n")}

## Requests

* \`operation\` is the name of the operation as in the access log, \`Unknown\` if there is none. \`code\` is the HTTP status; for SMB the
  name of the NT status, such as \`STATUS_SUCCESS\`. \`error\` is the error code of a refusal or failure, and empty otherwise. An operation has at most 63 different
  results; further ones count as \`other\`.
* The time of a request ends when the last byte of its answer is sent: it includes the time that its client takes to send and
  to read. Requests inside a batch count, but have no time of their own.
* \`lazuli_conflicts_total\` tells how clients get into each other's way:

| kind | means |
|---|---|
| \`condition\` | 412: an If-Match or another condition was not met |
| \`not_modified\` | 304: a conditional read found nothing new |
| \`lease\` | 409 or 412: the lease id is missing or wrong, or somebody else has the lease |
| \`sharing_violation\` | an open over SMB excludes this access, through SMB or REST |
| \`delete_pending\` | the file is to be deleted as soon as its last handle is closed |
| \`lock\` | a byte range is locked |
| \`conflict\` | any other 409, and a name that is taken over SMB |

## The census

Leases, handles, locks, messages, objects and live bytes are counted by reading their records: counters would cost every write,
and a lease or a hidden message ends without one. A scrape begins a census and waits for its first 32 steps, of up to 1,000 records
or 128 KiB each. So with up to some thousand objects, the figures are those of the scrape. With more, the census goes on in the
background with a step every 100 ms, which takes about 2 % of a processor, and scrapes show the census before. A million blobs take
some minutes; \`lazuli_census_timestamp_seconds\` says when it ended. Until the first census has ended, these metrics are missing.
While nobody scrapes, nothing is counted.

## Names

Metrics that begin with \`process_\` or \`nodejs_\` have the names that the usual client library for Node.js gives them.
\`process_open_fds\` exists on Linux only. With \`--inMemoryPersistence\` there is no disk, so the metrics of the log, the
database, extents and the disk are missing.

Names and labels stay as they are from version 1.0 on; until then a change is in the changelog.
`;
}
