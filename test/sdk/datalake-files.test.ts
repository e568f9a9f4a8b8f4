import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { DataLakeFileSystemClient } from "@azure/storage-file-datalake";
import { startDataLake } from "./datalake-server.ts";
import { refused } from "./refused.ts";
import { forThisFile } from "./server.ts";

const KINDS = [
  { kind: "hierarchical", server: await forThisFile(startDataLake()) },
  { kind: "flat", server: await forThisFile(startDataLake({ hierarchicalNamespace: false })) },
];

for (const { kind, server } of KINDS) {
  const read = async (filesystem: DataLakeFileSystemClient, path: string) =>
    (await filesystem.getFileClient(path).readToBuffer()).toString();

  test(`${kind}: a file is created, appended to, flushed and read`, async () => {
    const filesystem = await server.makeFilesystem();
    const file = filesystem.getFileClient("a/b.txt");
    await file.create({ pathHttpHeaders: { contentType: "text/plain" }, metadata: { a: "1" } });
    await file.append("hello", 0, 5);
    await file.append(" world", 5, 6);
    await file.flush(11, { close: true });
    assert.equal(await read(filesystem, "a/b.txt"), "hello world");
    const properties = await file.getProperties();
    assert.equal(properties.contentLength, 11);
    assert.equal(properties.contentType, "text/plain");
    assert.equal(properties.metadata?.a, "1");
    const part = await file.read(6, 3);
    assert.equal(part.contentLength, 3);
    assert.equal(await file.exists(), true);
    assert.equal(await filesystem.getFileClient("missing").exists(), false);
  });

  test(`${kind}: large uploads arrive in parallel`, async () => {
    const filesystem = await server.makeFilesystem();
    const bytes = randomBytes(9 * 1024 * 1024 + 7);
    const file = filesystem.getFileClient("large");
    await file.upload(bytes, {
      chunkSize: 1024 * 1024,
      singleUploadThreshold: 1024,
      maxConcurrency: 8,
    });
    assert.ok(bytes.equals(await file.readToBuffer()));
    await file.uploadStream(
      Readable.from([bytes.subarray(0, 3_000_000), bytes.subarray(3_000_000)]),
      {
        chunkSize: 700_000,
        maxConcurrency: 5,
      },
    );
    assert.ok(bytes.equals(await file.readToBuffer()));
    await file.upload(Buffer.from("small"), { pathHttpHeaders: { contentEncoding: "x" } });
    assert.equal(await read(filesystem, "large"), "small");
    assert.equal((await file.getProperties()).contentEncoding, "x");
  });

  test(`${kind}: directories, listings, renames and deletes`, async () => {
    const filesystem = await server.makeFilesystem();
    const directory = filesystem.getDirectoryClient("d");
    await directory.create();
    assert.equal((await directory.createIfNotExists()).succeeded, false);
    await directory.getFileClient("f %#?+ü").upload(Buffer.from("x"));
    await directory.getSubdirectoryClient("e").create();
    const names = async (options = {}) => {
      const found: string[] = [];
      for await (const path of filesystem.listPaths(options)) {
        found.push(`${path.name}${path.isDirectory ? "/" : ""}`);
      }
      return found;
    };
    assert.deepEqual(await names(), ["d/"]);
    assert.deepEqual(await names({ recursive: true }), ["d/", "d/e/", "d/f %#?+ü"]);
    await directory.move("n");
    assert.deepEqual(await names({ recursive: true }), ["n/", "n/e/", "n/f %#?+ü"]);
    await filesystem.getFileClient("n/f %#?+ü").move("moved ü");
    assert.equal(await read(filesystem, "moved ü"), "x");
    await refused(filesystem.getDirectoryClient("n").delete(), 409, "DirectoryNotEmpty");
    await filesystem.getDirectoryClient("n").delete(true);
    assert.deepEqual(await names(), ["moved ü"]);
    await refused(filesystem.getFileClient("none").delete(), 404, "PathNotFound");
    assert.equal((await filesystem.getFileClient("none").deleteIfExists()).succeeded, false);
  });
}
