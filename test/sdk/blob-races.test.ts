import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, describe, test } from "node:test";
import {
  BlobSASPermissions,
  type BlockBlobClient,
  type ContainerClient,
  type RestError,
} from "@azure/storage-blob";
import { key, keyAfter, SPACE } from "../../src/base/keys.ts";
import { MIB } from "../../src/base/limits.ts";
import { BlobSweep } from "../../src/service/blob/sweep.ts";
import { refused } from "./refused.ts";
import { startServer, type TestServer } from "./server.ts";

const WRITERS = 20;
const A = "aaaaaaaa-0000-4000-8000-000000000001";

for (const engine of ["memory", "embedded"] as const) {
  describe(`races on the ${engine} engine`, () => {
    let server: TestServer;
    let container: ContainerClient;
    let blobs = 0;

    before(async () => {
      server = await startServer({ engine });
      container = server.client().getContainerClient("races");
      await container.create();
    });

    after(async () => {
      await server.close();
      assert.deepEqual(server.failures, []);
    });

    function newBlob(): BlockBlobClient {
      return container.getBlockBlobClient(`blob-${blobs++}`);
    }

    test("of 20 writers with one ETag, exactly one wins", async () => {
      const blob = newBlob();
      const { etag } = await blob.upload("old", 3);
      const conditions = { ifMatch: etag as string };
      const { won, lost } = await race(WRITERS, (at) =>
        blob.upload(`writer ${at}`, `writer ${at}`.length, { conditions }),
      );
      assert.equal(won.length, 1);
      assert.deepEqual(lost, all("ConditionNotMet", WRITERS - 1));
      assert.equal((await blob.downloadToBuffer()).toString(), `writer ${won[0]?.at}`);
      assert.equal((await blob.getProperties()).etag, won[0]?.value.etag);
    });

    test("of 20 writers of different kinds with one ETag, exactly one wins", async () => {
      const blob = newBlob();
      const { etag } = await blob.upload("old", 3);
      const conditions = { ifMatch: etag as string };
      const kinds = [
        () => blob.upload("new", 3, { conditions }),
        () => blob.setMetadata({ a: "b" }, { conditions }),
        () => blob.setHTTPHeaders({ blobContentType: "text/plain" }, { conditions }),
        () => blob.commitBlockList([], { conditions }),
        () => blob.delete({ conditions }),
      ];
      const { won, lost } = await race(WRITERS, (at) =>
        (kinds[at % kinds.length] ?? assert.fail)(),
      );
      assert.equal(won.length, 1);
      for (const code of lost)
        assert.ok(code === "ConditionNotMet" || code === "BlobNotFound", code);
    });

    test("of 20 concurrent create-if-not-exists, exactly one succeeds", async () => {
      const blob = newBlob();
      const conditions = { ifNoneMatch: "*" };
      const { won, lost } = await race(WRITERS, () => blob.upload("x", 1, { conditions }));
      assert.equal(won.length, 1);
      assert.deepEqual(lost, all("BlobAlreadyExists", WRITERS - 1));
    });

    test("of 20 concurrent lease requests, exactly one succeeds", async () => {
      const blob = newBlob();
      await blob.upload("x", 1);
      const { won, lost } = await race(WRITERS, () => blob.getBlobLeaseClient().acquireLease(60));
      assert.equal(won.length, 1);
      assert.deepEqual(lost, all("LeaseAlreadyPresent", WRITERS - 1));
    });

    test("a lease taken during an upload refuses the upload at its end", async () => {
      const blob = newBlob();
      await blob.upload("old", 3);
      const slow = await slowUpload(blob, Buffer.alloc(1_000_000, 1));
      await blob.getBlobLeaseClient(A).acquireLease(60);
      assert.match(await slow.finish(), /^HTTP\/1\.1 412 [\s\S]*LeaseIdMissing/);
      assert.equal((await blob.downloadToBuffer()).toString(), "old");
    });

    test("without conditions the last writer wins, and a read returns one writer's whole work", async () => {
      const blob = newBlob();
      const bodies = Array.from({ length: WRITERS }, (_, at) => Buffer.alloc(100_000, at + 1));
      const { won } = await race(WRITERS, (at) => blob.upload(bodies[at] as Buffer, 100_000));
      assert.equal(won.length, WRITERS);
      const found = await blob.downloadToBuffer();
      assert.ok(bodies.some((body) => body.equals(found)));
      const last = await blob.getProperties();
      const writer = won.find(({ value }) => value.etag === last.etag);
      assert.ok(writer !== undefined && (bodies[writer.at] as Buffer).equals(found));
    });

    test("a read during writes returns one version, and its ETag names that version", async () => {
      const blob = newBlob();
      const lengthOf = (at: number) => 50_000 + at * 1_000;
      const versions = new Map<string, number>();
      const write = async (at: number) => {
        const { etag } = await blob.upload(Buffer.alloc(lengthOf(at), at), lengthOf(at));
        versions.set(etag as string, at);
      };
      await write(0);
      const seen: { etag: string; bytes: Buffer }[] = [];
      const read = async () => {
        const got = await blob.download();
        const parts: Buffer[] = [];
        for await (const part of got.readableStreamBody as AsyncIterable<Buffer>) parts.push(part);
        seen.push({ etag: got.etag as string, bytes: Buffer.concat(parts) });
      };
      await Promise.all(
        Array.from({ length: 60 }, (_, at) => (at % 3 === 0 ? write(at / 3 + 1) : read())),
      );
      assert.equal(seen.length, 40);
      for (const { etag, bytes } of seen) {
        const at = versions.get(etag);
        assert.ok(at !== undefined);
        assert.ok(bytes.equals(Buffer.alloc(lengthOf(at), at)));
      }
    });

    test("ETags never repeat, even if the clock stands still", async () => {
      const names = Array.from({ length: 5 }, () => newBlob());
      const etags = new Set<string>();
      let writes = 0;
      const note = ({ etag }: { etag?: string }) => {
        etags.add(etag as string);
        writes++;
      };
      for (const blob of names) note(await blob.upload("x", 1));
      for (let round = 0; round < 5; round++) {
        await Promise.all(
          names.flatMap((blob) => [
            ...Array.from({ length: 5 }, () => blob.upload("x", 1).then(note)),
            ...Array.from({ length: 5 }, () =>
              blob.setMetadata({ round: String(round) }).then(note),
            ),
            ...Array.from({ length: 2 }, () => blob.setHTTPHeaders({}).then(note)),
            ...Array.from({ length: 2 }, () => blob.commitBlockList([]).then(note)),
          ]),
        );
      }
      assert.equal(writes, 355);
      assert.equal(etags.size, writes);
    });

    test("a slow download of a blob that is overwritten and deleted gets the old version", async () => {
      await sweep(server);
      const records = await recordsOfBytes(server);
      const blob = newBlob();
      const bytes = countedBytes(32 * MIB);
      await blob.upload(bytes, bytes.length);
      const got = await blob.download();
      let at = 0;
      for await (const part of got.readableStreamBody as AsyncIterable<Buffer>) {
        if (at === 0) {
          // The socket is not read until this is done.
          await blob.upload("new", 3);
          await blob.delete();
          await sweep(server);
          assert.ok((await recordsOfBytes(server)) <= records);
        }
        assert.ok(part.equals(bytes.subarray(at, at + part.length)), `from ${at} on`);
        at += part.length;
      }
      assert.equal(at, bytes.length);
    });

    test("a slow download of a block list gets the old version, whose space is freed afterwards", async () => {
      const records = await recordsOfBytes(server);
      const blob = newBlob();
      // Too many blocks for one lookup: the list is read again during the download.
      const bytes = countedBytes(80 * (MIB / 2));
      await blob.uploadData(bytes, { blockSize: MIB / 2, maxSingleShotSize: 1 });
      const got = await blob.download();
      let at = 0;
      for await (const part of got.readableStreamBody as AsyncIterable<Buffer>) {
        if (at === 0) {
          await blob.delete();
          await sweep(server);
          assert.ok(
            (await recordsOfBytes(server)) > records,
            "a list that is being read is pinned",
          );
        }
        assert.ok(part.equals(bytes.subarray(at, at + part.length)), `from ${at} on`);
        at += part.length;
      }
      assert.equal(at, bytes.length);
      await sweep(server);
      assert.equal(await recordsOfBytes(server), records);
    });

    test("an interrupted upload leaves nothing behind", async () => {
      const blob = newBlob();
      await (await slowUpload(blob, Buffer.alloc(1_000_000))).cutOff();
      await refused(blob.download(), 404, "BlobNotFound");
      await blob.upload("old", 3);
      const { etag } = await blob.getProperties();
      await (await slowUpload(blob, Buffer.alloc(1_000_000))).cutOff();
      const block = `comp=block&blockid=${encodeURIComponent("AAAA")}`;
      await (await slowUpload(blob, Buffer.alloc(1_000_000), block)).cutOff();
      assert.equal((await blob.getProperties()).etag, etag);
      assert.equal((await blob.downloadToBuffer()).toString(), "old");
      assert.deepEqual((await blob.getBlockList("all")).uncommittedBlocks ?? [], []);
    });

    test("blocks staged while others commit are never half lost", async () => {
      const blob = newBlob();
      const ids = Array.from({ length: 40 }, (_, at) => Buffer.from([at + 1]).toString("base64"));
      const committed: string[][] = [];
      await Promise.all(
        ids.map(async (id, at) => {
          await blob.stageBlock(id, String.fromCharCode(65 + at), 1);
          const list = await blob.getBlockList("all");
          const known = [...(list.committedBlocks ?? []), ...(list.uncommittedBlocks ?? [])];
          const names = known.map(({ name }) => name);
          await blob.commitBlockList(names).then(
            () => committed.push(names),
            (error: RestError) => assert.equal(error.code, "InvalidBlockList"),
          );
        }),
      );
      assert.ok(committed.length > 0);
      const { committedBlocks = [] } = await blob.getBlockList("committed");
      const text = (await blob.downloadToBuffer()).toString();
      const expected = committedBlocks.map(({ name }) =>
        String.fromCharCode(65 + ids.indexOf(name)),
      );
      assert.equal(text, expected.join(""));
      assert.ok(
        committed.some((names) => names.join() === committedBlocks.map((one) => one.name).join()),
      );
    });
  });
}

interface SlowUpload {
  /** Sends the rest and returns the whole response. */
  finish(): Promise<string>;
  /** Closes the connection in the middle; resolves once the server has released it. */
  cutOff(): Promise<void>;
}

/** Starts an upload and resolves when half of it is sent. */
async function slowUpload(blob: BlockBlobClient, bytes: Buffer, query = ""): Promise<SlowUpload> {
  const url = new URL(blob.url);
  const sas = new URL(
    await blob.generateSasUrl({
      permissions: BlobSASPermissions.parse("rcw"),
      expiresOn: new Date(Date.now() + 3_600_000),
    }),
  ).search.slice(1);
  const socket = connect({ host: url.hostname, port: Number(url.port) });
  let answer = "";
  socket.setEncoding("latin1").on("data", (text) => {
    answer += text;
  });
  socket.on("error", () => {});
  const closed = once(socket, "close");
  const head = [
    `PUT ${url.pathname}?${query === "" ? "" : `${query}&`}${sas} HTTP/1.1`,
    `Host: ${url.host}`,
    `Content-Length: ${bytes.length}`,
    "x-ms-blob-type: BlockBlob",
    "x-ms-version: 2026-04-06",
    "Connection: close",
  ];
  const half = bytes.length / 2;
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  await new Promise((resolve) => socket.write(bytes.subarray(0, half), resolve));
  return {
    async finish() {
      socket.write(bytes.subarray(half));
      await closed;
      return answer;
    },
    async cutOff() {
      socket.end();
      await closed;
    },
  };
}

/** Starts all at once; returns the codes of refusals and the results of the others. */
async function race<T>(count: number, run: (at: number) => Promise<T>) {
  const outcomes = await Promise.allSettled(Array.from({ length: count }, (_, at) => run(at)));
  const won: { at: number; value: T }[] = [];
  const lost: string[] = [];
  for (const [at, outcome] of outcomes.entries()) {
    if (outcome.status === "fulfilled") won.push({ at, value: outcome.value });
    else lost.push((outcome.reason as RestError).code ?? String(outcome.reason));
  }
  return { won, lost };
}

function all(code: string, count: number): string[] {
  return Array.from({ length: count }, () => code);
}

/** Sweeps until nothing is left to do. */
async function sweep({ context }: TestServer): Promise<void> {
  const blobs = new BlobSweep(context);
  while (await blobs.sweep());
  while (await context.contents.sweep());
}

/** Counts the records of stored bytes. */
function recordsOfBytes({ context }: TestServer): Promise<number> {
  const spaces = [SPACE.content, SPACE.contentSegment, SPACE.contentGarbage, SPACE.extentUse];
  return context.store.read((view) =>
    spaces.reduce((sum, space) => {
      const all = key(space);
      return sum + view.range(all, keyAfter(all), { limit: 10_000 }).length;
    }, 0),
  );
}

/** Makes bytes that differ at every position. */
function countedBytes(length: number): Buffer {
  const numbers = Uint32Array.from({ length: length / 4 }, (_, at) => at);
  return Buffer.from(numbers.buffer);
}
