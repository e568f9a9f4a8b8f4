import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, type TestContext, test } from "node:test";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { QueueServiceClient } from "@azure/storage-queue";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { assertFitsAll, Browsers, skipWithoutBrowser } from "./browser.ts";
import { ConsoleClient } from "./console-client.ts";
import { type ConsoleServer, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const browsers = new Browsers();
after(() => browsers.close());

const OTHER = "otheraccount";
const OTHER_KEY = Buffer.alloc(64, "other").toString("base64");

interface Judged {
  readonly operation: string | null;
  readonly account: string | null;
  readonly refusal: { status: number; code: string; detail: string | null } | null;
  readonly signature: {
    serverText: string;
    clientText: string | null;
    mistake: string | null;
    isShownText: boolean | null;
  } | null;
  readonly need: { letters: string; granted: string | null } | null;
}

async function started(t: TestContext): Promise<ConsoleServer & { api: ConsoleClient }> {
  const server = await startedConsole(t, {
    accounts: [
      { name: ACCOUNT, keys: [KEY] },
      { name: OTHER, keys: [OTHER_KEY] },
    ],
  });
  return { ...server, api: await ConsoleClient.signIn(server.consoleUrl) };
}

function sign(text: string, key: Buffer | string = Buffer.from(KEY, "base64")): string {
  return createHmac("sha256", key).update(text, "utf8").digest("base64");
}

const VERSION = "2025-01-05";

/** List Blobs, as a client should sign it. */
function listing(server: ConsoleServer) {
  const date = new Date().toUTCString();
  const url = `${server.urls.blob}/${ACCOUNT}/box?restype=container&comp=list&prefix=a%20b`;
  const head = ["GET", "", "", "", "", "", "", "", "", "", "", ""];
  const headers = [`x-ms-date:${date}`, `x-ms-version:${VERSION}`];
  const resource = `/${ACCOUNT}/${ACCOUNT}/box`;
  const query = ["comp:list", "prefix:a b", "restype:container"];
  return {
    request: {
      service: "blob",
      method: "GET",
      url,
      headers: { "x-ms-date": date, "x-ms-version": VERSION } as Record<string, string>,
    },
    date,
    lines: { head, headers, resource, query },
  };
}

type Lines = ReturnType<typeof listing>["lines"];

function textOf({ head, headers, resource, query }: Lines): string {
  return [...head, ...headers, resource, ...query].join("\n");
}

test("the page says that a good signature is good, and does nothing", async (t) => {
  const server = await started(t);
  const { request, lines } = listing(server);
  const authorization = `SharedKey ${ACCOUNT}:${sign(textOf(lines))}`;
  const good = { ...request, headers: { ...request.headers, authorization } };
  const judged = await server.api.post<Judged>("/api/why", good);
  assert.deepEqual([judged.refusal, judged.operation], [null, "listBlobs"]);

  const blobs = BlobServiceClient.fromConnectionString(server.connectionString);
  const container = blobs.getContainerClient("box");
  await container.create();
  const sas = await container.generateSasUrl({
    permissions: { toString: () => "rcw" } as never,
    expiresOn: new Date(Date.now() + 3_600_000),
  });
  const url = sas.replace("/box?", "/box/new.txt?");
  const headers = { "x-ms-blob-type": "BlockBlob", "content-length": "0" };
  const put = { service: "blob", method: "PUT", url, headers };
  assert.equal((await server.api.post<Judged>("/api/why", put)).refusal, null);
  assert.equal(await container.getBlobClient("new.txt").exists(), false);

  const queue = QueueServiceClient.fromConnectionString(server.connectionString);
  const jobs = queue.getQueueClient("jobs");
  await jobs.create();
  await jobs.sendMessage("job");
  const get = await jobs.generateSasUrl({
    permissions: { toString: () => "p" } as never,
    expiresOn: new Date(Date.now() + 3_600_000),
  });
  const messages = { service: "queue", url: get.replace("/jobs?", "/jobs/messages?") };
  assert.equal((await server.api.post<Judged>("/api/why", messages)).refusal, null);
  assert.equal((await jobs.receiveMessages()).receivedMessageItems.length, 1);
});

test("usual mistakes in signing are found out, with what the client has signed", async (t) => {
  const server = await started(t);
  const { request, lines, date } = listing(server);
  const right = textOf(lines);
  const mistakes: readonly [RegExp, string, Record<string, string>?][] = [
    [/without the account/, textOf({ ...lines, resource: `/${ACCOUNT}/box` })],
    [/did not sign the parameters/, textOf({ ...lines, query: [] })],
    [
      /without sorting/,
      textOf({ ...lines, query: ["restype:container", "comp:list", "prefix:a b"] }),
    ],
    [
      /as they are in the URL/,
      textOf({ ...lines, query: ["comp:list", "prefix:a%20b", "restype:container"] }),
    ],
    [/method HEAD/, right.replace("GET", "HEAD")],
    [/did not sign the header if-none-match/, right, { "If-None-Match": '"0x1"' }],
    [
      /conditions/,
      right,
      { "If-None-Match": '"0x1"', "If-Modified-Since": new Date(0).toUTCString() },
    ],
    [/did not sign the header x-ms-client-request-id/, right, { "x-ms-client-request-id": "1" }],
    [
      /SharedKeyLite/,
      ["GET", "", "", "", ...lines.headers, `${lines.resource}?comp=list`].join("\n"),
    ],
    [/Table service/, ["GET", "", "", date, `${lines.resource}?comp=list`].join("\n")],
  ];
  for (const [mistake, text, more = {}] of mistakes) {
    const authorization = `SharedKey ${ACCOUNT}:${sign(text)}`;
    const headers = { ...request.headers, ...more, Authorization: authorization };
    const { signature } = await server.api.post<Judged>("/api/why", { ...request, headers });
    assert.match(signature?.mistake ?? "", mistake);
    assert.equal(signature?.clientText, text);
    if (Object.keys(more).length === 0) assert.equal(signature?.serverText, right);
  }
});

test("a wrong key is found out, and so is a string that the client shows", async (t) => {
  const server = await started(t);
  const { request, lines } = listing(server);
  const right = textOf(lines);
  const ask = (signature: string, more: object = {}) => {
    const headers = { ...request.headers, Authorization: `SharedKey ${ACCOUNT}:${signature}` };
    return server.api.post<Judged>("/api/why", { ...request, headers, ...more });
  };
  const asText = await ask(sign(right, KEY));
  assert.match(asText.signature?.mistake ?? "", /text of the key/);
  const others = await ask(sign(right, Buffer.from(OTHER_KEY, "base64")));
  assert.match(others.signature?.mistake ?? "", /a key of the account otheraccount/);
  const mine = right.replace("restype", "restypo");
  const unknown = await ask(sign(mine));
  assert.equal(unknown.signature?.clientText, null);
  const shown = await ask(sign(mine), { stringToSign: mine });
  assert.equal(shown.signature?.isShownText, true);
  const wrong = await ask(sign(mine), { stringToSign: right });
  assert.equal(wrong.signature?.isShownText, false);
  const account = await ConsoleClient.signInByKey(server.consoleUrl, ACCOUNT, KEY);
  const headers = {
    Authorization: `SharedKey ${ACCOUNT}:${sign(right, Buffer.from(OTHER_KEY, "base64"))}`,
  };
  const own = await account.post<Judged>("/api/why", {
    ...request,
    headers: { ...request.headers, ...headers },
  });
  // Whose key it was is nobody's business who sees one account only.
  assert.equal(own.signature?.mistake, null);
  const foreign = { ...request, url: request.url.replaceAll(ACCOUNT, OTHER) };
  const refused = await account.fails("/api/why", { ...foreign, headers: request.headers });
  assert.deepEqual(refused, [403, "OtherAccount"]);
});

test("the page shows other reasons in the server's words", async (t) => {
  const server = await started(t);
  const blobs = BlobServiceClient.fromConnectionString(server.connectionString);
  const container = blobs.getContainerClient("box");
  await container.create();
  const hour = new Date(Date.now() + 3_600_000);
  const policy = { id: "gone", accessPolicy: { permissions: "r", expiresOn: hour } };
  const sas = (terms: object) =>
    container.getBlobClient("a.txt").generateSasUrl({
      permissions: { toString: () => "r" } as never,
      expiresOn: hour,
      ...terms,
    });
  const https = { toString: () => "https" } as never;
  const cases: readonly [string, string, string, RegExp][] = [
    [await sas({ expiresOn: new Date(1e12) }), "GET", "AuthenticationFailed", /Signed expiry time/],
    [await sas({}), "PUT", "AuthorizationPermissionMismatch", /./],
    [await sas({ ipRange: { start: "10.1.2.3" } }), "GET", "AuthorizationSourceIPMismatch", /./],
    [await sas({ protocol: https }), "GET", "AuthorizationProtocolMismatch", /./],
    [(await sas({})).replace(/sv=[^&]*/, "sv=yesterday"), "GET", "AuthenticationFailed", /sv must/],
    [(await sas({})).replace(ACCOUNT, "nobody"), "GET", "AuthenticationFailed", /is unknown/],
  ];
  for (const [url, method, code, words] of cases) {
    const judged = await server.api.post<Judged>("/api/why", { service: "blob", method, url });
    assert.equal(judged.refusal?.code, code, url);
    assert.match(`${judged.refusal?.detail}`, words);
    if (method === "PUT") assert.deepEqual(lettersOf(judged), ["cw", "r"]);
  }
  await container.setAccessPolicy(undefined, [policy]);
  const stored = await container
    .getBlobClient("a.txt")
    .generateSasUrl({ identifier: "gone", permissions: undefined as never });
  const asked = { service: "blob", url: stored };
  assert.equal((await server.api.post<Judged>("/api/why", asked)).refusal, null);
  await container.setAccessPolicy(undefined, []);
  const without = await server.api.post<Judged>("/api/why", asked);
  assert.equal(without.refusal?.code, "AuthenticationFailed");

  const changed = { service: "blob", url: (await sas({})).replace("sp=r&", "sp=rw&") };
  const { signature } = await server.api.post<Judged>("/api/why", changed);
  assert.match(signature?.mistake ?? "", /signed for sp=r, and somebody changed that to sp=rw/);
  const added = { service: "blob", url: `${await sas({})}&sip=127.0.0.1` };
  const more = await server.api.post<Judged>("/api/why", added);
  assert.match(more.signature?.mistake ?? "", /did not sign sip/);

  const { request, lines } = listing(server);
  const authorization = `SharedKey ${ACCOUNT}:${sign(textOf(lines))}`;
  const headers = { ...request.headers, authorization };
  const late = { ...request, headers, atMs: Date.now() + 3_600_000 };
  const old = await server.api.post<Judged>("/api/why", late);
  assert.match(old.refusal?.detail ?? "", /date header too old/);
  const other = {
    ...request,
    headers: { ...headers, authorization: authorization.replace(ACCOUNT, OTHER) },
  };
  const mixed = await server.api.post<Judged>("/api/why", other);
  assert.match(mixed.refusal?.detail ?? "", /signed for the account 'otheraccount'/);
});

function lettersOf({ need }: Judged) {
  return [need?.letters, need?.granted];
}

test("secrets in a request are in no explanation, and what cannot be read is refused", async (t) => {
  const server = await started(t);
  const { request } = listing(server);
  const headers = {
    ...request.headers,
    "x-ms-copy-source": "http://127.0.0.1/a/b/c?sig=c2VjcmV0MQ%3D%3D",
    "x-ms-encryption-key": "c2VjcmV0Mg==",
    Authorization: `SharedKey ${ACCOUNT}:c2VjcmV0Mw==`,
  };
  const text = JSON.stringify(await server.api.post("/api/why", { ...request, headers }));
  assert.match(text, /x-ms-encryption-key:\[redacted\]/);
  for (const secret of ["c2VjcmV0MQ", "c2VjcmV0Mg", "c2VjcmV0Mw", KEY]) {
    assert.equal(text.includes(secret), false, secret);
  }
  for (const wrong of [
    { ...request, service: "smb" },
    { ...request, url: "/box" },
    { ...request, method: "GE T" },
    { ...request, headers: { "a b": "c" } },
    { ...request, headers: { a: "b\r\nc: d" } },
    { ...request, atMs: "now" },
    { ...request, stringToSign: 1 },
  ]) {
    assert.deepEqual(await server.api.fails("/api/why", wrong), [400, "InvalidRequest"]);
  }
  assert.deepEqual(await server.api.fails("/api/why", { number: 99 }), [404, "RequestNotFound"]);
});

test("a click on a 403 shows both strings to sign, with the first difference", {
  skip,
}, async (t) => {
  const server = await startedConsole(t);
  const opened = await browsers.open(server.consoleUrl);
  t.after(() => opened.close());
  const { page, errors } = opened;
  await page.getByRole("link", { name: "Live requests" }).click();
  await page.getByText("No requests since").waitFor();
  const { request, lines } = listing({ ...server, consoleUrl: "" });
  const text = textOf({ ...lines, resource: `/${ACCOUNT}/box` });
  const headers = { ...request.headers, authorization: `SharedKey ${ACCOUNT}:${sign(text)}` };
  const refused = await fetch(request.url, { headers });
  assert.equal(refused.status, 403);
  await page
    .getByRole("row")
    .filter({ hasText: "AuthenticationFailed" })
    .getByRole("button")
    .click();
  await page.getByRole("dialog").getByRole("link", { name: "Why 403?" }).click();
  const why = page.getByRole("region", { name: "Explanation" });
  await why.getByText("The client signed the path without the account").waitFor();
  await why.getByText("The first difference is in line 15.").waitFor();
  const marked = why.locator("tr.differs td");
  assert.deepEqual(await marked.allTextContents(), [
    `/${ACCOUNT}/box`,
    `/${ACCOUNT}/${ACCOUNT}/box`,
  ]);
  await assertFitsAll(page);
  const shown = await page.content();
  assert.equal(shown.includes(sign(text)), false);
  assert.deepEqual(errors, []);
});

test("a pasted request is explained, also as curl", { skip }, async (t) => {
  const server = await startedConsole(t);
  const blobs = new BlobServiceClient(
    `${server.urls.blob}/${ACCOUNT}`,
    new StorageSharedKeyCredential(ACCOUNT, KEY),
  );
  const url = await blobs.getContainerClient("box").generateSasUrl({
    permissions: { toString: () => "r" } as never,
    expiresOn: new Date(Date.now() + 3_600_000),
  });
  const opened = await browsers.open(server.consoleUrl);
  t.after(() => opened.close());
  const { page, errors } = opened;
  await page.getByRole("link", { name: "Why 403?" }).click();
  await page.getByText("Paste a refused request").waitFor();
  await page.getByLabel("The request").fill(`curl -X DELETE '${url.replace("/box?", "/box/a?")}'`);
  await page.keyboard.press("Tab");
  await page.getByRole("button", { name: "Explain" }).press("Enter");
  const why = page.getByRole("region", { name: "Explanation" });
  await why.getByText("403 AuthorizationPermissionMismatch").waitFor();
  await why.getByText("deleteBlob needs the letter d in sp; this SAS has r.").waitFor();
  const { request, lines } = listing({ ...server, consoleUrl: "" });
  const date = "Sat, 01 Jan 2022 00:00:00 GMT";
  const signed = textOf({ ...lines, headers: [`x-ms-date:${date}`, `x-ms-version:${VERSION}`] });
  await page
    .getByLabel("The request")
    .fill(
      [
        `GET ${request.url}`,
        `x-ms-date: ${date}`,
        `x-ms-version: ${VERSION}`,
        `Authorization: SharedKey ${ACCOUNT}:${sign(signed)}`,
      ].join("\n"),
    );
  await page.getByRole("button", { name: "Explain" }).click();
  await why.getByText("Its credentials are good").waitFor();
  await why.getByText(/Its date is \d+ d .* old by now/).waitFor();
  await page.getByLabel("Judge it at the time").uncheck();
  await page.getByRole("button", { name: "Explain" }).click();
  await why.getByText("Request date header too old").waitFor();
  assert.deepEqual(errors, []);
});
