import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobSASPermissions, generateBlobSASQueryParameters } from "@azure/storage-blob";
import { startFileServer } from "../sdk/file-server.ts";
import { startQueueServer } from "../sdk/queue-server.ts";
import { rawRequest } from "../sdk/raw-request.ts";
import { CREDENTIAL, forThisFile, startServer } from "../sdk/server.ts";
import { startTableServer, tableRequest } from "../sdk/table-server.ts";

const IMPOSSIBLE = ["3025-05-06", "2100-01-01", "2020-13-01", "2020-02-30", "latest"];
/** A few years later than the newest version this server knows. */
const AHEAD = "2031-01-01";

const blobs = await forThisFile(startServer());
const SERVICES = {
  blob: { server: blobs, ask: rawRequest, path: "/?comp=list" },
  file: { server: await forThisFile(startFileServer()), ask: rawRequest, path: "/?comp=list" },
  queue: { server: await forThisFile(startQueueServer()), ask: rawRequest, path: "/?comp=list" },
  table: { server: await forThisFile(startTableServer()), ask: tableRequest, path: "/Tables" },
};

for (const [service, { server, ask, path }] of Object.entries(SERVICES)) {
  test(`${service}: an impossible version is refused before anything else`, async () => {
    for (const version of IMPOSSIBLE) {
      for (const asked of [
        { path },
        { path, signed: false },
        { method: "DELETE", path: "/?comp=nonsense", signed: false },
      ]) {
        const answer = await ask(server, { ...asked, version });
        assert.deepEqual([answer.status, answer.code], [400, "InvalidHeaderValue"], version);
      }
    }
  });

  test(`${service}: a future version works`, async () => {
    const answer = await ask(server, { path, version: AHEAD });
    assert.deepEqual([answer.status, answer.headers.get("x-ms-version")], [200, AHEAD]);
  });

  test(`${service}: an impossible version in a SAS is refused`, async () => {
    const mark = path.includes("?") ? "&" : "?";
    const signed = `${path}${mark}ss=bfqt&srt=sco&sp=rl&se=2099-01-01&sig=AAAA`;
    for (const version of IMPOSSIBLE) {
      const asked = { signed: false, version: null } as const;
      const named = await ask(server, { ...asked, path: `${signed}&api-version=${version}` });
      assert.deepEqual([named.status, named.code], [400, "InvalidQueryParameterValue"], version);
      const sv = await ask(server, { ...asked, path: `${signed}&sv=${version}` });
      assert.deepEqual([sv.status, sv.code], [403, "AuthenticationFailed"], version);
      assert.match(sv.text, /sv must be a date/);
    }
  });
}

test("a SAS of a future version grants what it names", async () => {
  const box = await blobs.makeContainer();
  await box.getBlockBlobClient("blob").upload("text", 4);
  const expiresOn = new Date(Date.now() + 3_600_000);
  const permissions = BlobSASPermissions.parse("r");
  const terms = { containerName: box.containerName, blobName: "blob", permissions, expiresOn };
  const sas = generateBlobSASQueryParameters({ ...terms, version: AHEAD }, CREDENTIAL);
  const path = `/${box.containerName}/blob?${sas}`;
  const answer = await rawRequest(blobs, { path, signed: false, version: null });
  assert.deepEqual([answer.status, answer.text], [200, "text"]);
  assert.equal(answer.headers.get("x-ms-version"), AHEAD);
});
