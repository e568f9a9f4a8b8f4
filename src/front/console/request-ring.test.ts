import assert from "node:assert/strict";
import { test } from "node:test";
import { NO_DETAILS, type RestDetails, type RestOutcome, type SmbOutcome } from "../outcome.ts";
import { RequestRing } from "./request-ring.ts";

const COMMON = {
  atMs: 1_700_000_000_000,
  tookMs: 1,
  account: "account",
  container: "box",
  code: null,
  requestBytes: 0,
  responseBytes: 0,
  requestId: "id",
  remoteAddress: "127.0.0.1",
};

function rest(
  operation: string,
  target: string,
  more: Partial<RestOutcome> = {},
  details: Partial<RestDetails> = {},
): RestOutcome {
  return {
    ...COMMON,
    service: "blob",
    operation,
    auth: "sharedKey",
    status: 201,
    method: "PUT",
    target,
    clientRequestId: null,
    batchId: null,
    aborted: false,
    details: () => ({ ...NO_DETAILS, ...details }),
    ...more,
  };
}

function smb(operation: string, path: string): SmbOutcome {
  const none = { user: null, dialect: null, open: null, dropped: false };
  const asked = { service: "smb", operation, auth: "ntlm", status: 0, path } as const;
  return { ...COMMON, ...asked, ...none };
}

const LOST = { status: 412, code: "ConditionNotMet" };

test("a write that lost is explained by the last write to the same blob", () => {
  const ring = new RequestRing();
  ring.take(rest("PutBlob", "/account/box/a%20b", {}, { etag: '"1"' }));
  ring.take(rest("PutBlob", "/account/box/other"));
  ring.take(rest("GetBlob", "/account/box/a%20b", { method: "GET", status: 200 }));
  ring.take(rest("LeaseBlob", "/account/box/a b?comp=lease"));
  ring.take(rest("PutBlob", "/account/box/a b", LOST, { conditions: ['If-Match: "0"'] }));
  const explained = ring.explain(5);
  assert.equal(explained?.winner?.number, 1);
  assert.equal(explained?.winner?.etag, '"1"');
  assert.equal(explained?.request.foundEtag, '"1"');
  assert.deepEqual(
    explained?.before.map(({ number }) => number),
    [4, 3, 1],
  );
  assert.deepEqual(explained?.request.conditions, ['If-Match: "0"']);
});

test("a refusal by a lease is explained by the request that acquired it", () => {
  const ring = new RequestRing();
  ring.take(rest("LeaseBlob", "/account/box/a?comp=lease"));
  ring.take(rest("PutBlob", "/account/box/a"));
  ring.take(rest("PutBlob", "/account/box/a", { status: 412, code: "LeaseIdMissing" }));
  assert.equal(ring.explain(3)?.winner?.operation, "LeaseBlob");
});

test("a sharing violation over REST is explained by the open over SMB", () => {
  const ring = new RequestRing();
  ring.take(smb("Create", "Docs\\Plan.txt"));
  const refused = { service: "file", status: 409, code: "SharingViolation" } as const;
  ring.take(rest("DeleteFile", "/account/box/docs/plan.txt", refused));
  assert.equal(ring.explain(2)?.winner?.operation, "Create");
});

test("a failed write explains nothing, and neither does a later one", () => {
  const ring = new RequestRing();
  ring.take(rest("PutBlob", "/account/box/a", LOST));
  ring.take(rest("PutBlob", "/account/box/a", LOST));
  ring.take(rest("PutBlob", "/account/box/a"));
  assert.equal(ring.explain(2)?.winner, null);
});

test("the ring remembers a bounded number of requests, and knows their numbers", () => {
  const ring = new RequestRing();
  for (let at = 0; at < 25_000; at++) ring.take(rest("PutBlob", `/account/box/${at}`));
  assert.equal(ring.last, 25_000);
  assert.equal(ring.explain(1), null);
  assert.equal(ring.explain(25_000)?.request.object, "blob:account/box/24999");
  assert.ok(ring.after(0, 1_000_000).length < 10_000);
  assert.deepEqual(
    ring.after(24_998, 10).map(({ number }) => number),
    [24_999, 25_000],
  );
});

test("the client of a lease is remembered longer than its request", () => {
  const ring = new RequestRing();
  const lease = "/account/box/a?comp=lease";
  ring.take(rest("LeaseBlob", lease, {}, { agent: "sdk/1" }));
  ring.take(rest("LeaseBlob", lease, { status: 409, remoteAddress: "192.0.2.7" }));
  for (let at = 0; at < 25_000; at++) ring.take(rest("PutBlob", `/account/box/${at}`));
  assert.equal(ring.explain(1), null);
  assert.equal(ring.leaserOf("blob:account/box/a")?.agent, "sdk/1");
  assert.equal(ring.leaserOf("blob:account/box/a")?.address, "127.0.0.1");
  for (let at = 0; at < 5_000; at++) ring.take(rest("LeaseBlob", `/account/box/${at}?comp=lease`));
  assert.equal(ring.leaserOf("blob:account/box/a"), null);
  ring.clear();
  assert.equal(ring.leaserOf("blob:account/box/4999"), null);
});
