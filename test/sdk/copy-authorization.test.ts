import assert from "node:assert/strict";
import { request } from "node:https";
import { after, before, test } from "node:test";
import { CERTIFICATE, CERTIFICATE_KEY } from "./certificate.ts";
import { OTHER_ACCOUNT, startServer, type TestServer } from "./server.ts";

let server: TestServer;

before(async () => {
  server = await startServer({
    tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY },
    oauth: { mode: "basic" },
  });
  const headers = { "x-ms-blob-type": "BlockBlob", ...AUTHORIZED };
  for (const account of [server.account, OTHER_ACCOUNT]) {
    await ask("PUT", account, "/box?restype=container", AUTHORIZED);
    await ask("PUT", account, "/box/source", headers, `of ${account}`);
  }
});

after(() => server.close());

const TENANT = "11111111-2222-4333-8444-555555555555";

function bearer(claims: object = {}): string {
  const seconds = Math.floor(Date.now() / 1_000);
  const all = {
    iss: `https://sts.windows.net/${TENANT}/`,
    aud: "https://storage.azure.com",
    nbf: seconds,
    exp: seconds + 3_600,
    oid: TENANT,
    tid: TENANT,
    ...claims,
  };
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  return `Bearer ${part({ alg: "RS256", typ: "JWT" })}.${part(all)}.c2ln`;
}

const AUTHORIZED = { authorization: bearer() };

interface Answer {
  readonly status: number;
  readonly code: string;
  readonly sourceCode: string;
  readonly text: string;
}

function ask(
  method: string,
  account: string,
  path: string,
  headers: Record<string, string>,
  body = "",
): Promise<Answer> {
  const url = `${new URL(server.url).origin}/${account}${path}`;
  const options = {
    method,
    ca: CERTIFICATE,
    headers: { "x-ms-version": "2026-04-06", "content-length": body.length, ...headers },
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part) => {
        text += part;
      });
      answer.on("end", () => {
        const code = String(answer.headers["x-ms-error-code"] ?? "");
        const sourceCode = String(answer.headers["x-ms-copy-source-error-code"] ?? "");
        resolve({ status: answer.statusCode ?? 0, code, sourceCode, text });
      });
    });
    sent.on("error", reject).end(body);
  });
}

function copy(more: Record<string, string>, account = OTHER_ACCOUNT): Promise<Answer> {
  const source = `${new URL(server.url).origin}/${account}/box/source`;
  return ask("PUT", server.account, "/box/copy", {
    ...AUTHORIZED,
    "x-ms-copy-source": source,
    "x-ms-requires-sync": "true",
    ...more,
  });
}

test("a token for the target grants sources of the same account, and no others", async () => {
  assert.equal((await copy({}, server.account)).status, 202);
  const other = await copy({});
  assert.deepEqual([other.status, other.code], [401, "CannotVerifyCopySource"]);
});

test("a token for the source grants it", async () => {
  const done = await copy({ "x-ms-copy-source-authorization": bearer() });
  assert.equal(done.status, 202);
  const { text } = await ask("GET", server.account, "/box/copy", AUTHORIZED);
  assert.equal(text, `of ${OTHER_ACCOUNT}`);
});

test("a token grants a source with its cloud host name, and a wrong one does not", async () => {
  const source = {
    "x-ms-copy-source": `https://${OTHER_ACCOUNT}.blob.core.windows.net/box/source`,
  };
  const done = await copy({ ...source, "x-ms-copy-source-authorization": bearer() });
  assert.equal(done.status, 202);
  const expired = await copy({
    ...source,
    "x-ms-copy-source-authorization": bearer({ exp: 1 }),
  });
  assert.deepEqual([expired.status, expired.sourceCode], [401, "InvalidAuthenticationInfo"]);
});

test("a refused token is reported as the source's refusal, and anything else is not a token", async () => {
  const expired = bearer({ exp: 1 });
  for (const account of [OTHER_ACCOUNT, server.account]) {
    const refused = await copy({ "x-ms-copy-source-authorization": expired }, account);
    assert.deepEqual([refused.status, refused.code], [401, "CannotVerifyCopySource"]);
    assert.equal(refused.sourceCode, "InvalidAuthenticationInfo");
    assert.match(refused.text, /<Message>Server failed to authenticate the request\. Please refer/);
  }
  const key = await copy({ "x-ms-copy-source-authorization": "SharedKey a:b" });
  assert.deepEqual([key.status, key.code], [400, "InvalidHeaderValue"]);
  assert.ok(!key.text.includes("SharedKey a:b"));
});
