import assert from "node:assert/strict";
import { resolve } from "node:path";
import { test } from "node:test";
import { announcementsOf, type Started } from "./announcements.ts";
import { readCommandLine } from "./command-line.ts";
import type { ServiceName } from "./flags.ts";
import { PROGRAMS, type ProgramName } from "./programs.ts";
import { readSettings } from "./settings.ts";

/** The lines of `program`, started with this command line, if it gets these addresses. */
function announced(
  program: ProgramName,
  line: string,
  origins: readonly (readonly [ServiceName, string])[],
  accounts = "",
  metricsOrigin: string | null = null,
  consoleAddress: string | null = null,
) {
  const env = { AZURITE_ACCOUNTS: accounts };
  const asked = readCommandLine(line.split(" ").filter(Boolean), env, PROGRAMS[program]);
  assert.ok(asked.kind === "start");
  const settings = readSettings(asked.options);
  const started: Started = {
    version: "1.2.3",
    settings,
    origins: new Map(origins),
    metricsOrigin,
    consoleAddress,
    labOrigin: null,
  };
  return announcementsOf(PROGRAMS[program], started);
}

test("azurite prints the lines of Azurite 3.37, with the requested address and the actual one", () => {
  const origins = [
    ["blob", "http://127.0.0.1:40000"],
    ["queue", "http://127.0.0.2:10001"],
    ["table", "http://127.0.0.1:10002"],
  ] as const;
  assert.deepEqual(announced("azurite", "--blobPort 0 --queueHost 127.0.0.2", origins), {
    ready: [
      "Azurite Blob service is starting at http://127.0.0.1:0",
      "Azurite Blob service is successfully listening at http://127.0.0.1:40000",
      "Azurite Queue service is starting at http://127.0.0.2:10001",
      "Azurite Queue service is successfully listening at http://127.0.0.2:10001",
      "Azurite Table service is starting at http://127.0.0.1:10002",
      "Azurite Table service is successfully listening at http://127.0.0.1:10002",
    ],
    closing: [
      "Azurite Blob service is closing...",
      "Azurite Queue service is closing...",
      "Azurite Table service is closing...",
    ],
    closed: [
      "Azurite Blob service successfully closed",
      "Azurite Queue service successfully closed",
      "Azurite Table service successfully closed",
    ],
  });
});

test("each of Azurite's programs for one service prints its own lines", () => {
  const ready = {
    blob: "Azurite Blob service successfully listens on http://127.0.0.1:4",
    queue: "Azurite Queue service successfully listens on http://127.0.0.1:4",
    table: "Azurite Table service successfully started on 127.0.0.1:3",
  };
  const title = { blob: "Blob", queue: "Queue", table: "Table" };
  for (const service of ["blob", "queue", "table"] as const) {
    const origins = [[service, "http://127.0.0.1:4"]] as const;
    assert.deepEqual(announced(`azurite-${service}`, `--${service}Port 3`, origins), {
      ready: [`Azurite ${title[service]} service is starting on 127.0.0.1:3`, ready[service]],
      closing: [`Azurite ${title[service]} service is closing...`],
      closed: [`Azurite ${title[service]} service successfully closed`],
    });
  }
});

test("lazuli prints version, data and accounts once, then a line for each service", () => {
  const origins = [
    ["blob", "http://127.0.0.1:10000"],
    ["smb", "smb://127.0.0.1:10445"],
  ] as const;
  const { ready, closing, closed } = announced("lazuli", "-l box", origins, "a:YQ==;b:Yg==");
  assert.deepEqual(ready, [
    "Lazuli 1.2.3",
    `Data: ${resolve("box")}`,
    "Accounts: a, b",
    "Blob service is successfully listening at http://127.0.0.1:10000",
    "SMB service is successfully listening at smb://127.0.0.1:10445",
  ]);
  assert.deepEqual([...closing, ...closed], []);
});

test("only the first ten of many accounts are named", () => {
  const list = Array.from({ length: 12 }, (_, at) => `account${at}:YQ==`).join(";");
  const { ready } = announced("lazuli", "--inMemoryPersistence", [], list);
  assert.equal(ready[1], "Data: in memory");
  assert.match(ready[2] ?? "", /^Accounts: account0, .*, account9 and 2 more$/);
});

test("the address of the console, with its token, is the last line", () => {
  const address = "http://127.0.0.1:10005/#token=secret";
  for (const program of ["lazuli", "azurite"] as const) {
    const { ready } = announced(program, "", [], "", null, address);
    assert.equal(ready.at(-1), `Console: ${address}`);
  }
});

test("the address of the metrics is the last line of every program that serves them", () => {
  for (const program of ["lazuli", "azurite", "azurite-blob"] as const) {
    const { ready } = announced(program, "", [], "", "http://127.0.0.1:9464");
    assert.equal(ready.at(-1), "Metrics are at http://127.0.0.1:9464/metrics", program);
    const without = announced(program, "", []).ready;
    assert.deepEqual(ready.slice(0, -1), without);
  }
});
