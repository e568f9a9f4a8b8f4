import assert from "node:assert/strict";
import { test } from "node:test";
import { FILE_FIELDS } from "../../src/front/rest/file/field-versions.ts";
import { crc64 } from "../../src/machine/crc64.ts";
import { READ } from "../../src/rules/share-mode.ts";
import { startFileServer } from "../sdk/file-server.ts";
import { rawRequest } from "../sdk/raw-request.ts";
import { forThisFile } from "../sdk/server.ts";
import { ALL, Handles } from "../sdk/smb-handles.ts";
import { checkFields, type Samples } from "./field-presence.ts";

const server = await forThisFile(startFileServer());
const share = server.client().getShareClient("share");
await share.create();
await share.getDirectoryClient("dir").create();
const file = share.rootDirectoryClient.getFileClient("file");
await file.create(1_024, { fileHttpHeaders: { fileContentMD5: Buffer.alloc(16) } });

test("File: every field is sent from its version on, and not before", async () => {
  await share.setProperties({ accessTier: "Hot" });
  const leased = share.rootDirectoryClient.getFileClient("leased");
  await leased.create(1);
  await leased.getShareLeaseClient().acquireLease(-1);
  await share.getShareLeaseClient().acquireLease(-1);
  await new Handles(server, "share").open("file", { access: READ, share: ALL });

  const body = "x".repeat(512);
  const put = { "x-ms-write": "update", "x-ms-range": "bytes=0-511" };
  const timed = "include=timestamps,etag,attributes,permissionkey";
  const closing = { "x-ms-handle-id": "123" };
  const files = [{ path: "/share/file" }, { path: "/share/leased" }];
  const source = { "x-ms-copy-source": file.url, "x-ms-source-range": "bytes=0-511" };
  const samples: Samples = {
    all: [
      {
        method: "PUT",
        path: "/share/new",
        headers: { "x-ms-type": "file", "x-ms-content-length": "1" },
      },
      {
        method: "PUT",
        path: "/share/file?comp=range",
        headers: { ...put, "x-ms-content-crc64": crc64(Buffer.from(body)).toString("base64") },
        body,
      },
    ],
    getServiceProperties: [{ path: "/?restype=service&comp=properties" }],
    getShareProperties: [{ path: "/share?restype=share" }],
    listShares: [{ path: "/?comp=list" }],
    getFile: [...files, { path: "/share/file", headers: { "x-ms-range": "bytes=0-1" } }],
    getFileProperties: files.map((asked) => ({ ...asked, method: "HEAD" })),
    getDirectoryProperties: [{ path: "/share/dir?restype=directory" }],
    putRange: [{ method: "PUT", path: "/share/file?comp=range", headers: put, body }],
    putRangeFromUrl: [
      { method: "PUT", path: "/share/file?comp=range", headers: { ...put, ...source } },
    ],
    listDirectoriesAndFiles: [{ path: `/share?restype=directory&comp=list&${timed}` }],
    listRanges: [{ path: "/share/file?comp=rangelist" }],
    forceCloseHandles: [
      { method: "PUT", path: "/share/file?comp=forceclosehandles", headers: closing },
    ],
    listHandles: [{ path: "/share/file?comp=listhandles" }],
  };
  await checkFields(FILE_FIELDS, samples, (asked) => rawRequest(server, asked));
});

test("the usage of a share is in gibibytes before 2018-11-09", async () => {
  const path = "/share?restype=share&comp=stats";
  const old = await rawRequest(server, { path, version: "2018-11-08" });
  assert.match(old.text, /<ShareStats><ShareUsage>1<\/ShareUsage><\/ShareStats>$/);
  const later = await rawRequest(server, { path, version: "2018-11-09" });
  assert.match(later.text, /<ShareStats><ShareUsageBytes>\d+<\/ShareUsageBytes><\/ShareStats>$/);
});
