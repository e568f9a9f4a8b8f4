import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, before, test } from "node:test";
import {
  FileSystemAttributes,
  type ShareClient,
  type ShareFileClient,
} from "@azure/storage-file-share";
import { MIB } from "../../src/base/limits.ts";
import { READ } from "../../src/rules/share-mode.ts";
import { type FileServer, startFileServer } from "./file-server.ts";
import { type RawAnswer, rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { Handles } from "./smb-handles.ts";
import { TestSource } from "./test-source.ts";

let server: FileServer;
let elsewhere: TestSource;
let share: ShareClient;
let count = 0;

before(async () => {
  elsewhere = await TestSource.start();
  server = await startFileServer({ copyFrom: [elsewhere.origin] });
  share = server.client().getShareClient("share");
  await share.create();
});

after(async () => {
  await elsewhere.close();
  await server.close();
  assert.deepEqual(server.failures, []);
});

const SDDL = "O:S-1-5-21-1-2-3-500G:S-1-5-21-1-2-3-513D:(A;;FA;;;SY)(A;;0x1200a9;;;WD)";
const CREATED = new Date("2020-02-03T04:05:06.000Z");

function fileAt(name: string): ShareFileClient {
  return share.rootDirectoryClient.getFileClient(name);
}

/** Creates a file with everything that can be copied. */
async function newSource(bytes: Buffer = Buffer.from("hello")): Promise<ShareFileClient> {
  const file = fileAt(`source${++count}`);
  await file.create(bytes.length, {
    metadata: { colour: "green" },
    fileHttpHeaders: { fileContentType: "text/x-file" },
    fileAttributes: FileSystemAttributes.parse("Hidden"),
    creationTime: CREATED,
    lastWriteTime: CREATED,
    filePermission: SDDL,
  });
  if (bytes.length > 0) await file.uploadRange(bytes, 0, bytes.length);
  return file;
}

function copyTo(
  name: string,
  source: string,
  headers: Record<string, string> = {},
): Promise<RawAnswer> {
  return rawRequest(server, {
    method: "PUT",
    path: `/share/${name}`,
    headers: { "x-ms-copy-source": source, ...headers },
  });
}

test("a file is copied at once, with its metadata, headers and bytes", async () => {
  const bytes = randomBytes(100_000);
  const source = await newSource(bytes);
  const copy = fileAt("copy-of-all");
  const done = await copy.startCopyFromURL(source.url);
  assert.equal(done.copyStatus, "success");
  const found = await copy.getProperties();
  assert.deepEqual(found.metadata, { colour: "green" });
  assert.equal(found.contentType, "text/x-file");
  assert.deepEqual(
    [found.copyId, found.copyStatus, found.copySource, found.copyProgress],
    [done.copyId, "success", source.url, "100000/100000"],
  );
  assert.ok(found.copyCompletedOn !== undefined);
  await source.uploadRange("changed", 0, 7);
  assert.ok((await copy.downloadToBuffer()).equals(bytes));
  await copy.uploadRange("mine", 0, 4);
  assert.equal((await source.downloadToBuffer(0, 7)).toString(), "changed");
});

test("values sent with the copy replace the source's", async () => {
  const source = await newSource();
  const copy = fileAt("copy-with-more");
  await copy.startCopyFromURL(source.url, { metadata: { size: "large" } });
  const { metadata } = await copy.getProperties();
  assert.deepEqual(metadata, { size: "large" });
});

test("attributes, times and permission are taken from the source on request", async () => {
  const source = await newSource();
  const before = await source.getProperties();
  const taken = {
    "x-ms-file-attributes": "source",
    "x-ms-file-creation-time": "source",
    "x-ms-file-last-write-time": "source",
    "x-ms-file-change-time": "source",
    "x-ms-file-permission-copy-mode": "source",
  };
  assert.equal((await copyTo("copy-same", source.url, taken)).status, 202);
  const same = await fileAt("copy-same").getProperties();
  assert.equal(same.filePermissionKey, before.filePermissionKey);
  assert.deepEqual(
    [same.fileAttributes, same.fileCreatedOn, same.fileLastWriteOn, same.fileChangeOn],
    [before.fileAttributes, before.fileCreatedOn, before.fileLastWriteOn, before.fileChangeOn],
  );
  assert.equal((await copyTo("copy-plain", source.url)).status, 202);
  const plain = await fileAt("copy-plain").getProperties();
  assert.notEqual(plain.filePermissionKey, before.filePermissionKey);
  assert.notDeepEqual(plain.fileCreatedOn, before.fileCreatedOn);
  const override = { "x-ms-file-permission-copy-mode": "override", "x-ms-file-permission": SDDL };
  assert.equal((await copyTo("copy-named", source.url, override)).status, 202);
  const named = await fileAt("copy-named").getProperties();
  assert.equal(named.filePermissionKey, before.filePermissionKey);
});

test("a permission is copied to another share", async () => {
  const source = await newSource();
  const other = server.client().getShareClient(`other${++count}`);
  await other.create();
  const headers = { "x-ms-copy-source": source.url, "x-ms-file-permission-copy-mode": "source" };
  const answer = await rawRequest(server, { method: "PUT", path: `/${other.name}/copy`, headers });
  assert.equal(answer.status, 202, answer.text);
  const { filePermissionKey } = await other.rootDirectoryClient
    .getFileClient("copy")
    .getProperties();
  const { permission } = await other.getPermission(filePermissionKey as string);
  assert.equal(permission, SDDL);
});

test("the archive attribute is set on request", async () => {
  const source = await newSource();
  const headers = { "x-ms-file-attributes": "source", "x-ms-file-copy-set-archive": "true" };
  assert.equal((await copyTo("copy-archived", source.url, headers)).status, 202);
  const { fileAttributes } = await fileAt("copy-archived").getProperties();
  assert.equal(fileAttributes, "Hidden | Archive");
});

test("a read-only file is overwritten only on request", async () => {
  const source = await newSource();
  const answer = await copyTo("copy-fixed", source.url, { "x-ms-file-attributes": "ReadOnly" });
  assert.equal(answer.status, 202);
  const again = await copyTo("copy-fixed", source.url);
  assert.deepEqual([again.status, again.code], [409, "ReadOnlyAttribute"]);
  const forced = await copyTo("copy-fixed", source.url, {
    "x-ms-file-copy-ignore-readonly": "true",
  });
  assert.equal(forced.status, 202);
});

test("a file is copied from the share or from a snapshot of it", async () => {
  const source = await newSource(Buffer.from("old!!"));
  const { snapshot } = await share.createSnapshot();
  await source.uploadRange("new!!", 0, 5);
  assert.equal((await copyTo("copy-old", `${source.url}?sharesnapshot=${snapshot}`)).status, 202);
  assert.equal((await fileAt("copy-old").downloadToBuffer()).toString(), "old!!");
  assert.equal((await copyTo("copy-new", source.url)).status, 202);
  assert.equal((await fileAt("copy-new").downloadToBuffer()).toString(), "new!!");
});

test("handles that do not share block a copy, at both ends", async () => {
  const handles = new Handles(server, "share");
  const source = await newSource();
  const held = await handles.open(source.name, { access: READ, share: 0 });
  const stopped = await copyTo("copy-held", source.url);
  assert.deepEqual([stopped.status, stopped.code], [409, "CannotVerifyCopySource"]);
  assert.match(stopped.text, /<CopySourceErrorCode>SharingViolation</);
  await handles.close(held);
  await fileAt("copy-held").create(1);
  const target = await handles.open("copy-held", { access: READ, share: READ });
  const refused = await copyTo("copy-held", source.url);
  assert.deepEqual([refused.status, refused.code], [409, "SharingViolation"]);
  await handles.close(target);
  assert.equal((await copyTo("copy-held", source.url)).status, 202);
});

test("overwriting a leased file requires its lease id, the source's lease does not matter", async () => {
  const id = "aaaaaaaa-0000-4000-8000-000000000001";
  const source = await newSource();
  await source.getShareLeaseClient(id).acquireLease();
  const copy = fileAt("copy-leased");
  await copy.create(1);
  await copy.getShareLeaseClient(id).acquireLease();
  const without = await copyTo("copy-leased", source.url);
  assert.deepEqual([without.status, without.code], [412, "LeaseIdMissing"]);
  assert.equal((await copyTo("copy-leased", source.url, { "x-ms-lease-id": id })).status, 202);
  assert.equal((await copy.getProperties()).leaseState, "leased");
});

test("a copy from elsewhere is pending until its bytes have arrived, and blocks writers", async () => {
  elsewhere.bytes = randomBytes(2 * MIB);
  elsewhere.hold(MIB);
  const held = elsewhere.held();
  const copy = fileAt("copy-slow");
  const answer = await copyTo("copy-slow", `${elsewhere.origin}/object`);
  assert.deepEqual([answer.status, answer.headers.get("x-ms-copy-status")], [202, "pending"]);
  await held;
  assert.equal((await copy.getProperties()).copyStatus, "pending");
  await refused(copy.uploadRange("x", 0, 1), 409, "PendingCopyOperation");
  const source = await copyTo("copy-of-pending", copy.url);
  assert.deepEqual([source.status, source.code], [409, "CannotVerifyCopySource"]);
  assert.match(source.text, /<CopySourceErrorCode>PendingCopyOperation</);
  elsewhere.release();
  let found = await copy.getProperties();
  while (found.copyStatus === "pending") found = await copy.getProperties();
  assert.equal(found.copyStatus, "success");
  assert.ok((await copy.downloadToBuffer()).equals(elsewhere.bytes));
  elsewhere.holdsAt = null;
});

test("an aborted copy leaves an empty file, and can be aborted once", async () => {
  elsewhere.bytes = randomBytes(2 * MIB);
  elsewhere.hold(MIB);
  const held = elsewhere.held();
  const copy = fileAt("copy-aborted");
  const answer = await copyTo("copy-aborted", `${elsewhere.origin}/object`);
  const id = answer.headers.get("x-ms-copy-id") ?? "";
  await held;
  const other = "bbbbbbbb-0000-4000-8000-000000000002";
  await refused(copy.abortCopyFromURL(other), 409, "CopyIdMismatch");
  await copy.abortCopyFromURL(id);
  const { copyStatus, contentLength } = await copy.getProperties();
  assert.deepEqual([copyStatus, contentLength], ["aborted", 0]);
  await refused(copy.abortCopyFromURL(id), 409, "NoPendingCopyOperation");
  elsewhere.release();
  elsewhere.holdsAt = null;
  await copy.create(3);
});

test("invalid copy requests are refused by name", async () => {
  const source = await newSource();
  const asked = async (headers: Record<string, string>, url = source.url) => {
    const { status, code } = await copyTo("copy-wrong", url, headers);
    return [status, code];
  };
  const mode = "x-ms-file-permission-copy-mode";
  const invalid = [400, "InvalidHeaderValue"];
  assert.deepEqual(await asked({ [mode]: "both" }), invalid);
  assert.deepEqual(await asked({ [mode]: "override" }), invalid);
  assert.deepEqual(await asked({ [mode]: "source", "x-ms-file-permission": SDDL }), invalid);
  assert.deepEqual(await asked({ "x-ms-file-copy-set-archive": "maybe" }), invalid);
  assert.deepEqual(await asked({ [mode]: "source" }, `${elsewhere.origin}/object`), invalid);
  assert.deepEqual(await asked({ "x-ms-file-mode-copy-mode": "source" }), [
    400,
    "UnsupportedHeader",
  ]);
  assert.deepEqual(await asked({}, fileAt("none").url), [404, "CannotVerifyCopySource"]);
  assert.deepEqual(await asked({}, share.url), [400, "CannotVerifyCopySource"]);
  assert.deepEqual(await asked({}, "nowhere"), invalid);
  const abort = await rawRequest(server, { method: "PUT", path: "/share/x?comp=copy&copyid=1" });
  assert.deepEqual([abort.status, abort.code], [400, "MissingRequiredHeader"]);
  const headers = { "x-ms-copy-action": "abort" };
  const none = await rawRequest(server, { method: "PUT", path: "/share/x?comp=copy", headers });
  assert.deepEqual([none.status, none.code], [400, "MissingRequiredQueryParameter"]);
});
