import assert from "node:assert/strict";
import { test } from "node:test";
import { heldAt, newContainer, put, served, textOf } from "./served.ts";

test("a write held before its commit has changed nothing, and is judged when it commits", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  const { etag } = await put(container, "doc", "one");
  const barrier = await here.lab.rule({ operation: "PutBlob", hold: true, at: "commit" });
  const held = put(container, "doc", "held", etag);
  const [waiting] = await heldAt(barrier, held);
  assert.equal(waiting?.operation, "PutBlob");
  assert.equal(waiting?.object, "doc");
  assert.equal(waiting?.at, "commit");
  assert.equal(await textOf(container, "doc"), "one");
  await put(container, "doc", "two", etag);
  assert.equal(await barrier.release(), 1);
  await assert.rejects(held, { statusCode: 412, code: "ConditionNotMet" });
  assert.equal(await textOf(container, "doc"), "two");
});

test("a held write that nobody came before commits", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  const { etag } = await put(container, "doc", "one");
  const barrier = await here.lab.rule({ operation: "PutBlob", hold: true });
  const held = put(container, "doc", "held", etag);
  await heldAt(barrier, held);
  await barrier.release();
  await held;
  assert.equal(await textOf(container, "doc"), "held");
});

test("a read that is held after it has read answers with what it read", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  const large = "1".repeat(100_000);
  await put(container, "doc", large);
  const barrier = await here.lab.rule({ operation: "GetBlob", hold: true, at: "read" });
  const held = textOf(container, "doc");
  await heldAt(barrier, held);
  await put(container, "doc", "2".repeat(100_000));
  await barrier.release();
  assert.equal(await held, large);
});

test("several requests meet at a barrier, and one of them wins", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  const { etag } = await put(container, "doc", "start");
  const barrier = await here.lab.rule({
    operation: "PutBlob",
    hold: true,
    at: "arrival",
    times: 3,
  });
  const all = ["a", "b", "c"].map((text) => put(container, "doc", text, etag));
  const settled = Promise.allSettled(all);
  assert.equal((await heldAt(barrier, ...all)).length, 3);
  assert.equal(await barrier.release(), 3);
  const outcomes = (await settled).map(({ status }) => status).sort();
  assert.deepEqual(outcomes, ["fulfilled", "rejected", "rejected"]);
});

test("the update of a third party slips in between a client's read and its write", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  const { etag } = await put(container, "doc", "one");
  const rule = await here.lab.rule({
    operation: "PutBlob",
    object: "doc",
    run: {
      method: "PUT",
      path: "/box/doc",
      headers: { "x-ms-blob-type": "BlockBlob" },
      body: "of a third party",
    },
  });
  await assert.rejects(put(container, "doc", "mine", etag), { statusCode: 412 });
  assert.equal(await textOf(container, "doc"), "of a third party");
  assert.deepEqual((await rule.state()).notes, ["PUT /box/doc was answered 201"]);
});

test("a request that nobody releases goes on by itself, and the rule tells", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  const barrier = await here.lab.rule({ operation: "PutBlob", hold: true, timeout: "1ms" });
  await put(container, "doc", "text");
  assert.match((await barrier.state()).notes[0] ?? "", /went on: nobody released it in time/);
  await assert.rejects(barrier.reached(1, "1ms"), /0 requests wait, and not the 1 at rule 1/);
});

test("removing a rule, and stopping the server, lets go whom it holds", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  const barrier = await here.lab.rule({ operation: "PutBlob", hold: true, at: "answer" });
  const held = put(container, "doc", "text");
  await heldAt(barrier, held);
  await barrier.remove();
  assert.deepEqual((await here.lab.waiting()).length, 0);
  await held;
  const last = await here.lab.rule({ operation: "PutBlob", hold: true, timeout: "1h" });
  const answered = put(container, "doc", "text");
  await heldAt(last, answered);
  await here.server.stop();
  await answered;
});

test("an answer at the commit, or after a read, frees what the request had pinned", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  await put(container, "doc", "1".repeat(100_000));
  await here.lab.rule({ operation: "GetBlob", answer: 503, at: "read" });
  await assert.rejects(textOf(container, "doc"), { statusCode: 503 });
  await here.lab.rule({ operation: "PutBlob", answer: 409, at: "commit" });
  await assert.rejects(put(container, "doc", "2".repeat(100_000)), { statusCode: 409 });
  assert.equal(await textOf(container, "doc"), "1".repeat(100_000));
});

test("a rule acts on a request inside of a batch", async (t) => {
  const here = await served(t);
  const container = await newContainer(here);
  for (const name of ["a", "b"]) await put(container, name, "text");
  await here.lab.rule({ operation: "DeleteBlob", object: "b", answer: 412 });
  const batch = here.blobs.getBlobBatchClient();
  const done = await batch.deleteBlobs(["a", "b"].map((name) => container.getBlobClient(name)));
  assert.deepEqual(
    done.subResponses.map(({ status }) => status),
    [202, 412],
  );
});
