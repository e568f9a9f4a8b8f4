import assert from "node:assert/strict";
import { test } from "node:test";
import { type Bytes, wholeBody } from "../../base/bytes.ts";
import { OWNER } from "../../rules/access.ts";
import type { SourceRole } from "../../rules/conditions.ts";
import { RunningCopies } from "../shared/running-copies.ts";
import type { ForeignSource, OpenedSource, SourceObject } from "../shared/source.ts";
import { Blobs, NO_PROPERTIES, refused } from "./blobs.fixture.ts";
import { copyBlob } from "./copy-blob.ts";
import { createContainer } from "./create-container.ts";
import { deleteBlob } from "./delete-blob.ts";
import { deleteContainer } from "./delete-container.ts";
import { failInterruptedCopies } from "./fail-interrupted-copies.ts";
import { findSource } from "./find-source.ts";
import { getBlobProperties } from "./get-blob-properties.ts";
import { listContainers } from "./list-containers.ts";
import { readPendingCopies } from "./records.ts";
import { undeleteContainer } from "./undelete-container.ts";

/** A foreign source that delivers its bytes when the test releases it. */
class HeldSource implements ForeignSource {
  readonly kind = "foreign";
  readonly url = "https://elsewhere.example/object";
  readonly opened: Promise<void>;
  closed = false;
  readonly #bytes: Bytes;
  readonly #released: Promise<void>;
  #tellOpened = () => {};
  release: () => void = () => {};
  #cut: (error: Error) => void = () => {};

  constructor(bytes: Bytes) {
    this.#bytes = bytes;
    this.#released = new Promise((resolve, reject) => {
      this.release = resolve;
      this.#cut = reject;
    });
    this.#released.catch(() => {});
    this.opened = new Promise((resolve) => {
      this.#tellOpened = resolve;
    });
  }

  async look(): Promise<SourceObject> {
    return {
      type: "BlockBlob",
      length: this.#bytes.length,
      etag: '"1"',
      properties: NO_PROPERTIES,
      metadata: [],
      tags: [],
      sequenceNumber: 0n,
      appendedBlocks: 0,
      isSealed: false,
    };
  }

  failure(error: unknown): string {
    return String(error);
  }

  async open(): Promise<OpenedSource> {
    this.#tellOpened();
    const body = wholeBody(this.#bytes);
    return {
      ...(await this.look()),
      body: { length: body.length, drain: (take) => this.#released.then(() => body.drain(take)) },
      close: () => {
        this.closed = true;
        this.#cut(new Error("closed"));
      },
    };
  }
}

async function open() {
  const blobs = await Blobs.open();
  const copies = new RunningCopies();
  const context = { ...blobs.context, copies };
  const copy = (source: ForeignSource, name = "copy") =>
    copyBlob(context, { ...blobs.use(name), source, ...PLAIN });
  const revisionOf = async (name = "copy") =>
    (await getBlobProperties(blobs.context, blobs.use(name))).blob.copy;
  return { blobs, copies, copy, revisionOf };
}

const PLAIN = {
  metadata: null,
  seals: null,
  tags: [],
  copiesTags: false,
  tier: null,
  priority: null,
};
const HELLO = Buffer.from("hello");

test("a copy that a server stop interrupts has failed, and its bytes never arrive", async () => {
  const { blobs, copy, copies, revisionOf } = await open();
  const source = new HeldSource(HELLO);
  await copy(source);
  await source.opened;
  await failInterruptedCopies(blobs.context);
  const failed = await revisionOf();
  assert.equal(failed?.status, "failed");
  assert.match(failed?.description ?? "", /server stopped/);
  source.release();
  await copies.stop();
  assert.equal((await revisionOf())?.status, "failed");
  assert.equal(await blobs.text("copy"), "");
  await failInterruptedCopies(blobs.context);
});

test("a stopping server closes its sources and leaves its copies pending", async () => {
  const { copy, copies, revisionOf } = await open();
  const source = new HeldSource(HELLO);
  await copy(source);
  await source.opened;
  await copies.stop();
  assert.ok(source.closed);
  assert.equal((await revisionOf())?.status, "pending");
});

test("a copy whose container is deleted leaves nothing behind", async () => {
  const { blobs, copy, copies } = await open();
  const source = new HeldSource(Buffer.alloc(100_000));
  await copy(source);
  await source.opened;
  const at = { account: "account", container: "container" };
  const { conditions, leaseId } = blobs.use("copy");
  await deleteContainer(blobs.context, { at, access: OWNER, conditions, leaseId });
  source.release();
  await copies.stop();
  await blobs.sweep();
  assert.deepEqual([blobs.bytesInExtents(), await blobs.recordsOfContents()], [0, 0]);
});

test("a copy ends in a soft-deleted container, even after others have had its name", async () => {
  const { blobs, copy, copies, revisionOf } = await open();
  blobs.settings = { ...blobs.settings, containerRetentionDays: 7 };
  const sources = [new HeldSource(HELLO), new HeldSource(HELLO)] as const;
  for (const [at, source] of sources.entries()) await copy(source, `copy${at}`);
  for (const source of sources) await source.opened;
  const { at, access, conditions, leaseId } = blobs.use("");
  const remove = () => deleteContainer(blobs.context, { at, access, conditions, leaseId });
  await remove();
  for (let others = 0; others < 2; others++) {
    await createContainer(blobs.context, { at, access, publicAccess: "none", metadata: [] });
    await remove();
  }
  sources[0].release();
  while ((await blobs.store.read((view) => readPendingCopies(view, 2))).length > 1);
  await failInterruptedCopies(blobs.context);
  await copies.stop();
  await undeleteContainer(blobs.context, { at, access, version: await firstDeleted(blobs) });
  assert.equal((await revisionOf("copy0"))?.status, "success");
  assert.equal(await blobs.text("copy0"), "hello");
  assert.equal((await revisionOf("copy1"))?.status, "failed");
});

async function firstDeleted({ context }: Blobs): Promise<bigint> {
  const options = { prefix: "", after: null, resultsMax: 1, deleted: true, system: false };
  const asked = { account: "account", access: OWNER, ...options };
  for await (const { containers } of listContainers(context, asked)) {
    for (const { version } of containers) if (version !== null) return version;
  }
  return assert.fail("none was deleted");
}

test("four copies run at the same time, and a fifth starts when one ends", async () => {
  const { copy, copies, revisionOf } = await open();
  const sources = Array.from({ length: 5 }, () => new HeldSource(HELLO));
  for (const [at, source] of sources.entries()) await copy(source, `copy${at}`);
  for (const source of sources.slice(0, 4)) await source.opened;
  const last = sources[4] as HeldSource;
  const isWaiting = await Promise.race([last.opened.then(() => false), Promise.resolve(true)]);
  assert.ok(isWaiting);
  sources[0]?.release();
  await last.opened;
  for (const source of sources) source.release();
  await copies.stop();
  assert.equal((await revisionOf("copy0"))?.status, "success");
});

test("a source is read in its current state and checked against its conditions", async () => {
  const { blobs } = await open();
  await blobs.put("source", "one");
  const find = (ifMatch: string[] | null, role: SourceRole = "copied") =>
    blobs.store.read((view) =>
      findSource(view, {
        at: blobs.use("source").at,
        access: OWNER,
        role,
        withTags: false,
        fromArchive: false,
        conditions: { ...blobs.use("source").conditions, ifMatch },
      }),
    );
  assert.equal((await find(null)).content.length, 3);
  await assert.rejects(find(["other"]), refused("SourceConditionNotMet"));
  await assert.rejects(find(["other"], "read"), refused("ConditionNotMet"));
  await deleteBlob(blobs.context, { ...blobs.use("source"), snapshots: null, permanent: false });
  await assert.rejects(find(null), refused("BlobNotFound"));
});
