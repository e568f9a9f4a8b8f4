import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { borrowWhole, copyAndRelease } from "../../base/borrowed-buffer.ts";
import { KIB, MIB } from "../../base/limits.ts";
import { alignedMemory } from "../../machine/aligned-bytes.ts";
import { machineFor } from "../../machine/machine.fixture.ts";
import { someBytes } from "../../store/bodies.fixture.ts";
import { EmbeddedExtents } from "./extents.ts";

/** Each would get a batch of one MiB if it were alone. */
const UPLOADS = 200;
const BODY_BYTES = 17 * MIB;
/** The limit of all batches together, plus the step in which memory grows. */
const MEMORY_BYTES_MAX = (64 + 16) * MIB + UPLOADS * 64 * KIB;

test("slow uploads take little memory each, and arrive whole in the end", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-"));
  t.after(() => rm(folder, { recursive: true }));
  const extents = await EmbeddedExtents.open({
    machine: machineFor(t),
    folder,
    endOfUse: null,
    failStop: (error) => assert.fail(error),
  });
  t.after(() => extents.close());
  const bytes = someBytes(BODY_BYTES, 1);
  const before = alignedMemory.buffer.byteLength;
  let goOn = () => {};
  const told = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let begun = 0;
  const upload = (rest: "is sent" | "never comes") =>
    extents.write({
      length: BODY_BYTES,
      async drain(take) {
        await take(bytes.subarray(0, KIB));
        begun++;
        await told;
        if (rest === "never comes") throw new Error("the client is gone");
        for (let at = KIB; at < BODY_BYTES; at += MIB) await take(bytes.subarray(at, at + MIB));
      },
    });
  const gone = Array.from({ length: UPLOADS - 2 }, () => upload("never comes"));
  const sent = [upload("is sent"), upload("is sent")];
  while (begun < UPLOADS) await new Promise((resolve) => setImmediate(resolve));
  const taken = alignedMemory.buffer.byteLength - before;
  assert.ok(taken <= MEMORY_BYTES_MAX, `${taken / MIB} MiB`);

  goOn();
  for (const one of gone) await assert.rejects(one, /the client is gone/);
  for (const one of sent) {
    const written = await one;
    const parts: Buffer[] = [];
    for (const at of written.addresses) {
      parts.push(copyAndRelease(await borrowWhole(extents.read(at, 0, at.length))));
    }
    assert.ok(Buffer.concat(parts).equals(bytes));
    written.release();
  }
});
