import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { AzureNamedKeyCredential, TableClient } from "@azure/data-tables";
import {
  BlobServiceClient,
  type ContainerClient,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from "@azure/storage-blob";
import {
  StorageSharedKeyCredential as DataLakeKey,
  DataLakeServiceClient,
} from "@azure/storage-file-datalake";
import { ShareServiceClient } from "@azure/storage-file-share";
import { QueueServiceClient } from "@azure/storage-queue";
import type { Page } from "playwright-core";
import type { Need } from "../../src/rules/access.ts";
import { BLOB_NEEDS } from "../../src/rules/blob-needs.ts";
import { FILE_NEEDS } from "../../src/rules/file-needs.ts";
import { QUEUE_NEEDS } from "../../src/rules/queue-needs.ts";
import { TABLE_NEEDS } from "../../src/rules/table-needs.ts";
import { bearer } from "../sdk/bearer.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { assertFitsAll, Browsers, type ConsolePage, skipWithoutBrowser } from "./browser.ts";
import { type ConsoleServer, certificateFiles, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const browsers = new Browsers();
after(() => browsers.close());

/** Opens the page of shared access signatures. */
async function openSas(t: TestContext, server: ConsoleServer): Promise<ConsolePage> {
  const opened = await browsers.open(server.consoleUrl);
  t.after(() => opened.close());
  await opened.page.getByRole("link", { name: "SAS", exact: true }).click();
  await opened.page.getByRole("heading", { name: "Shared access signatures" }).waitFor();
  return opened;
}

async function explainTab(page: Page, text: string): Promise<void> {
  await page.getByRole("link", { name: "Explain", exact: true }).click();
  await page.getByLabel("A URL with a SAS").fill(text);
}

/** What the page made. It signs in its own time: `has` is what shows that all of the form is in it. */
async function built(
  page: Page,
  part: "URL" | "SAS" | "curl" | "Connection string",
  has: string | RegExp,
): Promise<string> {
  const text = page.getByRole("region", { name: part, exact: true }).locator("pre");
  await text.filter({ hasText: has }).waitFor();
  return (await text.textContent()) ?? "";
}

async function choose(page: Page, target: string, holder: string, name?: string) {
  const form = page.getByRole("form", { name: "SAS" });
  await form.getByLabel("For", { exact: true }).selectOption({ label: target });
  const [first = "", second = ""] = NAMES[target] ?? [];
  await form.getByLabel(first, { exact: true }).fill(holder);
  if (name !== undefined) await form.getByLabel(second, { exact: true }).fill(name);
}

const NAMES: Readonly<Record<string, readonly string[]>> = {
  Blob: ["Container", "Blob"],
  "Snapshot of a blob": ["Container", "Blob"],
  Container: ["Container"],
  "Directory (Data Lake)": ["Container", "Directory"],
  Queue: ["Queue"],
  Table: ["Table"],
  Share: ["Share"],
  File: ["Share", "File"],
};

/** Chooses exactly these letters. */
async function permit(page: Page, letters: string): Promise<void> {
  const boxes = page.getByRole("group", { name: "Permissions (sp)" }).getByRole("checkbox");
  const codes = page.getByRole("group", { name: "Permissions (sp)" }).locator("code");
  for (const [at, letter] of (await codes.allTextContents()).entries()) {
    await boxes.nth(at).setChecked(letters.includes(letter));
  }
}

async function statusOf(url: string, options: RequestInit = {}): Promise<number> {
  const response = await fetch(url, options);
  await response.arrayBuffer();
  return response.status;
}

/** The URL of something else, with the same SAS. */
function elsewhere(url: string, from: string, to: string): string {
  const [path = "", query = ""] = url.split("?");
  assert.ok(path.includes(from));
  return `${path.replace(from, to)}?${query}`;
}

async function filled(server: ConsoleServer): Promise<ContainerClient> {
  const container = BlobServiceClient.fromConnectionString(
    server.connectionString,
  ).getContainerClient("box");
  await container.create();
  await container.uploadBlockBlob("docs/a b.txt", "hello", 5);
  await container.uploadBlockBlob("other.txt", "other", 5);
  return container;
}

test("SAS for blobs, snapshots and containers open what they are for, and nothing else", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const container = await filled(server);
  const { page, errors } = await openSas(t, server);
  await page.getByText("Enter the name of the container").waitFor();

  await choose(page, "Blob", "box", "docs/a b.txt");
  await permit(page, "r");
  const blob = await built(page, "URL", /docs\/a%20b.txt\?.*sr=b.*sp=r&/);
  assert.equal(await (await fetch(blob)).text(), "hello");
  assert.equal(await statusOf(elsewhere(blob, "docs/a%20b.txt", "other.txt")), 403);
  assert.equal(await statusOf(blob, { method: "DELETE" }), 403);

  const { snapshot = "" } = await container.getBlobClient("other.txt").createSnapshot();
  await container.uploadBlockBlob("other.txt", "changed", 7);
  await choose(page, "Snapshot of a blob", "box", "other.txt");
  await page.getByLabel("Snapshot", { exact: true }).fill(snapshot);
  const old = await built(page, "URL", `snapshot=${encodeURIComponent(snapshot)}`);
  assert.equal(await (await fetch(old)).text(), "other");

  await choose(page, "Container", "box");
  await permit(page, "rl");
  const all = await built(page, "curl", "sp=rl");
  const list = await fetch(/'(.*)'/.exec(all)?.[1] ?? "");
  assert.match(await list.text(), /<Name>docs\/a b.txt<\/Name>/);
  const string = await built(page, "Connection string", "sp=rl");
  const client = BlobServiceClient.fromConnectionString(string);
  const bytes = await client
    .getContainerClient("box")
    .getBlobClient("other.txt")
    .downloadToBuffer();
  assert.equal(bytes.toString(), "changed");

  await page.getByText("Headers of answers").click();
  await page.getByLabel("rsct", { exact: true }).fill("text/x-chosen");
  const typed = await built(page, "URL", "rsct=text%2Fx-chosen");
  const answer = await fetch(elsewhere(typed, "/box", "/box/other.txt"));
  assert.equal(answer.headers.get("content-type"), "text/x-chosen");
  await page.getByText("The signature is right: key 1").waitFor();
  await assertFitsAll(page);
  assert.deepEqual(errors, []);
});

test("a SAS by a stored policy follows the policy, whose name the form offers", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const container = await filled(server);
  const expiresOn = new Date(Date.now() + 3_600_000);
  const accessPolicy = { permissions: "r", expiresOn };
  await container.setAccessPolicy(undefined, [{ id: "readers", accessPolicy }]);
  const { page } = await openSas(t, server);
  await choose(page, "Blob", "box", "other.txt");
  const lookUp = page.getByRole("button", { name: "Look up policies" });
  await lookUp.click();
  await page.getByRole("button", { name: "Use readers" }).waitFor();
  // The second answer must not come from the browser's cache, whose conditions nobody has signed.
  const again = page.waitForResponse((answer) => answer.url().includes("comp=acl"));
  await lookUp.click();
  assert.equal((await again).status(), 200);
  await page.getByRole("button", { name: "Use readers" }).click();
  await permit(page, "");
  await page.getByLabel("Expiry (se)").fill("");
  const url = await built(page, "URL", /^(?!.*&s[pe]=).*si=readers/);
  assert.equal(await statusOf(url), 200);
  await page.getByText("The stored policy says what it permits.").waitFor();
  await container.setAccessPolicy(undefined, []);
  assert.equal(await statusOf(url), 403);
});

test("SAS for queues, ranges of tables, files and shares, and whole accounts work", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const { connectionString, urls } = server;
  const queue = QueueServiceClient.fromConnectionString(connectionString).getQueueClient("jobs");
  await queue.create();
  await queue.sendMessage("job");
  const table = new TableClient(
    `${urls.table}/${ACCOUNT}`,
    "people",
    new AzureNamedKeyCredential(ACCOUNT, KEY),
    { allowInsecureConnection: true },
  );
  await table.createTable();
  for (const partitionKey of ["a", "m", "z"]) {
    await table.createEntity({ partitionKey, rowKey: "1" });
  }
  const share = ShareServiceClient.fromConnectionString(connectionString).getShareClient("docs");
  await share.create();
  const file = share.rootDirectoryClient.getFileClient("plan.txt");
  await file.create(4);
  await file.uploadRange("plan", 0, 4);
  const { page, errors } = await openSas(t, server);

  const lookUp = page.getByRole("button", { name: "Look up policies" });
  const none = page.getByText("It has none.");
  await choose(page, "Queue", "jobs");
  await lookUp.click();
  await none.waitFor();
  await permit(page, "r");
  const peek = await built(page, "curl", /jobs\/messages.*sp=r&/);
  const messages = await (await fetch(/'(.*)'/.exec(peek)?.[1] ?? "")).text();
  assert.match(messages, /<MessageText>job<\/MessageText>/);
  const get = (/'(.*)'/.exec(peek)?.[1] ?? "").replace("peekonly=true&", "");
  assert.equal(await statusOf(get), 403);

  await choose(page, "Table", "people");
  await none.waitFor({ state: "detached" });
  await lookUp.click();
  await none.waitFor();
  await page.getByLabel("First partition (spk)").fill("b");
  await page.getByLabel("Last partition (epk)").fill("n o");
  const rows = await built(page, "URL", /epk=n%20o.*sp=r&/);
  const entities = await fetch(rows, { headers: { accept: "application/json" } });
  const { value } = (await entities.json()) as { value: { PartitionKey: string }[] };
  assert.deepEqual(
    value.map(({ PartitionKey }) => PartitionKey),
    ["m"],
  );

  await choose(page, "File", "docs", "plan.txt");
  const one = await built(page, "URL", /plan.txt\?.*sr=f.*sp=r&/);
  assert.equal(await (await fetch(one)).text(), "plan");
  await choose(page, "Share", "docs");
  await none.waitFor({ state: "detached" });
  await lookUp.click();
  await none.waitFor();
  await permit(page, "rl");
  const every = await built(page, "curl", /sr=s&.*sp=rl&/);
  const listed = await (await fetch(/'(.*)'/.exec(every)?.[1] ?? "")).text();
  assert.match(listed, /<Name>plan.txt<\/Name>/);

  await page.getByLabel("Kind").selectOption("account");
  const boxes = page.getByRole("group", { name: "Services (ss)" }).getByRole("checkbox");
  for (let at = 0; at < 4; at++) await boxes.nth(at).check();
  const types = page.getByRole("group", { name: "Resource types (srt)" }).getByRole("checkbox");
  for (let at = 0; at < 3; at++) await types.nth(at).check();
  const whole = await built(page, "Connection string", /ss=bqtf&srt=sco&sp=rl&/);
  const names: string[] = [];
  for await (const { name } of QueueServiceClient.fromConnectionString(whole).listQueues()) {
    names.push(name);
  }
  for await (const { name } of ShareServiceClient.fromConnectionString(whole).listShares()) {
    names.push(name);
  }
  assert.deepEqual(names, ["jobs", "docs"]);
  assert.deepEqual(errors, []);
});

test("a SAS for a directory opens what is below it", { skip }, async (t) => {
  const server = await startedConsole(t);
  const lake = new DataLakeServiceClient(
    `${server.urls.dfs}/${ACCOUNT}`,
    new DataLakeKey(ACCOUNT, KEY),
  );
  const system = lake.getFileSystemClient("lake");
  await system.create();
  for (const path of ["in/deep/a.txt", "out/b.txt"]) {
    const file = system.getFileClient(path);
    await file.create();
    await file.append("data", 0, 4);
    await file.flush(4);
  }
  const { page, errors } = await openSas(t, server);
  await choose(page, "Directory (Data Lake)", "lake", "in/deep");
  await permit(page, "rl");
  const url = await built(page, "URL", /sdd=2.*sp=rl&/);
  assert.equal(await (await fetch(elsewhere(url, "in/deep", "in/deep/a.txt"))).text(), "data");
  assert.equal(await statusOf(elsewhere(url, "in/deep", "out/b.txt")), 403);
  const curl = await built(page, "curl", /sdd=2.*sp=rl&/);
  const listed = await (await fetch(/'(.*)'/.exec(curl)?.[1] ?? "")).text();
  assert.match(listed, /in\/deep\/a.txt/);
  assert.deepEqual(errors, []);
});

test("a user delegation SAS takes a bearer token, and without OAuth the page says what to do", {
  skip,
}, async (t) => {
  const plain = await startedConsole(t);
  const first = await openSas(t, plain);
  await first.page.getByLabel("Kind").selectOption("user");
  await first.page.getByText("this server takes none").waitFor();
  const server = await startedConsole(t, { ...certificateFiles(t), oauth: "basic" });
  const { page, errors } = await openSas(t, server);
  await page.getByLabel("Kind").selectOption("user");
  await choose(page, "Blob", "box", "a.txt");
  await page.getByLabel("Bearer token").fill(bearer().authorization.replace("Bearer ", ""));
  await page.getByRole("button", { name: "Get a key for a day" }).click();
  await permit(page, "cw");
  const url = await built(page, "URL", /\/box\/a.txt\?.*skoid.*sp=cw&/);
  const put = `(async () => (await fetch(${JSON.stringify(
    url.replace(/^https:\/\/[^/]+/, "/services/blob"),
  )}, { method: "PUT", body: "x", headers: {
    "x-lazuli-console": "1", "x-ms-blob-type": "BlockBlob" } })).headers.get("x-ms-error-code"))()`;
  // The signature is accepted: it is the container that does not exist.
  assert.equal(await page.evaluate(put), "ContainerNotFound");
  assert.deepEqual(
    errors.filter((error) => !error.includes("404")),
    [],
  );
});

test("a pasted SAS is explained field by field, with what is wrong about it", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const { page, errors } = await openSas(t, server);
  const sent: string[] = [];
  page.on("request", (request) => {
    if (!request.url().endsWith("/icon.svg")) sent.push(request.url());
  });
  const credential = new StorageSharedKeyCredential(ACCOUNT, KEY);
  const at = `${server.urls.blob}/${ACCOUNT}/box/a.txt`;
  const made = (expiresOn: Date, key = credential) =>
    generateBlobSASQueryParameters(
      { containerName: "box", blobName: "a.txt", permissions: READ, expiresOn, version: VERSION },
      key,
    ).toString();
  const hour = new Date(Date.now() + 3_600_000);
  const explanation = page.getByRole("region", { name: "Explanation" });

  await explainTab(page, `${at}?${made(hour)}`);
  await explanation.getByText("Valid now").waitFor();
  await explanation.getByText("The signature is right: key 1").waitFor();
  await explanation.getByText("r: read contents, properties and metadata").waitFor();
  await explanation.getByText("b: one blob").waitFor();
  await explanation.getByText(/That is in (59 min|1 h)/).waitFor();
  await assertFitsAll(page);

  await explainTab(page, `${at}?${made(new Date("2020-01-02T03:04:05Z"))}`);
  await explanation.getByText(/It has expired, \d+ d/).waitFor();
  await explanation.getByText(/That was \d+ d/).waitFor();
  assert.equal(await explanation.getByText("Valid now").count(), 0);

  await explainTab(page, `${at.replace("a.txt", "b.txt")}?${made(hour)}`);
  await explanation.getByText(`No key of ${ACCOUNT} made this signature`).waitFor();

  await explainTab(page, "?sv=2020-12-06&sr=b&sp=rq&srk=1&spr=https&sig=abc&ss=b");
  for (const text of [
    "se is missing.",
    "srt is missing.",
    "sp: the letter q means nothing here.",
    "spr permits HTTPS only",
    "srk is not signed in this version",
  ]) {
    await explanation.getByText(text).waitFor();
  }
  await explainTab(page, "nothing of this kind");
  await page.getByText("There is no SAS in this text").waitFor();
  assert.deepEqual(errors, []);
  // Nothing was asked of the server: neither the SAS nor a key has left the browser.
  assert.deepEqual(sent, []);
});

const VERSION = "2025-01-05";
const READ = { toString: () => "r" } as never;

test("the form offers every letter that permits something, and no other", { skip }, async (t) => {
  const server = await startedConsole(t);
  const { page } = await openSas(t, server);
  const letters = async () =>
    (await page.getByRole("group", { name: "Permissions (sp)" }).locator("code").allTextContents())
      .sort()
      .join("");
  const all = (of: "account" | "service", ...needs: Record<string, Need>[]) => {
    const found = needs.flatMap((each) => Object.values(each)).flatMap((need) => [...need[of]]);
    return [...new Set(found)].sort().join("");
  };
  for (const [target, needs] of [
    ["Container", BLOB_NEEDS],
    ["Queue", QUEUE_NEEDS],
    ["Table", TABLE_NEEDS],
    ["Share", FILE_NEEDS],
  ] as const) {
    await page.getByLabel("For", { exact: true }).selectOption({ label: target });
    assert.equal(await letters(), all("service", needs), target);
  }
  await page.getByLabel("Kind").selectOption("account");
  assert.equal(await letters(), all("account", BLOB_NEEDS, QUEUE_NEEDS, TABLE_NEEDS, FILE_NEEDS));
});
