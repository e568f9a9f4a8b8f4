import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { ManualClock } from "../../src/base/clock.ts";
import { verify } from "../../src/main/verify-command.ts";
import { describeFolder } from "./describe-folder.ts";
import { withFilledFolder } from "./fill-folder.ts";
import { type Fixture, fixturePath, readFixture, unpackFolder } from "./fixture.ts";
import { type FolderServer, serveFolder } from "./folder-server.ts";

const HOUR_MS = 3_600_000;

const VERSIONS = readdirSync("test/upgrade").flatMap(
  (name) => /^data-(.+)\.json\.br$/.exec(name)?.[1] ?? [],
);

test("the data folder of 0.1.0 is among the fixtures", () => {
  assert.ok(VERSIONS.includes("0.1.0"));
});

for (const version of VERSIONS) {
  suite(`a data folder of ${version}`, () => {
    const path = fixturePath(version);
    const fixture = readFixture(path);

    test("is small", () => {
      assert.ok(statSync(path).size < 300 * 1024);
    });

    test("shows clients what they saw then, field by field", async (t) => {
      const folder = unpacked(t, fixture);
      const now = await serving(folder, fixture.nowMs, describeFolder);
      assert.deepEqual(Object.keys(now), Object.keys(fixture.description));
      for (const [what, then] of Object.entries(fixture.description)) {
        assert.deepEqual(fieldsOf(now[what], then), then, what);
      }
    });

    test("passes lazuli verify", async (t) => {
      const lines: string[] = [];
      const code = await verify(
        { location: unpacked(t, fixture), shared: null },
        {
          clock: new ManualClock(fixture.nowMs),
          failStop: assert.fail,
          out: (line) => lines.push(line),
          progress: { write: () => {} },
        },
      );
      assert.deepEqual([code, lines.join("\n")], [0, lines.join("\n")]);
      assert.match(lines.at(-1) ?? "", /^All is well/);
    });

    test("goes on: what was hidden appears, restores and leases work, and more is written", async (t) => {
      const folder = unpacked(t, fixture);
      const before = await serving(folder, fixture.nowMs, async (server) => {
        await goOn(server);
        return [server.clock.now(), await describeFolder(server)] as const;
      });
      assert.deepEqual(await serving(folder, before[0], describeFolder), before[1]);
    });
  });
}

test("the script that makes a fixture fills what the fixture of this version has", async (t) => {
  const described = await withFilledFolder(temporary(t), describeFolder);
  const now = Object.keys(described).map(withoutIds).sort();
  const then = Object.keys(readFixture(fixturePath("0.1.0")).description)
    .map(withoutIds)
    .sort();
  assert.deepEqual(now, then);
});

/** Uses what a fixture holds, in each service. */
async function goOn({ blobs, queues, table, shares, clock }: FolderServer): Promise<void> {
  const box = blobs.getContainerClient("box");
  await box.getBlobClient("erased").undelete();
  await box.getBlockBlobClient("bulk").upload("replaced", 8);
  await box.getAppendBlobClient("log").appendBlock(" five", 5);
  await assert.rejects(box.getBlobClient("lease-held").delete(), { code: "LeaseIdMissing" });
  await box.getBlobClient("lease-held").getBlobLeaseClient(LEASE_ID).releaseLease();
  await box.getBlobClient("lease-held").delete();
  const jobs = queues.getQueueClient("jobs");
  clock.advance(HOUR_MS);
  const { receivedMessageItems } = await jobs.receiveMessages({ numberOfMessages: 32 });
  const texts = receivedMessageItems.map(({ messageText }) => messageText).sort();
  assert.deepEqual(texts, ["first", "in the log", "later", "second"]);
  await table("People").createEntity({ partitionKey: "new", rowKey: "row" });
  const docs = shares.getShareClient("docs");
  await docs.rootDirectoryClient.getFileClient("new").uploadData(Buffer.from("new"));
  await docs.getDirectoryClient("Ordner").getFileClient("nested").delete();
}

const LEASE_ID = "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee";

/** Later versions may show more fields than the fixture has, and none less. */
function fieldsOf(now: unknown, then: unknown): unknown {
  if (Array.isArray(now) && Array.isArray(then)) {
    return now.map((one, at) => fieldsOf(one, then[at]));
  }
  if (!isObject(now) || !isObject(then)) return now;
  return Object.fromEntries(
    Object.keys(then)
      .filter((name) => name in now)
      .map((name) => [name, fieldsOf(now[name], then[name])]),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function withoutIds(what: string): string {
  return what.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|[0-9A-F]{16}/g, "…");
}

async function serving<T>(
  folder: string,
  nowMs: number,
  work: (server: FolderServer) => Promise<T>,
): Promise<T> {
  const server = await serveFolder(folder, nowMs);
  try {
    return await work(server);
  } finally {
    await server.close();
  }
}

function unpacked(t: TestContext, { files }: Fixture): string {
  const folder = temporary(t);
  unpackFolder(files, folder);
  return folder;
}

function temporary(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-upgrade-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
