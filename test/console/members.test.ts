import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import {
  PostgresServer,
  skipWithoutOwnPostgres,
} from "../../src/engine/postgres/postgres-server.fixture.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { assertFitsAll, Browsers, skipWithoutBrowser } from "./browser.ts";
import { ConsoleClient } from "./console-client.ts";
import { startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? skipWithoutOwnPostgres() ?? false;
const browsers = new Browsers();
after(() => browsers.close());

interface Member {
  readonly name: string;
  readonly address: string;
  readonly heartbeatAgeMs: number;
  readonly isLeader: boolean;
  readonly isThis: boolean;
}

test("Home shows the servers of a cluster, who leads, and where the data is", {
  skip,
  timeout: 900_000,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-members-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const database = await PostgresServer.start();
  t.after(() => database.remove());
  const shared = { records: database.url(), bytes: join(folder, "bytes") };
  const one = await startedConsole(t, shared);
  const other = await startedConsole(t, shared);
  const opened = await browsers.open(other.consoleUrl);
  t.after(() => opened.close());
  const { page, errors } = opened;
  const cluster = page.getByRole("region", { name: "Cluster" });
  // Each tells its address with a heartbeat, and the page asks again until it knows both.
  const rowOf = (url: string | undefined) =>
    cluster.getByRole("row").filter({ hasText: url ?? "none" });
  await rowOf(one.urls.blob).getByText("leads").waitFor();
  await rowOf(other.urls.blob).getByText("this one").waitFor();
  await rowOf(one.urls.blob).getByText(`${hostname()}, process ${process.pid}`).waitFor();
  await rowOf(one.urls.blob)
    .getByText(/^\d+ s ago$/)
    .waitFor();
  await page.getByText(`bytes in ${shared.bytes}`).waitFor();
  await assertFitsAll(page);
  assert.deepEqual(errors, []);

  const api = await ConsoleClient.signIn(one.consoleUrl);
  const { members } = await api.get<{ members: Member[] }>("/api/members");
  assert.deepEqual(
    members.map(({ address, isLeader, isThis }) => ({ address, isLeader, isThis })),
    [
      { address: one.urls.blob, isLeader: true, isThis: true },
      { address: other.urls.blob, isLeader: false, isThis: false },
    ],
  );
});

test("a server alone has no cluster to show, and an account's session sees none", async (t) => {
  const server = await startedConsole(t);
  const api = await ConsoleClient.signIn(server.consoleUrl);
  assert.deepEqual(await api.get("/api/members"), { members: null });
  const own = await ConsoleClient.signInByKey(server.consoleUrl, ACCOUNT, KEY);
  assert.deepEqual(await own.failsToGet("/api/members"), [403, "OperatorNeeded"]);
});
