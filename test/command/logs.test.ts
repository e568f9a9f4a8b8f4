import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { rename } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import {
  AccountSASPermissions,
  AccountSASResourceTypes,
  AccountSASServices,
  BlobSASPermissions,
  BlobServiceClient,
  generateAccountSASQueryParameters,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { ShareServiceClient } from "@azure/storage-file-share";
import { SmbClient, TcpLine } from "../../src/front/smb/smb-client.fixture.ts";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { askForKey, askSecurely, bearer, keyIn } from "../sdk/bearer.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../sdk/certificate.ts";
import { ACCOUNT, CREDENTIAL, KEY } from "../sdk/server.ts";
import { SmbFiles } from "../smb/smb-files.ts";
import { LazuliProcess } from "./process.ts";

const HOUR_MS = 3_600_000;

const scratch = mkdtempSync(join(tmpdir(), "lazuli-"));
after(() => rmSync(scratch, { recursive: true }));

function start(t: TestContext, ...args: string[]): LazuliProcess {
  const lazuli = new LazuliProcess(["--inMemoryPersistence", ...ANY_PORTS, ...args]);
  t.after(() => lazuli.kill());
  return lazuli;
}

/** Stops the server, and returns what it wrote to standard error. */
async function stop(lazuli: LazuliProcess): Promise<string> {
  lazuli.signal("SIGTERM");
  const { code, err } = await lazuli.ended();
  assert.equal(code, 0);
  return err;
}

async function originOf(lazuli: LazuliProcess, service: string): Promise<string> {
  const ready = new RegExp(`^${service} service is successfully listening at (\\S+)$`, "m");
  return (await lazuli.printed(ready)) as string;
}

function blobsAt(origin: string): BlobServiceClient {
  const options = { retryOptions: { maxTries: 1 } };
  return new BlobServiceClient(`${origin}/${ACCOUNT}`, CREDENTIAL, options);
}

interface Line {
  readonly [field: string]: unknown;
}

function jsonLines(path: string): Line[] {
  const lines = readFileSync(path, "utf8").split("\n");
  assert.equal(lines.pop(), "");
  return lines.map((line) => JSON.parse(line) as Line);
}

/** The end of a line on standard error, because SIGHUP also reloads the configuration. */
const RELOADED = " The configuration is reloaded: nothing has changed.";

test("after SIGHUP the logs go to new files, and no line is lost", async (t) => {
  const folder = mkdtempSync(join(scratch, "rotated-"));
  const [log, debug] = [join(folder, "access.log"), join(folder, "debug.log")];
  const lazuli = start(t, "--log", log, "--logFormat", "json", "--debug", debug);
  const client = blobsAt(await originOf(lazuli, "Blob"));
  const asked = new Set<string>();
  let isDone = false;
  const ask = async () => {
    while (!isDone) {
      const { requestId } = await client.getProperties();
      asked.add(requestId ?? "");
    }
  };
  t.after(() => {
    isDone = true;
  });
  const asking = [ask(), ask(), ask()];
  for (let round = 1; round <= 5; round++) {
    await rename(log, `${log}.${round}`);
    await rename(debug, `${debug}.${round}`);
    lazuli.signal("SIGHUP");
    while (!existsSync(log) || !existsSync(debug)) await new Promise(setImmediate);
  }
  isDone = true;
  await Promise.all(asking);
  const last = await client.getProperties();
  const others = (await stop(lazuli)).split("\n").filter((line) => !line.endsWith(RELOADED));
  assert.deepEqual(others, [""]);
  const files = readdirSync(folder).filter((name) => name.startsWith("access.log"));
  assert.equal(files.length, 6);
  const logged = files.flatMap((name) => jsonLines(join(folder, name)));
  const ids = logged.map(({ requestId }) => requestId);
  assert.equal(new Set(ids).size, ids.length, "no line is written twice");
  assert.deepEqual(new Set(ids), new Set([...asked, last.requestId]));
  assert.equal(
    jsonLines(log).at(-1)?.requestId,
    last.requestId,
    "the last line is in the new file",
  );
  const debugText = readdirSync(folder)
    .filter((name) => name.startsWith("debug.log"))
    .map((name) => readFileSync(join(folder, name), "utf8"))
    .join("");
  for (const id of ids) assert.ok(debugText.includes(`${id} 200`), `${id}`);
});

test("SIGHUP does not end a server that writes no log", async (t) => {
  const lazuli = start(t);
  const origin = await originOf(lazuli, "Blob");
  for (let round = 0; round < 3; round++) {
    lazuli.signal("SIGHUP");
    assert.equal((await fetch(`${origin}/healthz`)).status, 200);
  }
  await stop(lazuli);
});

test("a log that cannot be opened again goes on in the old file, and reports it", async (t) => {
  const folder = mkdtempSync(join(scratch, "gone-"));
  const log = join(folder, "access.log");
  const lazuli = start(t, "--log", log);
  const origin = await originOf(lazuli, "Blob");
  await rename(folder, `${folder}-moved`);
  lazuli.signal("SIGHUP");
  await lazuli.printedError(
    /access\.log cannot be opened again \(ENOENT.*\): it goes on as it was\.\n/,
  );
  await fetch(`${origin}/healthz`);
  await stop(lazuli);
  assert.match(readFileSync(join(`${folder}-moved`, "access.log"), "utf8"), /GET \/healthz/);
});

test("the log has lines about SMB: connection, log-ons, share, opens with share mode, refusals", async (t) => {
  for (const format of ["json", "text"]) {
    const log = join(scratch, `smb.${format}`);
    const lazuli = start(t, "--log", log, "--logFormat", format);
    const shares = new ShareServiceClient(
      `${await originOf(lazuli, "File")}/${ACCOUNT}`,
      CREDENTIAL,
    );
    await shares.getShareClient("docs").create();
    const port = Number(new URL(await originOf(lazuli, "SMB")).port);
    const stranger = new SmbClient(await TcpLine.open(port));
    await stranger.negotiate();
    await stranger.logOn({ user: "ma\nllory", domain: "", password: "guess" });
    stranger.line.close();
    const files = await SmbFiles.connect(port, "docs");
    const handle = await files.open("plan.txt", { access: 3, share: 0, disposition: "create" });
    await files.write(handle, 0, "text");
    await files.tryOpen("plan.txt", { access: 1, share: 7 });
    files.close();
    assert.match(await stop(lazuli), /^\S+ SMB: log-on refused: account "ma\\nllory" at [^\n]*\n$/);
    if (format === "json") assertJson(jsonLines(log));
    else assertText(readFileSync(log, "utf8"));
  }
});

function assertJson(lines: readonly Line[]): void {
  const smb = lines.filter(({ service }) => service === "smb");
  const seen = smb.map(({ operation, user, code, path }) => [operation, user, code, path]);
  assert.deepEqual(seen, [
    ["Negotiate", undefined, undefined, undefined],
    ["SessionSetup", "ma\nllory", "STATUS_LOGON_FAILURE", undefined],
    ["Negotiate", undefined, undefined, undefined],
    ["SessionSetup", ACCOUNT, undefined, undefined],
    ["TreeConnect", undefined, undefined, undefined],
    ["Create", undefined, undefined, "plan.txt"],
    ["Create", undefined, "STATUS_SHARING_VIOLATION", "plan.txt"],
  ]);
  const [first, , , , , open] = smb;
  assert.equal(first?.dialect, "3.1.1");
  const how = [open?.access, open?.shareMode, open?.disposition, open?.container, open?.auth];
  assert.deepEqual(how, [["read", "write"], [], "create", "docs", "ntlm"]);
}

function assertText(text: string): void {
  const lines = text.split("\n").filter((line) => line.includes(" smb "));
  assert.equal(lines.length, 7);
  for (const line of lines) assert.match(line, /^\d{4}-\d\d-\d\dT[\d:.]+Z smb 127\.0\.0\.1 "/);
  assert.match(
    lines[1] ?? "",
    / "SessionSetup" 0xc000006d .* STATUS_LOGON_FAILURE user="ma\\nllory"$/,
  );
  assert.match(
    lines[6] ?? "",
    / "Create docs\/plan\.txt" 0xc0000043 .* smb-2-\d+ Create devstoreaccount1 ntlm STATUS_SHARING_VIOLATION access=read share=read,write,delete disposition=open$/,
  );
}

test("no log has a signature, key, token or hash in it, whatever the credentials", async (t) => {
  for (const format of ["text", "json"]) {
    const [log, debug] = [
      join(scratch, `secret.${format}`),
      join(scratch, `secret.${format}.debug`),
    ];
    const [cert, key] = [join(scratch, "cert.pem"), join(scratch, "key.pem")];
    writeFileSync(cert, CERTIFICATE);
    writeFileSync(key, CERTIFICATE_KEY);
    const secure = ["--cert", cert, "--key", key, "--oauth", "basic"];
    const lazuli = start(t, ...secure, "--log", log, "--logFormat", format, "--debug", debug);
    const url = `${await originOf(lazuli, "Blob")}/${ACCOUNT}`;
    const port = Number(new URL(await originOf(lazuli, "SMB")).port);
    const secrets = await useAllCredentials(url, port);
    const texts = [await stop(lazuli), readFileSync(log, "utf8"), readFileSync(debug, "utf8")];
    assert.ok((texts[1] ?? "").split("\n").length > secrets.length);
    for (const secret of secrets) {
      assert.ok(secret.length >= 16, secret);
      for (const text of texts) assert.ok(!text.includes(secret), `${format}: ${secret}`);
    }
  }
});

/** Sends one request with each kind of credentials; returns everything that must stay secret. */
async function useAllCredentials(url: string, smbPort: number): Promise<string[]> {
  const server = { url } as Parameters<typeof askSecurely>[0];
  const secrets: string[] = [KEY, Buffer.from(KEY, "base64").toString("hex")];
  const addToken = ({ authorization }: { authorization: string }) => {
    secrets.push(authorization.slice("Bearer ".length), authorization.split(".")[1] ?? "");
  };
  const addSas = (sas: string) => {
    const signature = /sig=([^&]*)/.exec(sas)?.[1] ?? "";
    secrets.push(signature, decodeURIComponent(signature));
  };
  const ask = (path: string, headers: object = {}, method = "GET") =>
    askSecurely(server, method, path, headers);

  for (const scheme of ["SharedKey", "sharedkeylite", "Basic", "Secret"]) {
    const signature = Buffer.from(`signature of ${scheme}`).toString("base64");
    secrets.push(signature);
    await ask("/c/b", { authorization: `${scheme} ${ACCOUNT}:${signature}` });
    await ask("/c/b", { authorization: `${scheme} ${signature}` });
  }
  const token = bearer();
  addToken(token);
  await ask("/ccc/b", token);
  await ask("/ccc/b", { ...token, "x-ms-version": "2010-01-01" });
  const now = Date.now();
  const key = keyIn((await askForKey(server, now - HOUR_MS, now + HOUR_MS)).text);
  secrets.push(key.value);

  const expiresOn = new Date(now + HOUR_MS);
  const permissions = BlobSASPermissions.parse("r");
  const terms = { containerName: "ccc", blobName: "b", permissions, expiresOn };
  const all = [
    generateBlobSASQueryParameters(terms, CREDENTIAL),
    generateBlobSASQueryParameters(terms, key, ACCOUNT),
    generateAccountSASQueryParameters(
      {
        services: AccountSASServices.parse("b").toString(),
        resourceTypes: AccountSASResourceTypes.parse("o").toString(),
        permissions: AccountSASPermissions.parse("r"),
        expiresOn,
      },
      CREDENTIAL,
    ),
  ].map(String);
  for (const sas of all) {
    addSas(sas);
    await ask(`/ccc/b?${sas}`);
    await ask(`/ccc/b?${sas}&${sas}`);
    for (const name of ["SIG", "%73ig", "S%49g"]) await ask(`/ccc/b?${sas.replace("sig", name)}`);
    await ask(`/ccc/b%3F${sas}`);
    await ask(`/ccc/b%3F${encodeURIComponent(sas)}`);
    const source = `${url}/ccc/b?${sas}`;
    const copy = { "x-ms-copy-source": source, "x-ms-requires-sync": "true", ...token };
    await ask("/ccc/copy", copy, "PUT");
    await ask(
      "/ccc/copy",
      { ...copy, "x-ms-copy-source-authorization": token.authorization },
      "PUT",
    );
    await ask("/ccc/b", {
      "x-ms-rename-source": source,
      referer: source,
      "x-original-url": source,
    });
    await batchWith(server, sas, token);
  }
  const customerKey = Buffer.alloc(32, "customer's key").toString("base64");
  secrets.push(customerKey);
  await ask("/ccc/b", { ...token, "x-ms-encryption-key": customerKey });

  const password = "not the right password";
  secrets.push(password, Buffer.from(password, "utf16le").toString("hex"));
  const stranger = new SmbClient(await TcpLine.open(smbPort));
  await stranger.negotiate();
  await stranger.logOn({ user: ACCOUNT, domain: "", password });
  stranger.line.close();
  return secrets.filter((one) => one !== "");
}

/** Deletes a blob with a SAS inside a batch. */
async function batchWith(
  server: Parameters<typeof askSecurely>[0],
  sas: string,
  token: object,
): Promise<void> {
  const body = [
    "--x",
    "Content-Type: application/http",
    "",
    `DELETE /${ACCOUNT}/ccc/b?${sas} HTTP/1.1`,
    "Content-Length: 0",
    "",
    "--x--",
    "",
  ].join("\r\n");
  const headers = { ...token, "content-type": "multipart/mixed; boundary=x" };
  const { status } = await askSecurely(server, "POST", "/?comp=batch", headers, body);
  assert.equal(status, 202);
}

test("no request can forge a line of the log", async (t) => {
  const log = join(scratch, "forged.log");
  const lazuli = start(t, "--log", log);
  const origin = await originOf(lazuli, "Blob");
  const { port } = new URL(origin);
  const socket = connect(Number(port), "127.0.0.1");
  const evil = 'x"_201_0_0_1.0ms_\u0085\u001b[2J%0A2030-01-01T00:00:00.000Z';
  const request = `GET /${ACCOUNT}/${evil} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`;
  socket.end(Buffer.from(request.replaceAll("\u001b", ""), "latin1"));
  socket.resume();
  await once(socket, "close");
  await stop(lazuli);
  const lines = readFileSync(log, "utf8").trimEnd().split("\n");
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? "", /^[\x20-\x7e]+$/);
  assert.match(
    lines[0] ?? "",
    /^\S+ blob 127\.0\.0\.1 "GET \/devstoreaccount1\/x%22_201_0_0_1\.0ms_%85\[2J%0A2030-[^" ]*" 4\d\d \d+ \d+ [\d.]+ms \S+ \S+ \S+ \S+ \S+$/,
  );
});

test("--logFormat without --log, or of another kind, is refused with one line", async () => {
  for (const args of [
    ["--logFormat", "json"],
    ["--log", "-", "--logFormat", "xml"],
  ]) {
    const { code, out, err } = await new LazuliProcess(args).ended();
    assert.deepEqual([code, out], [2, ""]);
    assert.match(err, /^.*--logFormat .*\n/);
  }
});
