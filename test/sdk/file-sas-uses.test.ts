import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  FileSASPermissions,
  generateAccountSASQueryParameters,
  generateFileSASQueryParameters,
  type ShareClient,
  StorageSharedKeyCredential,
} from "@azure/storage-file-share";
import { type FileServer, startFileServer } from "./file-server.ts";
import { rawRequest } from "./raw-request.ts";

let server: FileServer;
let share: ShareClient;
let credential: StorageSharedKeyCredential;

before(async () => {
  server = await startFileServer();
  credential = new StorageSharedKeyCredential(server.account, server.key);
  share = server.client().getShareClient("share");
  await share.create();
  for (const name of ["file", "source"])
    await share.rootDirectoryClient.getFileClient(name).create(9);
});

after(async () => {
  await server.close();
  assert.deepEqual(server.failures, []);
});

interface Use {
  readonly query: string;
  readonly headers: Record<string, string>;
  /** Letters of which each alone grants it, in a SAS of the file and in one of the account. */
  readonly letters: string;
}

const ID = "aaaaaaaa-0000-4000-8000-000000000001";
const lease = (action: string) => ({
  "x-ms-lease-action": action,
  "x-ms-lease-duration": "-1",
  "x-ms-lease-id": ID,
});
const close = { "x-ms-handle-id": "*" };
const range = {
  "x-ms-write": "update",
  "x-ms-range": "bytes=0-1",
  "x-ms-source-range": "bytes=0-1",
};

const USES: Record<string, Use> = {
  leaseFile: { query: "comp=lease", headers: lease("release"), letters: "w" },
  breakFileLease: { query: "comp=lease", headers: lease("break"), letters: "wd" },
  forceCloseHandles: { query: "comp=forceclosehandles", headers: close, letters: "w" },
  copyFile: { query: "", headers: { "x-ms-copy-source": "" }, letters: "cw" },
  abortCopyFile: {
    query: "comp=copy&copyid=1",
    headers: { "x-ms-copy-action": "abort" },
    letters: "w",
  },
  putRangeFromUrl: {
    query: "comp=range",
    headers: { ...range, "x-ms-copy-source": "" },
    letters: "w",
  },
};

const expiresOn = new Date(Date.now() + 3_600_000);

function fileSas(letters: string, filePath: string): string {
  const permissions = FileSASPermissions.parse(letters);
  const asked = { shareName: "share", filePath, permissions, expiresOn };
  return generateFileSASQueryParameters(asked, credential).toString();
}

function accountSas(letters: string): string {
  return generateAccountSASQueryParameters(
    {
      permissions: AccountSASPermissions.parse(letters),
      services: AccountSASServices.parse("f").toString(),
      resourceTypes: AccountSASResourceTypes.parse("o").toString(),
      expiresOn,
    },
    credential,
  ).toString();
}

async function codeOf({ query, headers }: Use, sas: string): Promise<string> {
  const source = `${server.url}/share/source?${fileSas("r", "source")}`;
  const asked =
    "x-ms-copy-source" in headers ? { ...headers, "x-ms-copy-source": source } : headers;
  const path = `/share/file?${query === "" ? "" : `${query}&`}${sas}`;
  const answer = await rawRequest(server, { method: "PUT", path, headers: asked, signed: false });
  return answer.code;
}

for (const [operation, use] of Object.entries(USES)) {
  for (const letter of "rcwd") {
    const opens = use.letters.includes(letter);
    test(`${operation} is ${opens ? "granted by" : "refused with"} a SAS with ${letter}`, async () => {
      for (const sas of [fileSas(letter, "file"), accountSas(letter)]) {
        const code = await codeOf(use, sas);
        // A client that may create but not write must not overwrite an existing file.
        const isRefused = !opens || (operation === "copyFile" && letter === "c");
        assert.equal(/^(Authorization|Unauthorized)/.test(code), isRefused, `${code} ${sas}`);
      }
    });
  }
}

test("a copy with a SAS requires a SAS that reads the source", async () => {
  const path = `/share/copied?${fileSas("w", "copied")}`;
  const from = (sas: string) => ({
    method: "PUT",
    path,
    headers: { "x-ms-copy-source": `${server.url}/share/source?${sas}` },
    signed: false,
  });
  const without = await rawRequest(server, from(""));
  assert.equal(without.code, "CannotVerifyCopySource");
  const writing = await rawRequest(server, from(fileSas("w", "source")));
  assert.deepEqual([writing.status, writing.code], [403, "CannotVerifyCopySource"]);
  const other = await rawRequest(server, from(fileSas("r", "file")));
  assert.equal(other.code, "CannotVerifyCopySource");
  assert.equal((await rawRequest(server, from(fileSas("r", "source")))).status, 202);
});
