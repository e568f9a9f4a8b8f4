import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ShareClient } from "@azure/storage-file-share";
import { type FileServer, startFileServer } from "./file-server.ts";
import { refused } from "./refused.ts";

let server: FileServer;
let shares = 0;

before(async () => {
  server = await startFileServer();
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

async function newShare(): Promise<ShareClient> {
  const share = server.client().getShareClient(`share${shares++}`);
  await share.create();
  return share;
}

test("what is written to a file is read back, and the rest is zeroes", async () => {
  const share = await newShare();
  const directory = share.getDirectoryClient("dir");
  await directory.create();
  const file = directory.getFileClient("file.txt");
  await file.create(10);
  await file.uploadRange("hello", 3, 5);
  const read = await file.downloadToBuffer();
  assert.equal(read.toString(), "\0\0\0hello\0\0");
  const { contentLength, fileType } = (await file.getProperties()) as {
    contentLength: number;
    fileType?: string;
  };
  assert.deepEqual([contentLength, fileType], [10, "File"]);
});

test("names are found whatever their case, and keep it", async () => {
  const share = await newShare();
  const upper = share.getDirectoryClient("Größe").getFileClient("Read Me.TXT");
  await share.getDirectoryClient("Größe").create();
  await upper.create(0);
  const lower = share.getDirectoryClient("GRÖßE").getFileClient("read me.txt");
  const [one, other] = [await upper.getProperties(), await lower.getProperties()];
  assert.equal(one.fileId, other.fileId);
});

test("nothing is created in a directory that is not there", async () => {
  const share = await newShare();
  const missing = share.getDirectoryClient("missing");
  await refused(missing.getFileClient("file").create(1), 404, "ParentNotFound");
  await refused(missing.getDirectoryClient("below").create(), 404, "ParentNotFound");
  await refused(
    share.rootDirectoryClient.getFileClient("file").getProperties(),
    404,
    "ResourceNotFound",
  );
});

test("a write beyond the end of a file is refused", async () => {
  const share = await newShare();
  const file = share.rootDirectoryClient.getFileClient("file");
  await file.create(4);
  await refused(file.uploadRange("hello", 0, 5), 416, "InvalidRange");
});

test("a share can be deleted, and made anew", async () => {
  const share = await newShare();
  await refused(share.create(), 409, "ShareAlreadyExists");
  await share.rootDirectoryClient.getFileClient("file").create(1);
  await share.delete();
  await refused(share.getProperties(), 404, "ShareNotFound");
  await share.create();
  await refused(
    share.rootDirectoryClient.getFileClient("file").getProperties(),
    404,
    "ResourceNotFound",
  );
});

test("a directory goes when it is empty, and not before", async () => {
  const share = await newShare();
  const directory = share.getDirectoryClient("dir");
  await directory.create({ metadata: { color: "red" } });
  const file = directory.getFileClient("file");
  await file.create(1);
  await refused(directory.delete(), 409, "DirectoryNotEmpty");
  await file.delete();
  await refused(file.delete(), 404, "ResourceNotFound");
  await directory.setMetadata({ color: "blue" });
  const { metadata, fileAttributes } = await directory.getProperties();
  assert.deepEqual([metadata, fileAttributes], [{ color: "blue" }, "Directory"]);
  await directory.delete();
  await refused(directory.getProperties(), 404, "ResourceNotFound");
});

test("a file and a directory cannot have one name", async () => {
  const share = await newShare();
  await share.getDirectoryClient("one").create();
  await share.rootDirectoryClient.getFileClient("two").create(0);
  await refused(
    share.rootDirectoryClient.getFileClient("one").create(0),
    409,
    "ResourceTypeMismatch",
  );
  await refused(share.getDirectoryClient("two").create(), 409, "ResourceTypeMismatch");
  await refused(share.getDirectoryClient("one").create(), 409, "ResourceAlreadyExists");
});
