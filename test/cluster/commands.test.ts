import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import {
  PostgresServer,
  skipWithoutOwnPostgres,
} from "../../src/engine/postgres/postgres-server.fixture.ts";
import { box, MIB, putAll, requireEqual, succeeds } from "../command/backups.ts";
import { lazuli, RestServer, scratchFolder } from "../command/folder-server.ts";
import { Scrape } from "../command/metrics.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { ServedFrontEnds } from "./served-front-ends.ts";

describe("commands on shared records", {
  skip: skipWithoutOwnPostgres() ?? false,
  timeout: 900_000,
}, () => {
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(() => server.remove());

  /** Flags for records and bytes that nobody else uses. */
  function newPlace(t: TestContext) {
    const bytes = join(scratchFolder(t), "bytes");
    const records = server.url();
    return { records, bytes, flags: ["--records", records, "--bytes", bytes] };
  }

  const rowsOf = async (...flags: string[]) =>
    JSON.parse(await succeeds("usage", "--json", ...flags)).rows as { name: string }[];

  const fails = async (line: RegExp, ...args: string[]) => {
    const { code, out, err } = await lazuli(...args);
    const lines = err.trimEnd().split("\n");
    const told = lines.filter((one) => !/^\d+ (of \d+ )?records, /.test(one));
    assert.match(told.join("\n"), line);
    assert.deepEqual([code === 0, out, told.length], [false, "", 1], err);
    assert.ok(!err.includes("p%40ss"), "the password is printed");
  };

  test("usage and verify read what front ends serve; damage is named", async (t) => {
    const place = newPlace(t);
    const front = new RestServer(t, place.flags);
    const stored = await putAll(await box(front), "a");
    const rows = await rowsOf("--records", place.records);
    assert.deepEqual(
      rows.map(({ name }) => name),
      ["box"],
    );
    const below = await rowsOf(`blob/${ACCOUNT}/box`, "--records", place.records);
    const [one] = below as unknown as {
      amounts: { current: { objects: number; bytes: number } };
    }[];
    const bytes = [...stored.values()].reduce((sum, { length }) => sum + length, 0);
    assert.deepEqual(one?.amounts.current, { objects: stored.size, bytes });
    const config = join(scratchFolder(t), "lazuli.json");
    writeFileSync(config, JSON.stringify({ records: place.records, bytes: place.bytes }));
    assert.deepEqual(await rowsOf("--config", config), rows);
    await fails(
      /There is no blob\/x\/none in these records/,
      "usage",
      "blob/x/none",
      ...place.flags.slice(0, 2),
    );

    assert.match(await succeeds("verify", ...place.flags), /^All is well: \d+ records, /m);
    const extents = join(place.bytes, "extents");
    const files = readdirSync(extents, { recursive: true }).map(String);
    rmSync(join(extents, files.find((name) => name.endsWith(".extent")) ?? ""));
    const { code, out } = await lazuli("verify", ...place.flags);
    assert.equal(code, 3);
    assert.match(out, /^damaged: blob .*box\/a-/m);
    assert.match(out, /^1 damaged, of /m);
  });

  test("a backup is one state, taken while clients write; the restored cluster goes on from it", async (t) => {
    const place = newPlace(t);
    const fronts = [new RestServer(t, place.flags), new RestServer(t, place.flags)];
    const [one, other] = fronts as [RestServer, RestServer];
    const stored = await putAll(await box(one), "a");
    const share = (await one.shares()).getShareClient("docs");
    await share.create();
    await share.rootDirectoryClient.createFile("f", MIB);
    const range = randomBytes(200_000);
    await share.rootDirectoryClient.getFileClient("f").uploadRange(range, 500_000, range.length);
    const table = await one.table("people");
    await table.createTable();
    await table.createEntity({ partitionKey: "p", rowKey: "r", big: 2n ** 60n });

    // The first blob is never behind the second, and at most one step ahead, in every state.
    const bodyOf = (count: number) => Buffer.alloc(100_000, count);
    const writers = await Promise.all(fronts.map(box));
    const write = async (count: number) => {
      for (const name of ["first", "second"]) {
        await writers[count % 2]?.getBlockBlobClient(name).uploadData(bodyOf(count));
      }
    };
    await write(1);
    let isDone = false;
    let count = 1;
    const writing = (async () => {
      while (!isDone) await write((++count % 200) + 1);
    })();
    const backups = join(scratchFolder(t), "backups");
    const backUp = async () =>
      JSON.parse(await succeeds("backup", backups, "--json", ...place.flags)) as {
        newBytes: number;
      };
    const before = await backUp();
    isDone = true;
    await writing;
    assert.ok(before.newBytes > 9 * MIB);

    const to = newPlace(t);
    const restored = await succeeds("restore", backups, ...to.flags);
    assert.match(restored, /is restored to postgres:\/\/postgres:\*\*\*@\S+ and verified: /);
    assert.match(await succeeds("verify", ...to.flags), /All is well/);
    const again = new RestServer(t, to.flags);
    const container = await box(again);
    const numbers = await Promise.all(
      ["first", "second"].map(async (name) => {
        const body = await container.getBlobClient(name).downloadToBuffer();
        assert.ok(body.equals(bodyOf(body[0] ?? 0)), "a body of two writes");
        return body[0] ?? 0;
      }),
    );
    const [first = 0, second = 0] = numbers;
    assert.ok(first === second || first === (second % 200) + 1, `${first} and ${second}`);
    for (const name of ["first", "second"]) await container.deleteBlob(name);
    await requireEqual(container, stored);
    const etag = async (from: RestServer) =>
      (await (await box(from)).getBlobClient("a-10").getProperties()).etag;
    assert.equal(await etag(again), await etag(other));
    const file = (await again.shares())
      .getShareClient("docs")
      .rootDirectoryClient.getFileClient("f");
    assert.ok((await file.downloadToBuffer(500_000, range.length)).equals(range));
    assert.equal((await (await again.table("people")).getEntity("p", "r")).big, 2n ** 60n);
    await container.getBlockBlobClient("new").uploadData(range);

    // The second backup has only what is new. Both, and nothing else, are in order.
    await (await box(one)).getBlockBlobClient("later").uploadData(randomBytes(20_000));
    assert.ok((await backUp()).newBytes < 2 * MIB);
    assert.match(await succeeds("backup", backups, "--check"), /All 2 backups/);
    await fails(/Front ends run on the records/, "restore", backups, ...place.flags);
    for (const front of fronts) await front.stop();
    await fails(/They have data already: choose another/, "restore", backups, ...place.flags);
  });

  test("a backup of the other kind of place, and half a restore, are refused", async (t) => {
    const place = newPlace(t);
    const front = new RestServer(t, place.flags);
    await putAll(await box(front), "a");
    const backups = join(scratchFolder(t), "backups");
    await succeeds("backup", backups, ...place.flags);
    const folder = join(scratchFolder(t), "folder");
    await fails(/is of shared records: restore it/, "restore", backups, "--location", folder);
    const alone = new RestServer(t, ["--location", folder]);
    await box(alone);
    const ofFolder = join(scratchFolder(t), "backups");
    await succeeds("backup", ofFolder, "--location", folder);
    const to = newPlace(t);
    await fails(/is of a data folder: restore it/, "restore", ofFolder, ...to.flags);

    // A restore that lacks a pack leaves records on which nobody starts, until it is run again.
    const packs = join(backups, "packs");
    const [pack = ""] = readdirSync(packs);
    const path = join(packs, pack);
    renameSync(path, `${path}.away`);
    await fails(
      /no front end starts on it: restore the same backup again/,
      "restore",
      backups,
      ...to.flags,
    );
    renameSync(`${path}.away`, path);
    const begun = await lazuli("start", ...to.flags, "--services", "blob", "--blobPort", "0");
    assert.match(
      begun.err,
      /These records are not complete: the restore of the backup \S+ did not end/,
    );
    await succeeds("restore", backups, ...to.flags);
    assert.match(await succeeds("verify", ...to.flags), /All is well/);
  });

  test("metrics tell of round trips, commits and the cache", async (t) => {
    const { flags } = newPlace(t);
    const front = new RestServer(t, [...flags, "--metricsPort", "0"]);
    const container = await box(front);
    await container.getBlockBlobClient("one").upload("1", 1);
    for (let again = 0; again < 3; again++) await container.getBlobClient("one").getProperties();
    const origin = await front.process.printed(/^Metrics are at (\S+)\/metrics$/m);
    const scrape = await Scrape.at(origin ?? "");
    const of = { database: "default" };
    const value = (name: string, more = {}) => scrape.value(`lazuli_${name}`, { ...of, ...more });
    assert.equal(value("database_ready"), 1);
    const commits = value("records_commit_duration_seconds_count");
    assert.ok(commits > 2 && value("records_commit_group_transactions_sum") >= commits);
    assert.ok(value("records_read_duration_seconds_count") > 0);
    assert.ok(value("records_reads_total", { from: "cache" }) > 0);
    assert.ok(value("records_reads_total", { from: "database" }) > 0);
    assert.ok(value("records_cache_bytes") > 0);
    assert.equal(value("records_connections_lost_total"), 0);
    assert.equal(value("records_answers_lost_total"), 0);
  });

  test("reload reaches all front ends, and tells what each of them says", async (t) => {
    const place = newPlace(t);
    const config = join(scratchFolder(t), "lazuli.json");
    const account = (name: string) => ({ name, keys: [KEY] });
    const write = (accounts: object[]) => writeFileSync(config, JSON.stringify({ accounts }));
    write([account(ACCOUNT)]);
    const flags = [...place.flags, "--config", config];
    const fronts = [new RestServer(t, flags), new RestServer(t, flags)];
    await Promise.all(fronts.map(box));
    write([account(ACCOUNT), account("shop")]);
    const lines = (await succeeds("reload", "--records", place.records)).trimEnd().split("\n");
    assert.equal(lines.length, 2);
    for (const line of lines) {
      assert.match(line, /^\S+, process \d+ \(http:\S+\): The configuration is reloaded: .*shop/);
    }
    writeFileSync(config, "{");
    const { code, out, err } = await lazuli("reload", "--records", place.records);
    assert.equal(code, 1);
    assert.match(out, /is not reloaded, and the old one stays: .*lazuli.json:1/);
    assert.match(err, /^2 of 2 front ends have not reloaded\.$/m);
    for (const front of fronts) await front.stop();
    await fails(/No front end runs on these records/, "reload", "--records", place.records);
  });

  test("commands make no schema, and flags that contradict each other are refused", async (t) => {
    const { flags, records } = newPlace(t);
    for (const command of [
      ["usage", "--records", records],
      ["verify", ...flags],
      ["reload", "--records", records],
    ]) {
      await fails(/there are no records in the schema test_\w+: check the database/, ...command);
    }
    await fails(
      /--records and --location contradict/,
      "usage",
      "--records",
      records,
      "--location",
      "x",
    );
    await fails(/name their folder or bucket with --bytes/, "verify", "--records", records);
    await fails(
      /no database "west"\. There is: default/,
      "usage",
      "--records",
      records,
      "--database",
      "west",
    );
    const config = join(scratchFolder(t), "lazuli.json");
    const named = (name: string) => ({ name, records: server.url(), bytes: "b" });
    writeFileSync(config, JSON.stringify({ databases: [named("east"), named("west")] }));
    await fails(/choose one with --database: east, west/, "usage", "--config", config);
    await fails(
      /--location and "databases" in .* contradict/,
      "start",
      "--config",
      config,
      "--location",
      "x",
    );
  });

  test("front ends free nothing that a command may still read", async (t) => {
    const cluster = new ServedFrontEnds(t, server);
    const [one] = [await cluster.add(), await cluster.add()];
    await one.share.create();
    const file = one.share.rootDirectoryClient.getFileClient("f");
    await file.create(MIB);
    await file.uploadRange(Buffer.alloc(MIB, 1), 0, MIB);
    const before = cluster.extents;
    assert.ok(before.length > 0);
    const guest = await cluster.guest();
    const unpin = guest.member?.frontEnd.pin() ?? assert.fail();
    await file.delete();
    let beats = 0;
    await cluster.passUntil(async () => ++beats > 20);
    assert.deepEqual(cluster.extents, before);
    assert.equal(guest.member?.frontEnd.isSweeper, false);
    unpin();
    await cluster.passUntil(async () => cluster.extents.length === 0);
    await guest.close();
  });
});
