import assert from "node:assert/strict";
import { test } from "node:test";
import { DataLakeServiceClient } from "@azure/storage-file-datalake";
import { DATALAKE_CREDENTIAL } from "../sdk/datalake-server.ts";
import { ANN, BOB, itemsOf, userAt } from "../sdk/datalake-users.ts";
import { OPTIONS } from "../sdk/role-users.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { assertFitsAll, skipWithoutBrowser } from "./browser.ts";
import { browserOfFile, certificateFiles, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const openPage = browserOfFile();

test("a user whom an ACL refuses sees which directory it is, and what would help", {
  skip,
}, async (t) => {
  const server = await startedConsole(t, {
    ...certificateFiles(t),
    oauth: "basic",
    config: {
      accounts: [{ name: ACCOUNT, keys: [KEY], blob: { hierarchicalNamespace: true } }],
      roles: [{ principal: { oid: BOB }, role: "blob-reader" }],
    },
  });
  const own = new DataLakeServiceClient(
    `${server.urls.dfs}/${ACCOUNT}`,
    DATALAKE_CREDENTIAL,
    OPTIONS,
  );
  const lake = own.getFileSystemClient("lake");
  await lake.create();
  await lake.getFileClient("raw/2026/a.txt").upload(Buffer.from("a"));
  const set = (path: string, acl: string) =>
    lake.getDirectoryClient(path).setAccessControl(itemsOf(acl));
  await set("/", "user::rwx,group::---,other::--x");
  await set("raw", `user::rwx,user:${ANN}:r--,group::---,mask::r--,other::---`);
  await set("raw/2026", "user::rwx,group::---,other::--x");
  const { page, errors } = await openPage(t, server.consoleUrl);
  await page.getByRole("link", { name: "Live requests" }).click();
  await page.getByText("No requests since").waitFor();
  const { filesystem } = userAt(`${server.urls.dfs}/${ACCOUNT}`, "lake", ANN);
  const read = () => filesystem.getFileClient("raw/2026/a.txt").read();
  const refused = (error: { statusCode?: number }) => error.statusCode === 403;
  await assert.rejects(read, refused);
  const rows = page.getByRole("row").filter({ hasText: "AuthorizationPermissionMismatch" });
  await rows.getByRole("button").click();
  await page.getByRole("dialog").getByRole("link", { name: "Why 403?" }).click();
  const why = page.getByRole("region", { name: "Explanation" });
  await why.getByText("The ACL of raw gives the user r--, and --x is needed there.").waitFor();
  await why.getByText(`The user is ${ANN} (no groups).`).waitFor();
  await why.getByText(/A role with containers\/blobs\/read permits it, too/).waitFor();
  await assertFitsAll(page);
  await set("raw", `user::rwx,user:${ANN}:--x,group::---,mask::--x,other::---`);
  // The request is judged again as it was sent, by what is there now.
  await page.getByRole("button", { name: "Explain" }).click();
  await why.getByText("The ACL of raw/2026/a.txt gives the user ---").waitFor();
  await lake
    .getFileClient("raw/2026/a.txt")
    .setAccessControl(itemsOf("user::rwx,group::---,other::r--"));
  await page.getByRole("button", { name: "Explain" }).click();
  await why.getByText("Its credentials are good").waitFor();
  await read();
  assert.deepEqual(errors, []);
});
