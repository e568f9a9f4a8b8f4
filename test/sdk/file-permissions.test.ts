import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type FileServer, startFileServer } from "./file-server.ts";
import { rawRequest } from "./raw-request.ts";
import { refused } from "./refused.ts";

let server: FileServer;

before(async () => {
  server = await startFileServer();
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

const SDDL = "O:SYG:BAD:(A;OICI;FA;;;SY)(A;OICI;0x1200a9;;;BU)";

test("equal permissions have the same key, and are read by it", async () => {
  const share = await server.newShare();
  const { filePermissionKey: key = "" } = await share.createPermission(SDDL);
  assert.match(key, /^\d+\*\d+$/);
  assert.equal((await share.createPermission(SDDL)).filePermissionKey, key);
  const found = await share.getPermission(key);
  assert.equal(found.permission, SDDL);
  assert.equal((await share.createPermission(found.permission)).filePermissionKey, key);
  await refused(share.getPermission("1*2"), 400, "FileInvalidPermissionKey");
  await refused(share.createPermission("nobody"), 400, "FileInvalidPermission");
});

test("a permission can be sent and received as bytes", async () => {
  const share = await server.newShare();
  const { filePermissionKey: key = "" } = await share.createPermission(SDDL);
  const binary = await share.getPermission(key, { filePermissionFormat: "Binary" });
  assert.match(binary.permission, /^[A-Za-z0-9+/]+=*$/);
  const { permission } = binary;
  const again = await share.createPermission({ permission, format: "Binary" });
  assert.equal(again.filePermissionKey, key);
  const wrong = { permission: "AAAA", format: "Binary" as const };
  await refused(share.createPermission(wrong), 400, "FileInvalidPermission");
});

test("files and directories have the permission they are given, or inherit one", async () => {
  const share = await server.newShare();
  const directory = share.getDirectoryClient("dir");
  await directory.create({ filePermission: SDDL });
  const { filePermissionKey: key } = await directory.getProperties();
  assert.equal(key, (await share.createPermission(SDDL)).filePermissionKey);

  const file = directory.getFileClient("file");
  await file.create(1);
  const { filePermissionKey: inherited = "" } = await file.getProperties();
  assert.equal(
    (await share.getPermission(inherited)).permission,
    "O:SYG:BAD:AI(A;ID;FA;;;SY)(A;ID;0x1200a9;;;BU)",
  );
  const below = directory.getDirectoryClient("below");
  await below.create();
  const { filePermissionKey: belowKey = "" } = await below.getProperties();
  assert.equal(
    (await share.getPermission(belowKey)).permission,
    "O:SYG:BAD:AI(A;OICIID;FA;;;SY)(A;OICIID;0x1200a9;;;BU)",
  );

  await file.setProperties({ filePermissionKey: key ?? "" });
  assert.equal((await file.getProperties()).filePermissionKey, key);
  await file.setProperties({ filePermission: "preserve" });
  assert.equal((await file.getProperties()).filePermissionKey, key);
  await below.setProperties({ filePermissionKey: key ?? "" });
  assert.equal((await below.getProperties()).filePermissionKey, key);
  await refused(below.setProperties({ filePermissionKey: "3*4" }), 400, "FileInvalidPermissionKey");
});

test("a permission key is valid only in its share", async () => {
  const share = await server.newShare();
  const other = await server.newShare();
  const { filePermissionKey: key = "" } = await share.createPermission("O:BAG:BAD:(A;;FA;;;WD)");
  const file = other.rootDirectoryClient.getFileClient("file");
  await refused(file.create(1, { filePermissionKey: key }), 400, "FileInvalidPermissionKey");
  await refused(file.getProperties(), 404, "ResourceNotFound");
});

test("a malformed permission is refused", async () => {
  const share = await server.newShare();
  const path = `/${share.name}?restype=share&comp=filepermission`;
  for (const body of ["{", "[]", "{}", '{"permission":1}', '{"permission":"O:SY","format":"x"}']) {
    const { code } = await rawRequest(server, { method: "PUT", path, body });
    assert.equal(code, "InvalidInput", body);
  }
  assert.equal((await rawRequest(server, { path })).code, "MissingRequiredHeader");
});
