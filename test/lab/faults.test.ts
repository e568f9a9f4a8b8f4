import assert from "node:assert/strict";
import { test } from "node:test";
import { TableClient } from "@azure/data-tables";
import { BlobServiceClient } from "@azure/storage-blob";
import { newContainer, ONE_TRY, put, served, textOf } from "./served.ts";

test("the next matching requests get the status, and nothing happens", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  const codes = {
    409: "LeaseAlreadyPresent",
    412: "ConditionNotMet",
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServerBusy",
  };
  for (const [status, code] of Object.entries(codes)) {
    const rule = await here.lab.rule({
      operation: "PutBlob",
      object: "doc*",
      answer: Number(status),
      times: 2,
    } as never);
    for (const name of ["doc-1", "doc-2"]) {
      await assert.rejects(put(container, name, "text"), { statusCode: Number(status), code });
    }
    await put(container, "other", "text");
    const { matched, acted } = await rule.state();
    assert.deepEqual({ matched, acted }, { matched: 2, acted: 2 });
    assert.equal(await container.getBlobClient("doc-1").exists(), false);
  }
  await put(container, "doc-1", "text");
});

test("an error code can be named, and Retry-After", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  await here.lab.rule({ method: "PUT", answer: "LeaseIdMissing" });
  await assert.rejects(put(container, "doc", "text"), { statusCode: 412, code: "LeaseIdMissing" });
  await here.lab.rule({ answer: 503, retryAfter: 7 });
  await assert.rejects(
    put(container, "doc", "text"),
    (error: { response?: { headers: { get(name: string): string | undefined } } }) => {
      const { headers } = error.response ?? { headers: new Map() };
      return headers.get("retry-after") === "7" && headers.get("x-lazuli-lab") === "rule 2";
    },
  );
});

test("an SDK client tries again after 503, and the request is done once", async (t) => {
  const here = await served(t);
  await newContainer(here);
  const patient = BlobServiceClient.fromConnectionString(here.server.connectionString, {
    retryOptions: { maxTries: 4, retryDelayInMs: 1 },
  });
  const rule = await here.lab.rule({ operation: "PutBlob", answer: 503, times: 2, retryAfter: 0 });
  await put(patient.getContainerClient("box"), "doc", "text");
  assert.equal((await rule.state()).acted, 2);
});

test("tables get their own codes and format", async (t) => {
  const { server, lab } = await served(t);
  const options = { allowInsecureConnection: true, ...ONE_TRY };
  const table = TableClient.fromConnectionString(server.connectionString, "things", options);
  await table.createTable();
  await table.createEntity({ partitionKey: "p", rowKey: "r" });
  await lab.rule({ service: "table", container: "things", answer: 412 });
  await assert.rejects(
    table.updateEntity({ partitionKey: "p", rowKey: "r" }, "Merge"),
    /UpdateConditionNotSatisfied/,
  );
});

test("a request dropped before the commit did nothing, one dropped after it did everything", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  await put(container, "doc", "before");
  await here.lab.rule({ operation: "PutBlob", drop: true });
  await assert.rejects(put(container, "doc", "lost"), /ECONNRESET|socket hang up|aborted|closed/);
  assert.equal(await textOf(container, "doc"), "before");
  await here.lab.rule({ operation: "PutBlob", drop: true, at: "answer" });
  await assert.rejects(put(container, "doc", "done"), /ECONNRESET|socket hang up|aborted|closed/);
  assert.equal(await textOf(container, "doc"), "done");
  await here.lab.rule({ operation: "PutBlob", answer: 500, at: "answer" });
  await assert.rejects(put(container, "doc", "done too"), { statusCode: 500 });
  assert.equal(await textOf(container, "doc"), "done too");
});

test("a body is cut short at the byte, or comes slowly and whole", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  const long = Buffer.alloc(200_000, "lazuli");
  const blob = container.getBlockBlobClient("long");
  await blob.uploadData(long);
  const { url } = await sasOf(blob);
  await here.lab.rule({ operation: "GetBlob", truncate: 70_001 });
  const cut = await fetch(url);
  assert.equal(cut.headers.get("content-length"), "200000");
  const received: Buffer[] = [];
  await assert.rejects(async () => {
    for await (const part of cut.body as unknown as AsyncIterable<Uint8Array>)
      received.push(Buffer.from(part));
  });
  assert.deepEqual(Buffer.concat(received), long.subarray(0, 70_001));
  await here.lab.rule({ operation: "GetBlob", slow: 2_000_000 });
  assert.deepEqual(Buffer.from(await (await fetch(url)).arrayBuffer()), long);
  await here.lab.rule({ operation: "GetBlob", delay: "1ms" });
  assert.deepEqual(Buffer.from(await (await fetch(url)).arrayBuffer()), long);
});

test("requests are matched by account, container, client request id and headers", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  await put(container, "doc", "text");
  const blob = container.getBlobClient("doc");
  await here.lab.rule({ clientRequestId: "mine-*", answer: 500, times: "always" });
  const { url } = await sasOf(blob);
  const statusOf = async (id: string) =>
    (await fetch(url, { headers: { "x-ms-client-request-id": id } })).status;
  assert.deepEqual([await statusOf("yours-1"), await statusOf("mine-1")], [200, 500]);
  await here.lab.clearRules();
  await here.lab.rule({ headers: { "x-ms-lease-id": "*" }, container: "bo*", answer: 500 });
  await blob.getProperties();
  await assert.rejects(blob.getProperties({ conditions: { leaseId: "0-0" } }), { statusCode: 500 });
  await here.lab.rule({ container: "other", answer: 500 });
  await here.lab.rule({
    account: "devstoreaccount1",
    operation: "getblobproperties",
    skip: 1,
    answer: 412,
  });
  await blob.getProperties();
  await assert.rejects(blob.getProperties(), { statusCode: 412 });
});

test("a chance falls the same way again with the same seed", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  await put(container, "doc", "text");
  const draw = async (seed: number) => {
    await here.lab.seed(seed);
    await here.lab.rule({
      operation: "GetBlobProperties",
      chance: 0.5,
      answer: 500,
      times: "always",
    });
    let drawn = "";
    for (let at = 0; at < 32; at++) {
      drawn += await container
        .getBlobClient("doc")
        .getProperties()
        .then(
          () => ".",
          () => "x",
        );
    }
    return drawn;
  };
  const first = await draw(1);
  assert.match(first, /x/);
  assert.match(first, /\./);
  assert.equal(await draw(1), first);
  assert.notEqual(await draw(2), first);
});

test("a wrong rule is refused with what is allowed", async (t) => {
  const { lab } = await served(t);
  const refusals: [object, RegExp][] = [
    [{ operation: "PutBlob" }, /one effect: answer, drop, delay, truncate, slow, hold, run/],
    [{ answer: 503, drop: true }, /This one has answer and drop/],
    [{ answer: 418 }, /one of 409, 412, 429, 500, 503, or an error code/],
    [{ operation: "PutBlobb", answer: 503 }, /no operation "PutBlobb". There are /],
    [{ service: "queue", operation: "PutBlob", answer: 503 }, /no operation "PutBlob" of queue/],
    [{ service: "disk", answer: 503 }, /service must be one of blob, .*, smb; not "disk"/],
    [{ anwser: 503 }, /no field "anwser"/],
    [{ truncate: 1, at: "read" }, /at must be one of answer/],
    [{ drop: true, retryAfter: 1 }, /retryAfter belongs to answer/],
    [{ answer: 503, times: 0 }, /times must be a whole number/],
    [{ answer: 503, chance: 2 }, /chance must be a number above 0, up to 1/],
    [{ delay: "2d" }, /an hour or shorter/],
    [{ account: "nobody", drop: true }, /no account "nobody"/],
    [{ run: { method: "PUT" } }, /run.path must be a text/],
    [{ drop: false }, /drop must be true/],
  ];
  for (const [rule, message] of refusals) await assert.rejects(lab.rule(rule), message);
  assert.deepEqual(await lab.rules(), []);
});

async function sasOf(blob: { generateSasUrl(options: object): Promise<string> }) {
  const { BlobSASPermissions } = await import("@azure/storage-blob");
  const expiresOn = new Date(Date.now() + 3_600_000);
  return {
    url: await blob.generateSasUrl({ permissions: BlobSASPermissions.parse("r"), expiresOn }),
  };
}
