import assert from "node:assert/strict";
import { test } from "node:test";
import { startQueueServer } from "./queue-server.ts";
import { type RawAsked, rawRequest } from "./raw-request.ts";
import { forThisFile } from "./server.ts";

const server = await forThisFile(startQueueServer());
const queue = server.client().getQueueClient("queue");
await queue.create({ metadata: { kept: "yes" } });
const { messageId, popReceipt } = await queue.sendMessage("kept", { messageTimeToLive: 100 });
/** The only message in the queue. */
const message = `/queue/messages/${messageId}?popreceipt=${encodeURIComponent(popReceipt)}`;

/** Asserts that a request is refused and changes nothing. */
async function refuses(status: number, code: string, asked: RawAsked): Promise<string> {
  const answer = await rawRequest(server, asked);
  const what = `${asked.method ?? "GET"} ${asked.path} ${asked.body?.slice(0, 100) ?? ""}`;
  assert.deepEqual([answer.status, answer.code], [status, code], what);
  const { metadata, approximateMessagesCount } = await queue.getProperties();
  assert.deepEqual([metadata, approximateMessagesCount], [{ kept: "yes" }, 1], what);
  const [left] = (await queue.peekMessages()).peekedMessageItems;
  assert.deepEqual([left?.messageText, left?.dequeueCount], ["kept", 0], what);
  return answer.text;
}

const TEXT = "<QueueMessage><MessageText>x</MessageText></QueueMessage>";

const OUT_OF_RANGE = "OutOfRangeQueryParameterValue";
const INVALID = "InvalidQueryParameterValue";

test("deleting a message without an id does not clear the queue", async () => {
  const path = `/queue/messages/?popreceipt=${encodeURIComponent(popReceipt)}`;
  await refuses(400, INVALID, { method: "DELETE", path });
  await refuses(400, INVALID, { method: "DELETE", path: path.replace("/?", "?") });
  await assert.rejects(queue.deleteMessage("", popReceipt), { statusCode: 400 });
  assert.equal((await queue.getProperties()).approximateMessagesCount, 1);
});

test("numbers out of range are refused with the range", async () => {
  for (const [query, min, max] of [
    ["numofmessages=0", 1, 32],
    ["numofmessages=33", 1, 32],
    ["numofmessages=-1", 1, 32],
    ["peekonly=true&numofmessages=33", 1, 32],
    ["visibilitytimeout=0", 1, 604_800],
    ["visibilitytimeout=604801", 1, 604_800],
    ["visibilitytimeout=-5", 1, 604_800],
  ] as const) {
    const text = await refuses(400, OUT_OF_RANGE, { path: `/queue/messages?${query}` });
    const name = query.split("&").at(-1)?.split("=") ?? [];
    const detail =
      `<QueryParameterName>${name[0]}</QueryParameterName>` +
      `<QueryParameterValue>${name[1]}</QueryParameterValue>` +
      `<MinimumAllowed>${min}</MinimumAllowed><MaximumAllowed>${max}</MaximumAllowed>`;
    assert.ok(text.includes(detail), text);
  }
});

test("a put with invalid times is refused", async () => {
  for (const [query, code] of [
    ["visibilitytimeout=-1", OUT_OF_RANGE],
    ["visibilitytimeout=604801", OUT_OF_RANGE],
    ["visibilitytimeout=10&messagettl=10", INVALID],
    ["visibilitytimeout=10&messagettl=5", INVALID],
    ["visibilitytimeout=604800", INVALID],
    ["messagettl=0", INVALID],
    ["messagettl=-2", INVALID],
    ["messagettl=253402300800", OUT_OF_RANGE],
    ["messagettl=999999999999999", OUT_OF_RANGE],
    ["messagettl=soon", INVALID],
    ["messagettl=1.5", INVALID],
    ["visibilitytimeout=1e3", INVALID],
    ["visibilitytimeout=99999999999999999999", INVALID],
    ["timeout=-1", INVALID],
    ["timeout=x", INVALID],
  ] as const) {
    await refuses(400, code, { method: "POST", path: `/queue/messages?${query}`, body: TEXT });
  }
});

test("malformed numbers are refused", async () => {
  for (const query of ["numofmessages=x", "numofmessages=1.0", "visibilitytimeout=ten"]) {
    await refuses(400, INVALID, { path: `/queue/messages?${query}` });
  }
  await refuses(400, INVALID, { path: "/?comp=list&maxresults=all" });
  await refuses(400, OUT_OF_RANGE, { path: "/?comp=list&maxresults=0" });
});

test("a malformed message is refused", async () => {
  for (const [body, code] of [
    ["", "InvalidXmlDocument"],
    ["text", "InvalidXmlDocument"],
    ["<QueueMessage>", "InvalidXmlDocument"],
    ["<Message><MessageText>x</MessageText></Message>", "InvalidXmlDocument"],
    ["<QueueMessage><Text>x</Text></QueueMessage>", "UnsupportedXmlNode"],
    ["<QueueMessage><MessageText><b>x</b></MessageText></QueueMessage>", "UnsupportedXmlNode"],
    ["<QueueMessage><MessageText>&#0;</MessageText></QueueMessage>", "InvalidXmlDocument"],
    ["<QueueMessage><MessageText>&#xFFFF;</MessageText></QueueMessage>", "InvalidXmlDocument"],
    ["<QueueMessage><MessageText>\u0001</MessageText></QueueMessage>", "InvalidXmlDocument"],
    ["<QueueMessage><MessageText>&nope;</MessageText></QueueMessage>", "InvalidXmlDocument"],
    [`<!DOCTYPE a [<!ENTITY b "c">]>${TEXT}`, "InvalidXmlDocument"],
  ] as const) {
    await refuses(400, code, { method: "POST", path: "/queue/messages", body });
    if (body === "") continue;
    await refuses(400, code, { method: "PUT", path: `${message}&visibilitytimeout=0`, body });
  }
  for (const length of [65_537, 600_000]) {
    const body = `<QueueMessage><MessageText>${"x".repeat(length)}</MessageText></QueueMessage>`;
    for (const [method, path] of [
      ["POST", "/queue/messages"],
      ["PUT", `${message}&visibilitytimeout=0`],
    ] as const) {
      await refuses(413, "RequestBodyTooLarge", { method, path, body });
    }
  }
  await refuses(400, "Md5Mismatch", {
    method: "POST",
    path: "/queue/messages",
    body: TEXT,
    headers: { "content-md5": "1B2M2Y8AsgTpgAmY7PhCfg==" },
  });
});

test("update and delete require their parameters", async () => {
  const bare = message.split("?")[0] as string;
  const missing = "MissingRequiredQueryParameter";
  await refuses(400, missing, { method: "DELETE", path: bare });
  await refuses(400, missing, { method: "DELETE", path: `${bare}?popreceipt=` });
  await refuses(400, missing, { method: "PUT", path: `${bare}?visibilitytimeout=0`, body: TEXT });
  await refuses(400, missing, { method: "PUT", path: message, body: TEXT });
  for (const [seconds, code] of [
    ["-1", OUT_OF_RANGE],
    ["604801", OUT_OF_RANGE],
    ["x", INVALID],
    ["101", INVALID],
  ] as const) {
    await refuses(400, code, { method: "PUT", path: `${message}&visibilitytimeout=${seconds}` });
  }
});

test("malformed receipts and ids are refused", async () => {
  const bare = message.split("?")[0] as string;
  for (const receipt of ["no base64!", "abc", "%FF"]) {
    await refuses(400, INVALID, { method: "DELETE", path: `${bare}?popreceipt=${receipt}` });
  }
  for (const receipt of [
    "aGVsbG8=",
    Buffer.alloc(16).toString("base64"),
    Buffer.alloc(16, 255).toString("base64"),
  ]) {
    const path = `${bare}?popreceipt=${encodeURIComponent(receipt)}`;
    await refuses(400, "PopReceiptMismatch", { method: "DELETE", path });
  }
  const receipt = message.split("?")[1] as string;
  for (const id of ["00000000-0000-4000-8000-000000000000", "x", "a".repeat(4_000), "%00"]) {
    const path = `/queue/messages/${id}?${receipt}`;
    await refuses(404, "MessageNotFound", { method: "DELETE", path });
  }
});

test("invalid queue names are refused on creation", async () => {
  for (const [name, code] of [
    ["ab", "OutOfRangeInput"],
    ["a".repeat(64), "OutOfRangeInput"],
    ["a".repeat(5_000), "OutOfRangeInput"],
    ["Upper", "InvalidResourceName"],
    ["two--dashes", "InvalidResourceName"],
    ["-dash", "InvalidResourceName"],
    ["dash-", "InvalidResourceName"],
    ["under_score", "InvalidResourceName"],
    ["%C3%BCmlaut", "InvalidResourceName"],
  ] as const) {
    await refuses(400, code, { method: "PUT", path: `/${name}` });
    await refuses(400, code, { path: `/${name}/messages` });
  }
});

test("invalid metadata is refused", async () => {
  for (const [headers, code] of [
    [{ "x-ms-meta-": "x" }, "EmptyMetadataKey"],
    [{ "x-ms-meta-1a": "x" }, "InvalidMetadata"],
    [{ "x-ms-meta-a-b": "x" }, "InvalidMetadata"],
    [{ "x-ms-meta-a": "x".repeat(9_000) }, "MetadataTooLarge"],
  ] as const) {
    await refuses(400, code, { method: "PUT", path: "/queue?comp=metadata", headers });
    await refuses(400, code, { method: "PUT", path: "/other", headers });
  }
});

test("an invalid ACL is refused", async () => {
  const one = (inner: string) =>
    `<SignedIdentifiers><SignedIdentifier>${inner}</SignedIdentifier></SignedIdentifiers>`;
  const letters = (text: string) =>
    one(`<Id>x</Id><AccessPolicy><Permission>${text}</Permission></AccessPolicy>`);
  const six = "<SignedIdentifier><Id>x</Id></SignedIdentifier>".repeat(6);
  for (const [body, code] of [
    ["<Other />", "InvalidXmlDocument"],
    [`<SignedIdentifiers>${six}</SignedIdentifiers>`, "InvalidXmlDocument"],
    [one(""), "MissingRequiredXmlNode"],
    [one(`<Id>${"x".repeat(65)}</Id>`), "InvalidXmlNodeValue"],
    [letters("rw"), "InvalidXmlNodeValue"],
    [letters("d"), "InvalidXmlNodeValue"],
  ] as const) {
    await refuses(400, code, { method: "PUT", path: "/queue?comp=acl", body });
  }
  assert.deepEqual((await queue.getAccessPolicy()).signedIdentifiers, []);
});

test("missing queues and messages have their own errors", async () => {
  await refuses(405, "UnsupportedHttpVerb", { path: "/queue" });
  await refuses(405, "UnsupportedHttpVerb", { method: "POST", path: "/queue", body: TEXT });
  await refuses(405, "UnsupportedHttpVerb", { method: "POST", path: "/queue?comp=metadata" });
  await refuses(405, "UnsupportedHttpVerb", { method: "PUT", path: "/queue/messages" });
  await refuses(405, "UnsupportedHttpVerb", { path: message });
  await refuses(400, INVALID, { path: "/queue?comp=nothing" });
  await refuses(400, INVALID, { path: "/?comp=nothing" });
  await refuses(400, "InvalidUri", { path: "/queue/others" });
  await refuses(400, "InvalidUri", { path: "/queue/messages/a/b" });
  await refuses(400, "InvalidUri", { path: "/%FF" });
  await refuses(400, "InvalidMarker", { path: "/?comp=list&marker=!" });
  await refuses(400, INVALID, { path: "/?comp=list&include=everything" });
  await refuses(400, "InvalidHeaderValue", { path: "/queue?comp=metadata", version: "new" });
});
