import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { StartOptions } from "lazuli";
import { CERTIFICATE, CERTIFICATE_KEY } from "../sdk/certificate.ts";
import { heldAt, newContainer, put, served, textOf } from "./served.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-lab-"));
test.after(() => rmSync(scratch, { recursive: true }));

const KINDS: Record<string, StartOptions> = {
  "in a data folder": { location: join(scratch, "own") },
  "with Node's listener": { listener: "node" },
};

for (const [kind, options] of Object.entries(KINDS)) {
  test(`clocks, barriers, third parties and lost answers work ${kind}`, async (t) => {
    const here = await served(t, options);
    const container = await newContainer(here);
    const { etag } = await put(container, "doc", "one");
    const blob = container.getBlockBlobClient("doc");
    await here.lab.freeze();
    await blob.getBlobLeaseClient().acquireLease(15);
    await assert.rejects(put(container, "doc", "two"), { code: "LeaseIdMissing" });
    await here.lab.move("15s");

    const barrier = await here.lab.rule({ operation: "PutBlob", hold: true, at: "commit" });
    const held = put(container, "doc", "held", etag);
    await heldAt(barrier, held);
    const { etag: newer } = await put(container, "doc", "two", etag);
    await barrier.release();
    await assert.rejects(held, { statusCode: 412 });

    const headers = { "x-ms-blob-type": "BlockBlob" };
    const run = { method: "PUT", path: "/box/doc", headers, body: "theirs" };
    await here.lab.rule({ operation: "PutBlob", run });
    await assert.rejects(put(container, "doc", "mine", newer), { statusCode: 412 });
    assert.equal(await textOf(container, "doc"), "theirs");

    await here.lab.rule({ operation: "PutBlob", drop: true, at: "answer" });
    await assert.rejects(put(container, "doc", "done"), /ECONNRESET|socket hang up|aborted|closed/);
    assert.equal(await textOf(container, "doc"), "done");

    const long = "1".repeat(300_000);
    await put(container, "long", long);
    await here.lab.rule({ operation: "GetBlob", truncate: 100 });
    await assert.rejects(container.getBlobClient("long").downloadToBuffer());
    await here.lab.rule({ operation: "GetBlob", slow: 3_000_000 });
    assert.equal(await textOf(container, "long"), long);
  });
}

test("a third party can write over HTTPS", async (t) => {
  const [cert, key] = [join(scratch, "cert.pem"), join(scratch, "key.pem")];
  writeFileSync(cert, CERTIFICATE);
  writeFileSync(key, CERTIFICATE_KEY);
  const here = await served(t, { cert, key });
  const answer = await fetch(`${here.server.labUrl}/scenes/batch-race`, { method: "POST" });
  const { verdicts } = (await answer.json()) as { verdicts: { verdict: string }[] };
  assert.deepEqual(
    verdicts.map(({ verdict }) => verdict),
    ["explained", "explained", "explained"],
  );
});
