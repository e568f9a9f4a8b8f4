import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ShareClient } from "@azure/storage-file-share";
import { DELETE, READ, WRITE } from "../../src/rules/share-mode.ts";
import { type FileServer, startFileServer } from "./file-server.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";
import { ALL, Handles } from "./smb-handles.ts";

let server: FileServer;
let shares = 0;

before(async () => {
  server = await startFileServer();
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

const READER = { access: READ, share: ALL };

/** Makes a share with `dir/below/deep`, `dir/file` and `file`. */
async function newTree(): Promise<{ share: ShareClient; handles: Handles }> {
  const share = server.client().getShareClient(`share${shares++}`);
  await share.create();
  for (const path of ["dir", "dir/below"]) await share.getDirectoryClient(path).create();
  for (const path of ["dir/below/deep", "dir/file", "file"]) {
    const [name, ...above] = path.split("/").reverse() as [string, ...string[]];
    const directory = share.getDirectoryClient(above.reverse().join("/"));
    await directory.getFileClient(name).create(1);
  }
  return { share, handles: new Handles(server, share.name) };
}

async function pathsOf(list: AsyncIterable<{ path: string }>): Promise<string[]> {
  const paths: string[] = [];
  for await (const { path } of list) paths.push(path);
  return paths.sort();
}

test("a file's handles are listed with their owners and access rights", async () => {
  const { share, handles } = await newTree();
  const file = share.getDirectoryClient("dir").getFileClient("file");
  const { fileId, fileParentId } = await file.getProperties();
  const { handle } = await handles.open("dir/file", { access: READ | WRITE, share: ALL });
  await handles.open("file", READER);
  const found = [];
  for await (const one of file.listHandles()) found.push(one);
  assert.equal(found.length, 1);
  const [one] = found;
  assert.deepEqual(
    [one?.handleId, one?.path, one?.fileId, one?.parentId, one?.sessionId, one?.clientIp],
    [String(handle), "dir/file", fileId, fileParentId, "42", "10.0.0.1:445"],
  );
  assert.deepEqual(one?.accessRightList, ["Read", "Write"]);
  assert.equal(one?.openTime.getTime(), Math.floor(server.clock.now() / 1000) * 1000);
});

test("a directory's handles are listed alone or with all below it", async () => {
  const { share, handles } = await newTree();
  for (const path of ["", "dir", "dir", "dir/below/deep", "dir/file", "file"]) {
    await handles.open(path, READER);
  }
  const dir = share.getDirectoryClient("dir");
  assert.deepEqual(await pathsOf(dir.listHandles()), ["dir", "dir"]);
  const all = ["dir", "dir", "dir/below/deep", "dir/file"];
  assert.deepEqual(await pathsOf(dir.listHandles({ recursive: true })), all);
  const root = share.rootDirectoryClient;
  assert.deepEqual(await pathsOf(root.listHandles()), [""]);
  assert.deepEqual(await pathsOf(root.listHandles({ recursive: true })), ["", ...all, "file"]);
});

test("a long list of handles is paged", async () => {
  const { share, handles } = await newTree();
  for (let open = 0; open < 7; open++) await handles.open("dir/file", READER);
  await handles.open("file", READER);
  const pages = share.getDirectoryClient("dir").listHandles({ recursive: true });
  const sizes: number[] = [];
  const ids = new Set<string>();
  for await (const page of pages.byPage({ maxPageSize: 3 })) {
    const found = page.handleList ?? [];
    sizes.push(found.length);
    for (const { handleId } of found) ids.add(handleId);
  }
  assert.deepEqual(sizes, [3, 3, 1]);
  assert.equal(ids.size, 7);
});

test("a handle is closed by its id, and is unusable afterwards", async () => {
  const { share, handles } = await newTree();
  const file = share.rootDirectoryClient.getFileClient("file");
  const handle = await handles.open("file", { access: READ, share: 0 });
  await handles.open("file", { access: 0, share: 0 });
  await refused(file.uploadRange("x", 0, 1), 409, "SharingViolation");
  const other = share.getDirectoryClient("dir").getFileClient("file");
  const elsewhere = await other.forceCloseHandle(String(handle.handle));
  assert.equal(elsewhere.closedHandlesCount, 0);
  const closed = await file.forceCloseHandle(String(handle.handle));
  assert.deepEqual([closed.closedHandlesCount, closed.closeFailureCount], [1, 0]);
  await file.uploadRange("x", 0, 1);
  await assert.rejects(handles.close(handle), /InvalidHandle/);
  assert.equal((await file.forceCloseHandle(String(handle.handle))).closedHandlesCount, 0);
});

test("all handles are closed at once, of a directory and of everything below it", async () => {
  const { share, handles } = await newTree();
  for (const path of ["", "dir", "dir/below/deep", "dir/file", "file"]) {
    await handles.open(path, READER);
  }
  const dir = share.getDirectoryClient("dir");
  assert.equal((await dir.forceCloseAllHandles()).closedHandlesCount, 1);
  const below = await dir.forceCloseAllHandles({ recursive: true });
  assert.deepEqual([below.closedHandlesCount, below.closeFailureCount], [2, 0]);
  assert.deepEqual(await pathsOf(share.rootDirectoryClient.listHandles({ recursive: true })), [
    "",
    "file",
  ]);
  for (let open = 0; open < 250; open++) await handles.open("dir/file", READER);
  assert.equal((await dir.forceCloseAllHandles({ recursive: true })).closedHandlesCount, 250);
});

test("more handles than one call closes are closed by the calls that follow", async () => {
  const { share, handles } = await newTree();
  for (let open = 0; open < 1_700; open++) {
    for (const path of ["file", "dir/file", "dir/below/deep"]) await handles.open(path, READER);
  }
  const root = share.rootDirectoryClient;
  const first = await rawRequest(server, {
    method: "PUT",
    path: `/${share.name}?restype=directory&comp=forceclosehandles`,
    headers: { "x-ms-recursive": "true", "x-ms-handle-id": "*" },
  });
  assert.equal(first.headers.get("x-ms-number-of-handles-closed"), "5000");
  assert.notEqual(first.headers.get("x-ms-marker"), null);
  for (const path of ["file", "dir/file", "dir/below/deep"]) {
    for (let open = 0; open < 1_680; open++) await handles.open(path, READER);
  }
  const rest = await root.forceCloseAllHandles({ recursive: true });
  assert.equal(rest.closedHandlesCount, 100 + 3 * 1_680);
  assert.deepEqual(await pathsOf(root.listHandles({ recursive: true })), []);
});

test("force-closing the last handle deletes a file that is delete-pending", async () => {
  const { share, handles } = await newTree();
  const file = share.rootDirectoryClient.getFileClient("file");
  const handle = await handles.open("file", { access: DELETE, share: ALL });
  await handles.mark(handle, true);
  await refused(file.getProperties(), 409, "SMBDeletePending");
  assert.deepEqual(await pathsOf(file.listHandles()), ["file"]);
  assert.equal((await file.forceCloseAllHandles()).closedHandlesCount, 1);
  await refused(file.getProperties(), 404, "ResourceNotFound");
});

test("invalid input to the handle operations is refused by name", async () => {
  const { share } = await newTree();
  const asked = async (method: string, path: string, headers: Record<string, string> = {}) => {
    const answer = await rawRequest(server, { method, path: `/${share.name}/${path}`, headers });
    return [answer.status, answer.code];
  };
  const close = "file?comp=forceclosehandles";
  assert.deepEqual(await asked("PUT", close), [400, "MissingRequiredHeader"]);
  for (const id of ["x", "-1", "1.5", "18446744073709551616", "**"]) {
    const answer = await asked("PUT", close, { "x-ms-handle-id": id });
    assert.deepEqual(answer, [400, "InvalidHeaderValue"], id);
  }
  const marker = "file?comp=listhandles&marker=";
  const wrong = Buffer.from("h99999999999999999999.1").toString("base64url");
  for (const one of ["x", wrong, Buffer.from("h1").toString("base64url")]) {
    assert.deepEqual(await asked("GET", marker + one), [400, "InvalidQueryParameterValue"]);
  }
  assert.deepEqual(await asked("GET", "none?comp=listhandles"), [404, "ResourceNotFound"]);
  assert.deepEqual(await asked("GET", "none/file?comp=listhandles"), [404, "ParentNotFound"]);
  assert.deepEqual(await asked("GET", "file?comp=listhandles&maxresults=0"), [
    400,
    "OutOfRangeQueryParameterValue",
  ]);
  const elsewhere = await rawRequest(server, { path: "/no-share/file?comp=listhandles" });
  assert.deepEqual([elsewhere.status, elsewhere.code], [404, "ShareNotFound"]);
});
