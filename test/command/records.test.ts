import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { QueueClient } from "@azure/storage-queue";
import { readAddress } from "../../src/engine/postgres/address.ts";
import {
  PostgresServer,
  skipWithoutOwnPostgres,
} from "../../src/engine/postgres/postgres-server.fixture.ts";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { CREDENTIAL } from "../sdk/server.ts";
import { LazuliProcess } from "./process.ts";

const skip = skipWithoutOwnPostgres();
const PORTS = ANY_PORTS;
const ready = (service: string) =>
  new RegExp(`^${service} service is successfully listening at (\\S+)$`, "m");

describe("lazuli start --records", { skip: skip ?? false }, () => {
  const scratch = mkdtempSync(join(tmpdir(), "lazuli-records-"));
  let server: PostgresServer;
  before(async () => {
    server = await PostgresServer.start();
  });
  after(async () => {
    await server.remove();
    rmSync(scratch, { recursive: true });
  });

  function start(t: TestContext, args: readonly string[], env?: Record<string, string>) {
    const lazuli = new LazuliProcess(["start", ...args, ...PORTS], env);
    t.after(() => lazuli.kill());
    return lazuli;
  }

  /** The single line with which a start fails. */
  async function refusal(t: TestContext, args: readonly string[], env?: Record<string, string>) {
    const { code, out, err } = await start(t, args, env).ended();
    const line = err;
    assert.notEqual(code, 0);
    assert.deepEqual([out, line.trimEnd().split("\n").length], ["", 1], err);
    assert.ok(!line.includes("p%40ss"), "the password is printed");
    return { code, line };
  }

  const blobsAt = async (lazuli: LazuliProcess) => {
    const origin = await lazuli.printed(ready("Blob"));
    return new BlobServiceClient(`${origin}/devstoreaccount1`, CREDENTIAL);
  };

  test("front ends share records and bytes, and a restarted one finds them", async (t) => {
    const shared = ["--records", server.url(), "--bytes", join(scratch, "shared")];
    const large = Buffer.alloc(3_000_000, "large");
    const [one, other] = [start(t, shared), start(t, shared)];
    const [here, there] = [await blobsAt(one), await blobsAt(other)];
    await here.getContainerClient("box").create();
    await there.getContainerClient("box").getBlockBlobClient("small").upload("text", 4);
    await here.getContainerClient("box").getBlockBlobClient("large").uploadData(large);
    const container = there.getContainerClient("box");
    assert.ok((await container.getBlobClient("large").downloadToBuffer()).equals(large));
    one.signal("SIGTERM");
    const { code, err, out } = await one.ended();
    assert.equal(code, 0, err);
    assert.match(out, /^Data: records at postgres:\/\/postgres:\*\*\*@\S+, bytes in \S+$/m);
    other.signal("SIGKILL");
    await other.ended();
    const again = (await blobsAt(start(t, shared))).getContainerClient("box");
    assert.equal(`${await again.getBlobClient("small").downloadToBuffer()}`, "text");
    assert.ok((await again.getBlobClient("large").downloadToBuffer()).equals(large));
  });

  test("the environment and the configuration file can name records and bytes", async (t) => {
    const [records, bytes] = [server.url(), join(scratch, "named")];
    const config = join(scratch, "lazuli.json");
    writeFileSync(config, JSON.stringify({ records }));
    const lazuli = start(t, ["--config", config], { LAZULI_BYTES: bytes });
    await (await blobsAt(lazuli)).getContainerClient("box").create();
    const withoutPassword = records.replace(/:[^:@/]+@/, "@");
    assert.notEqual(withoutPassword, records);
    const PGPASSWORD = readAddress(records).password ?? "";
    const environment = { LAZULI_RECORDS: withoutPassword, LAZULI_BYTES: bytes, PGPASSWORD };
    const other = start(t, [], environment);
    assert.ok(await (await blobsAt(other)).getContainerClient("box").exists());
    const twice = ["--config", config, "--records", records, "--bytes", bytes];
    assert.match((await refusal(t, twice)).line, /--records is given twice/);
  });

  test("a queue works at several front ends: each message is received once", async (t) => {
    const shared = ["--records", server.url(), "--bytes", join(scratch, "queues")];
    const all = [start(t, shared), start(t, shared)];
    const clients = await Promise.all(
      all.map(async (lazuli) => {
        const origin = await lazuli.printed(ready("Queue"));
        return new QueueClient(`${origin}/devstoreaccount1/jobs`, CREDENTIAL);
      }),
    );
    const [first, second] = clients as [QueueClient, QueueClient];
    await first.create();
    for (let at = 0; at < 20; at++) await clients[at % 2]?.sendMessage(`${at}`);
    const received = await Promise.all(
      Array.from({ length: 24 }, (_, at) => clients[at % 2]?.receiveMessages()),
    );
    const texts = received.flatMap((one) => one?.receivedMessageItems ?? []);
    const unique = new Set(texts.map(({ messageText }) => messageText));
    assert.deepEqual([texts.length, unique.size], [20, 20]);
    await second.deleteMessage(texts[0]?.messageId ?? "", texts[0]?.popReceipt ?? "");
  });

  test("of several front ends with --scrub, the leader reads the data", async (t) => {
    const shared = ["--records", server.url(), "--bytes", join(scratch, "scrubbed")];
    const scrubbed = /scrub: \d+ records/;
    const leader = start(t, [...shared, "--scrub", "1000"]);
    await leader.printedError(scrubbed);
    const other = start(t, [...shared, "--scrub", "1000"]);
    // A round would take less time than these requests.
    const container = (await blobsAt(other)).getContainerClient("box");
    await container.create();
    for (let at = 0; at < 50; at++) await container.setMetadata({ at: `${at}` });
    other.signal("SIGTERM");
    assert.doesNotMatch((await other.ended()).err, scrubbed);
  });

  test("a start with bad input fails with one line that says what to do", async (t) => {
    const records = server.url();
    const bytes = join(scratch, "bad");
    const cases: [readonly string[], number, RegExp][] = [
      [["--records", "mysql://x", "--bytes", bytes], 2, /must look like postgres:\/\//],
      [["--records", `${records}&sslmod=x`, "--bytes", bytes], 2, /no parameter "sslmod"/],
      [["--records", records], 2, /give a folder with --bytes/],
      [["--bytes", bytes], 2, /--bytes belongs to --records/],
      [["--records", records, "--bytes", bytes, "--location", "x"], 2, /contradict each other/],
      [
        ["--records", records.replace("p%40ss", "wrong"), "--bytes", bytes],
        1,
        /check user and pass/,
      ],
      [["--records", records.replace("/postgres?", "/none?"), "--bytes", bytes], 1, /create it/],
      [["--records", "postgres://127.0.0.1:1/x", "--bytes", bytes], 1, /no server answers there/],
      [["--records", `${records}&sslmode=require`, "--bytes", bytes], 1, /not support SSL/],
      [["--records", records, "--bytes", "/dev/null/x"], 1, /choose another with --bytes/],
    ];
    for (const [args, code, line] of cases) {
      const refused = await refusal(t, args);
      assert.match(refused.line, line);
      assert.equal(refused.code, code);
    }
  });

  test("a server that is none, or is full, and a user without rights get one line, too", async (t) => {
    const bytes = join(scratch, "none");
    const web = createServer((_, answer) => answer.end("hello"));
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    t.after(() => web.close());
    const { port } = web.address() as AddressInfo;
    const records = server.url();
    const run = (text: string) => server.withClient(records, (client) => client.query(text));
    await run("create role guest login password 'guest'");
    await run("create role busy login superuser password 'busy' connection limit 0");
    await run("alter role busy nosuperuser");
    const as = (name: string) => records.replace(/\/\/[^@]*@/, `//${name}:${name}@`);
    const cases: [string, RegExp][] = [
      [
        `postgres://127.0.0.1:${port}/x`,
        /what answers there closes the connection: check that it is PostgreSQL/,
      ],
      ["postgres://no-such-host.invalid/x", /no server answers there .*check host and port/],
      [as("guest"), /let this user create the schema test_/],
      [as("busy"), /too many connections.*: permit more connections, or start fewer front ends/],
    ];
    for (const [address, line] of cases) {
      const refused = await refusal(t, ["--records", address, "--bytes", bytes]);
      assert.match(refused.line, line);
      assert.equal(refused.code, 1);
    }
  });

  test("two clusters are not started on one database, or in one folder", async (t) => {
    const records = server.url();
    const bytes = join(scratch, "first");
    const lazuli = start(t, ["--records", records, "--bytes", bytes]);
    await blobsAt(lazuli);
    const elsewhere = ["--records", records, "--bytes", join(scratch, "second")];
    assert.match((await refusal(t, elsewhere)).line, /does not have the bytes of these records/);
    const other = ["--records", server.url(), "--bytes", bytes];
    assert.match((await refusal(t, other)).line, /belongs to another cluster/);
    const folder = join(scratch, "alone");
    const alone = new LazuliProcess(["start", "--location", folder, ...PORTS]);
    t.after(() => alone.kill());
    await blobsAt(alone);
    const both = ["--records", server.url(), "--bytes", folder];
    assert.match((await refusal(t, both)).line, /data folder of a server without --records/);
  });

  test("a read-only database, and a schema of a newer version, are refused", async (t) => {
    const records = server.url("newer");
    const bytes = join(scratch, "newer");
    const lazuli = start(t, ["--records", records, "--bytes", bytes]);
    await blobsAt(lazuli);
    const run = (text: string) => server.withClient(records, (client) => client.query(text));
    await run("update newer.lazuli set version = 99");
    const args = ["--records", records, "--bytes", bytes];
    assert.match((await refusal(t, args)).line, /newer Lazuli \(version 99\).*install a newer/);
    await run("update newer.lazuli set version = 1");
    await run("alter role postgres set default_transaction_read_only = on");
    try {
      assert.match((await refusal(t, args)).line, /the database is read-only/);
    } finally {
      await run(
        "begin read write; alter role postgres reset default_transaction_read_only; commit",
      );
    }
  });

  test("requests get 503 while the database is gone, and succeed when it is back", async (t) => {
    const shared = ["--records", server.url(), "--bytes", join(scratch, "gone")];
    const lazuli = start(t, shared);
    const blobs = await blobsAt(lazuli);
    const once = new BlobServiceClient(blobs.url, CREDENTIAL, { retryOptions: { maxTries: 1 } });
    await once.getContainerClient("before").create();
    await server.kill();
    const failed = await once
      .getContainerClient("during")
      .create()
      .catch((error) => error);
    assert.equal(failed.statusCode, 503);
    assert.match(failed.response.headers.get("retry-after") ?? "", /^\d+$/);
    await server.resume();
    const deadline = new BlobServiceClient(blobs.url, CREDENTIAL);
    await deadline.getContainerClient("after").create();
    assert.ok(await deadline.getContainerClient("before").exists());
    assert.ok(!(await deadline.getContainerClient("during").exists()));
  });
});
