import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
// tidy-allow sleep: only asking tells what a front end knows of its database
import { setTimeout as wait } from "node:timers/promises";
import { AzureNamedKeyCredential, TableClient } from "@azure/data-tables";
import {
  BlobSASPermissions,
  BlobServiceClient,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import { DataLakeServiceClient } from "@azure/storage-file-datalake";
import {
  StorageSharedKeyCredential as FileCredential,
  ShareServiceClient,
} from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import {
  PostgresServer,
  skipWithoutOwnPostgres,
} from "../../src/engine/postgres/postgres-server.fixture.ts";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { READ, WRITE } from "../../src/rules/share-mode.ts";
import { LazuliProcess } from "../command/process.ts";
import { refused } from "../sdk/refused.ts";
import { SmbFiles } from "../smb/smb-files.ts";

const ASK_AGAIN_MS = 50;
const LARGE = randomBytes(3_000_000);
const HOUR_MS = 3_600_000;
const ONCE = { retryOptions: { maxTries: 1 } };

describe("accounts in several databases", {
  skip: skipWithoutOwnPostgres() ?? false,
  timeout: 900_000,
}, () => {
  const scratch = mkdtempSync(join(tmpdir(), "lazuli-databases-"));
  let east: PostgresServer;
  let west: PostgresServer;
  before(async () => {
    [east, west] = await Promise.all([PostgresServer.start(), PostgresServer.start()]);
  });
  after(async () => {
    await Promise.all([east.remove(), west.remove()]);
    rmSync(scratch, { recursive: true, force: true });
  });

  /** Two databases, with an account in each. */
  function plan(name: string) {
    const accounts = ["shop", "logs"].map((one) => ({
      name: one,
      keys: [randomBytes(64).toString("base64")],
    }));
    const databases = [east, west].map((server, at) => ({
      name: at === 0 ? "east" : "west",
      records: server.url(),
      bytes: join(scratch, `${name}-${at}`),
    }));
    const spread = accounts.map((one, at) => ({ ...one, database: databases[at]?.name }));
    const config = { databases, accounts: spread };
    const file = join(scratch, `${name}.json`);
    const write = (changed: object) => writeFileSync(file, JSON.stringify(changed));
    write(config);
    return { config, file, accounts, databases, write };
  }

  type Plan = ReturnType<typeof plan>;

  async function start(t: TestContext, args: readonly string[], more: readonly string[] = []) {
    const lazuli = new LazuliProcess(["start", ...args, ...ANY_PORTS, ...more]);
    t.after(() => lazuli.kill());
    const urls = {
      blob: await originOf(lazuli, "Blob"),
      queue: await originOf(lazuli, "Queue"),
      table: await originOf(lazuli, "Table"),
      file: await originOf(lazuli, "File"),
      dfs: await originOf(lazuli, "DFS"),
    };
    const smbPort = Number(await lazuli.printed(/smb:\/\/\S+:(\d+)/));
    return { lazuli, urls, smbPort };
  }

  type Started = Awaited<ReturnType<typeof start>>;

  /** Clients of one account. */
  function clients({ urls }: Started, { name, keys: [key = ""] }: Plan["accounts"][number]) {
    const credential = new StorageSharedKeyCredential(name, key);
    const forFiles = new FileCredential(name, key);
    const tables = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
    return {
      credential,
      blobs: new BlobServiceClient(`${urls.blob}/${name}`, credential, ONCE),
      queues: new QueueServiceClient(`${urls.queue}/${name}`, credential, ONCE),
      table: new TableClient(
        `${urls.table}/${name}`,
        "rows",
        new AzureNamedKeyCredential(name, key),
        tables,
      ),
      shares: new ShareServiceClient(`${urls.file}/${name}`, forFiles, ONCE),
      lake: new DataLakeServiceClient(`${urls.dfs}/${name}`, credential, ONCE),
    };
  }

  const originOf = (lazuli: LazuliProcess, service: string) =>
    lazuli.printed(new RegExp(`^${service} service .* (http://\\S+)\n`, "m"));

  async function until(isSo: () => Promise<boolean>): Promise<void> {
    while (!(await isSo())) await wait(ASK_AGAIN_MS);
  }

  test("each account is in its own database, for all services", async (t) => {
    const { file, accounts, databases } = plan("services");
    const started = await start(t, ["--config", file]);
    for (const account of accounts) {
      const { blobs, queues, table, shares, lake } = clients(started, account);
      const own = Buffer.from(account.name);
      await blobs.getContainerClient("box").create();
      await blobs.getContainerClient("box").getBlockBlobClient("own").uploadData(own);
      await blobs.getContainerClient("box").getBlockBlobClient("large").uploadData(LARGE);
      await queues.getQueueClient("jobs").create();
      await queues.getQueueClient("jobs").sendMessage(account.name);
      await table.createTable();
      await table.createEntity({ partitionKey: "p", rowKey: account.name });
      await lake.getFileSystemClient("lake").create();
      await lake.getFileSystemClient("lake").getDirectoryClient(account.name).create();
      await shares.getShareClient("files").create();
      const user = { user: account.name, domain: "", password: account.keys[0] ?? "" };
      const smb = await SmbFiles.connect(started.smbPort, "files", {}, user);
      t.after(() => smb.close());
      const handle = await smb.open(account.name, {
        disposition: "create",
        access: READ | WRITE,
        share: 0,
      });
      const named = shares.getShareClient("files").rootDirectoryClient.getFileClient(account.name);
      await refused(named.uploadRange("x", 0, 1), 409, "SharingViolation");
      assert.equal(await smb.end(handle), 0);
      await named.uploadRange("", 0, 0).catch(() => {});
    }
    started.lazuli.signal("SIGTERM");
    assert.equal((await started.lazuli.ended()).code, 0);
    // A front end that has one of the databases only shows what is in it.
    for (const [at, account] of accounts.entries()) {
      const alone = join(scratch, "alone.json");
      writeFileSync(alone, JSON.stringify({ accounts }));
      const { records = "", bytes = "" } = databases[at] ?? {};
      const other = await start(t, ["--config", alone, "--records", records, "--bytes", bytes]);
      const { blobs, queues, table, shares, lake } = clients(other, account);
      const box = blobs.getContainerClient("box");
      assert.equal(`${await box.getBlobClient("own").downloadToBuffer()}`, account.name);
      assert.ok((await box.getBlobClient("large").downloadToBuffer()).equals(LARGE));
      const { receivedMessageItems } = await queues.getQueueClient("jobs").receiveMessages();
      assert.deepEqual(
        receivedMessageItems.map((one) => one.messageText),
        [account.name],
      );
      assert.equal((await table.getEntity("p", account.name)).rowKey, account.name);
      const directory = lake.getFileSystemClient("lake").getDirectoryClient(account.name);
      assert.ok(await directory.exists());
      const root = shares.getShareClient("files").rootDirectoryClient;
      assert.ok(await root.getFileClient(account.name).exists());
      const stranger = clients(other, accounts[1 - at] as Plan["accounts"][number]);
      assert.equal(await stranger.blobs.getContainerClient("box").exists(), false);
      other.lazuli.signal("SIGTERM");
      await other.lazuli.ended();
    }
  });

  test("copies go from database to database, and need the rights to read the source", async (t) => {
    const { file, accounts } = plan("copies");
    const [shop, logs] = accounts as [Plan["accounts"][number], Plan["accounts"][number]];
    const started = await start(t, ["--config", file]);
    const [from, to] = [clients(started, shop), clients(started, logs)];
    const sources = from.blobs.getContainerClient("box");
    const copies = to.blobs.getContainerClient("box");
    await Promise.all([sources.create(), copies.create()]);
    const source = sources.getBlockBlobClient("source");
    await source.uploadData(LARGE, {
      metadata: { colour: "blue" },
      tags: { size: "large" },
      blobHTTPHeaders: { blobContentType: "text/x-source" },
    });
    const sas = (permissions: string, blobName = "source") =>
      `${generateBlobSASQueryParameters(
        {
          containerName: "box",
          blobName,
          permissions: BlobSASPermissions.parse(permissions),
          expiresOn: new Date(Date.now() + HOUR_MS),
        },
        from.credential,
      )}`;
    const url = `${source.url}?${sas("rt")}`;

    const later = copies.getBlockBlobClient("later");
    const done = await (
      await later.beginCopyFromURL(url, { intervalInMs: ASK_AGAIN_MS })
    ).pollUntilDone();
    assert.equal(done.copyStatus, "success");
    assert.ok((await later.downloadToBuffer()).equals(LARGE));
    const { metadata, contentType } = await later.getProperties();
    assert.deepEqual([metadata, contentType], [{ colour: "blue" }, "text/x-source"]);

    const now = copies.getBlockBlobClient("now");
    await now.syncCopyFromURL(url, { copySourceTags: "COPY" });
    assert.ok((await now.downloadToBuffer()).equals(LARGE));
    assert.deepEqual((await now.getTags()).tags, { size: "large" });
    const parts = copies.getBlockBlobClient("parts");
    await parts.stageBlockFromURL("MQ==", url, 1_000, 100_000);
    await parts.commitBlockList(["MQ=="]);
    assert.ok((await parts.downloadToBuffer()).equals(LARGE.subarray(1_000, 101_000)));

    // The same rights and conditions as for reading it.
    for (const wrong of [source.url, `${source.url}?${sas("rt", "other")}`]) {
      await assert.rejects(now.syncCopyFromURL(wrong), ({ statusCode }) => statusCode >= 401);
      await assert.rejects(later.beginCopyFromURL(wrong), ({ statusCode }) => statusCode >= 401);
    }
    const sourceConditions = { ifMatch: '"0x1"' };
    await refused(now.syncCopyFromURL(url, { sourceConditions }), 412, "SourceConditionNotMet");
    await refused(later.beginCopyFromURL(url, { sourceConditions }), 412, "SourceConditionNotMet");
    await refused(
      now.syncCopyFromURL(`${sources.getBlobClient("none").url}?${sas("r", "none")}`),
      404,
      "CannotVerifyCopySource",
    );

    const shares = [from.shares.getShareClient("files"), to.shares.getShareClient("files")];
    for (const share of shares) await share.create();
    const [one, other] = shares.map((share) => share.rootDirectoryClient.getFileClient("file"));
    await one?.uploadData(LARGE);
    const unread = other?.startCopyFromURL(one?.url ?? "") ?? Promise.resolve();
    await assert.rejects(unread, ({ statusCode }) => statusCode >= 401);
    const readable = one?.generateSasUrl({
      permissions: { toString: () => "r" } as never,
      expiresOn: new Date(Date.now() + HOUR_MS),
    });
    await other?.startCopyFromURL(readable ?? "");
    const status = async () => (await other?.getProperties())?.copyStatus ?? "";
    await until(async () => (await status()) !== "pending");
    assert.equal(await status(), "success");
    assert.ok((await other?.downloadToBuffer())?.equals(LARGE));

    const page = sources.getPageBlobClient("page");
    await page.create(512);
    const { snapshot = "" } = await page.createSnapshot();
    const snapshotUrl = page.withSnapshot(snapshot).url;
    const following = copies.getPageBlobClient("page").startCopyIncremental(snapshotUrl);
    await refused(following, 409, "InvalidSourceBlobUrl");
    assert.doesNotMatch(started.lazuli.errors, /failed/);
  });

  test("a database that is down takes only its own accounts along, also at a start", async (t) => {
    const { file, accounts } = plan("down");
    const [shop, logs] = accounts as [Plan["accounts"][number], Plan["accounts"][number]];
    const started = await start(t, ["--config", file], ["--metricsPort", "0"]);
    const boxOf = (at: Started, one: Plan["accounts"][number]) =>
      clients(at, one).blobs.getContainerClient("box");
    await boxOf(started, shop).create();
    await boxOf(started, logs).create();
    const health = async (at: Started, target: string) => {
      const answer = await fetch(`${at.urls.blob}/healthz${target}`);
      return `${answer.status} ${await answer.text()}`;
    };
    assert.equal(await health(started, "?for=requests"), "200 ok\n");
    assert.equal(await health(started, "?for=requests&database=west"), "200 ok\n");
    assert.equal(
      await health(started, "?for=requests&database=no"),
      '404 there is no database "no"\n',
    );

    await west.kill();
    const write = (at: Started, one: Plan["accounts"][number]) =>
      boxOf(at, one).getBlockBlobClient("blob").upload("text", 4);
    await refused(write(started, logs), 503, "ServerBusy");
    await write(started, shop);
    await until(async () => (await health(started, "?for=requests")) !== "200 ok\n");
    assert.match(
      await health(started, "?for=requests"),
      /^200 partly ready: database "west": .*reach/,
    );
    assert.match(
      await health(started, "?for=requests&database=west"),
      /^503 not ready: database "west": /,
    );
    assert.equal(await health(started, "?for=writes&database=east"), "200 ok\n");
    const metrics = await (
      await fetch((await started.lazuli.printed(/Metrics are at (\S+)/)) ?? "")
    ).text();
    assert.match(metrics, /^lazuli_database_ready\{database="east"\} 1$/m);
    assert.match(metrics, /^lazuli_database_ready\{database="west"\} 0$/m);

    const late = await start(t, ["--config", file]);
    assert.match(late.lazuli.errors, /database "west" is not open yet, and its accounts get 503/);
    await write(late, shop);
    await refused(write(late, logs), 503, "ServerBusy");
    const user = { user: "logs", domain: "", password: logs.keys[0] ?? "" };
    await assert.rejects(SmbFiles.connect(late.smbPort, "files", {}, user));
    assert.match(await health(late, "?for=requests"), /^200 partly ready: database "west": /);

    await west.resume();
    for (const at of [started, late]) {
      await until(() =>
        write(at, logs).then(
          () => true,
          () => false,
        ),
      );
      await until(async () => (await health(at, "?for=requests")) === "200 ok\n");
    }
    assert.match(late.lazuli.errors, /database "west" is open/);
  });

  test("a start without any of its databases fails with one line, as does a second name for one", async (t) => {
    const { file, config, databases, write } = plan("bad");
    const refusal = async () => {
      const lazuli = new LazuliProcess(["start", "--config", file, ...ANY_PORTS]);
      t.after(() => lazuli.kill());
      const { code, out, err } = await lazuli.ended();
      assert.deepEqual([code, out, err.trimEnd().split("\n").length], [1, "", 1], err);
      return err;
    };
    const nowhere = (records: string) => records.replace(/host=[^&]*/, "host=/nowhere");
    write({
      ...config,
      databases: databases.map((one) => ({ ...one, records: nowhere(one.records) })),
    });
    assert.match(
      await refusal(),
      /^Database "east": The records cannot be opened .* no server answers/,
    );
    const alias = (databases[0]?.records ?? "").replace(/host=([^&]*)/, "host=$1/.");
    write({ ...config, databases: [databases[0], { ...databases[1], records: alias }] });
    assert.match(await refusal(), /^Database "west": It has the same records as database "east"/);
  });

  test("a reload adds accounts to databases, and refuses to move one", async (t) => {
    const { file, config, accounts, write } = plan("reload");
    const started = await start(t, ["--config", file]);
    const reload = async (changed: object, line: RegExp) => {
      write(changed);
      started.lazuli.signal("SIGHUP");
      await started.lazuli.printedError(line);
    };
    const added = { name: "added", keys: [randomBytes(64).toString("base64")] };
    await reload(
      { ...config, accounts: [...config.accounts, { ...added, database: "west" }] },
      /The configuration is reloaded: added the account added/,
    );
    await clients(started, added).blobs.getContainerClient("box").create();
    const moved = accounts.map((one) => ({ ...one, database: "east" }));
    await reload(
      { ...config, accounts: moved },
      /not reloaded, and the old one stays: The account "logs" is in the database "west", and would be in the database "east": to move it, stop/,
    );
    const third = { ...config.databases[1], name: "third", records: west.url() };
    await reload(
      {
        databases: [...config.databases, third],
        accounts: [...config.accounts, { ...added, database: "third" }],
      },
      /The account "added" is in the database "west", and would be in the database "third"/,
    );
    await reload(
      {
        databases: [...config.databases, third],
        accounts: [...config.accounts, { ...added, name: "new", database: "third" }],
      },
      /The account "new" would be in the database "third", which this server has not opened: restart/,
    );
    await clients(started, accounts[1] as Plan["accounts"][number])
      .blobs.getContainerClient("box")
      .create();
  });
});
