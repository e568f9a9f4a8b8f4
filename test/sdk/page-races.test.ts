import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { ContainerClient, PageBlobClient } from "@azure/storage-blob";
import { MIB } from "../../src/base/limits.ts";
import { startServer, type TestServer } from "./server.ts";
import { sweep } from "./sweep.ts";

const PAGE = 512;

for (const engine of ["memory", "embedded"] as const) {
  describe(`page blobs on the ${engine} engine`, () => {
    let server: TestServer;
    let container: ContainerClient;
    let blobs = 0;

    before(async () => {
      server = await startServer({ engine });
      container = server.client().getContainerClient("pages");
      await container.create();
    });

    after(async () => {
      await server.close();
      assert.deepEqual(server.failures, []);
    });

    async function newBlob(size: number): Promise<PageBlobClient> {
      const blob = container.getPageBlobClient(`blob-${blobs++}`);
      await blob.create(size);
      return blob;
    }

    test("20 concurrent writers of different pages lose nothing", async () => {
      const blob = await newBlob(20 * PAGE);
      const done = await Promise.all(
        Array.from({ length: 20 }, (_, at) =>
          blob.uploadPages(Buffer.alloc(PAGE, at + 1), at * PAGE, PAGE),
        ),
      );
      assert.equal(new Set(done.map(({ etag }) => etag)).size, 20);
      const expected = Array.from({ length: 20 }, (_, at) => Buffer.alloc(PAGE, at + 1));
      assert.ok((await blob.downloadToBuffer()).equals(Buffer.concat(expected)));
    });

    test("a slow download of a blob that is being overwritten gets one version", async () => {
      const blob = await newBlob(32 * MIB);
      const disk = Buffer.alloc(32 * MIB);
      for (let at = 0; at < disk.length; at += 4 * MIB) {
        disk.fill(at / MIB + 1, at, at + 4 * MIB);
        await blob.uploadPages(disk.subarray(at, at + 4 * MIB), at, 4 * MIB);
      }
      const got = await blob.download();
      let at = 0;
      for await (const part of got.readableStreamBody as AsyncIterable<Buffer>) {
        if (at === 0) {
          // The socket is not read until this is done.
          for (let page = 0; page < 32; page++) {
            await blob.uploadPages(Buffer.alloc(PAGE, 255), page * MIB, PAGE);
          }
          await blob.clearPages(16 * MIB, 16 * MIB);
          await sweep(server);
        }
        assert.ok(part.equals(disk.subarray(at, at + part.length)), `from ${at} on`);
        at += part.length;
      }
      assert.equal(at, disk.length);
    });

    /** Writes many pages concurrently, each of which splits a run. */
    async function writePages(blob: PageBlobClient, places: number[], fill: number) {
      const lane = async (first: number) => {
        for (const at of places.filter((_, index) => index % 20 === first)) {
          await blob.uploadPages(Buffer.alloc(PAGE, fill), at, PAGE);
        }
      };
      await Promise.all(Array.from({ length: 20 }, (_, at) => lane(at)));
    }

    test("a download of very many runs that are being overwritten gets one version", async () => {
      const blob = await newBlob(16 * MIB);
      const large = Buffer.alloc(4 * MIB, 1);
      for (let at = 0; at < 4; at++) await blob.uploadPages(large, at * 4 * MIB, 4 * MIB);
      const places = Array.from({ length: 700 }, (_, at) => at * 20_480);
      await writePages(blob, places, 2);
      const expected = await blob.downloadToBuffer();
      const { etag } = await blob.getProperties();
      const got = await blob.download();
      assert.equal(got.etag, etag);
      let at = 0;
      for await (const part of got.readableStreamBody as AsyncIterable<Buffer>) {
        if (at === 0) {
          await writePages(blob, places, 3);
          await sweep(server);
        }
        assert.ok(part.equals(expected.subarray(at, at + part.length)), `from ${at} on`);
        at += part.length;
      }
      assert.equal(at, expected.length);
      await sweep(server);
      assert.equal((await blob.downloadToBuffer(places[699], 1))[0], 3);
    });

    test("a read of very many runs gets the version that its ETag names", async () => {
      const size = 64 * MIB;
      const blob = await newBlob(size);
      const places = Array.from({ length: 600 }, (_, at) => at * 200 * PAGE);
      await writePages(blob, places, 1);
      const versions = new Map<string, number>();
      const write = async (fill: number) => {
        const done = await blob.uploadPages(Buffer.alloc(PAGE, fill), size - PAGE, PAGE);
        versions.set(done.etag as string, fill);
      };
      await write(1);
      for (let round = 2; round < 22; round++) {
        const writing = write(round);
        // The download begins at different moments of the write.
        for (let request = 0; request < round % 5; request++) await container.exists();
        const got = await blob.download();
        // The rest is read from the socket after the write.
        await writing;
        let last: number | undefined;
        for await (const part of got.readableStreamBody as AsyncIterable<Buffer>) {
          last = part.at(-1);
        }
        assert.equal(last, versions.get(got.etag as string), `round ${round}`);
      }
    });
  });
}
