import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../../base/fault.ts";
import { SPACE } from "../../base/keys.ts";
import { SHARE_DELETION_MS } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import { deleteDirectory } from "./delete-directory.ts";
import { deleteFile } from "./delete-file.ts";
import { deleteShare } from "./delete-share.ts";
import { Files } from "./files.fixture.ts";
import { NO_SETTINGS } from "./item-settings.ts";
import { renameDirectory } from "./rename-directory.ts";
import { renameFile } from "./rename-file.ts";
import { setDirectoryMetadata } from "./set-directory-metadata.ts";
import { setFileProperties } from "./set-file-properties.ts";
import { snapshotShare } from "./snapshot-share.ts";

/** One operation on a share; a refused one does nothing. */
type Step = (share: Model) => Promise<unknown>;

/** A share, and its expected tree now and at each of its snapshots. */
class Model {
  readonly files: Files;
  readonly snapshots = new Map<Stamp, [string, string | null][]>();

  constructor(files: Files) {
    this.files = files;
  }

  async check(): Promise<void> {
    for (const [stamp, expected] of this.snapshots) {
      assert.deepEqual(await this.files.tree(stamp), expected);
    }
  }
}

const NAMES = ["a", "B", "ab", "c"];
const path = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 2 })
  .map((names) => names.join("/"));
const text = fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom("x", "y", "z") });

const TERMS = { replaces: true, ignoresReadOnly: false, settings: NO_SETTINGS, metadata: null };

const step: fc.Arbitrary<Step> = fc.oneof(
  path.map(
    (at): Step =>
      ({ files }) =>
        files.createDirectory(at),
  ),
  fc.tuple(path, text).map(
    ([at, body]): Step =>
      ({ files }) =>
        files.create(at, body),
  ),
  fc.tuple(path, text).map(
    ([at, body]): Step =>
      ({ files }) =>
        files.write(at, 0, body),
  ),
  fc.tuple(path, fc.nat(9)).map(
    ([at, length]): Step =>
      ({ files }) =>
        setFileProperties(files.context, {
          ...files.at(at),
          length,
          properties: null,
          settings: NO_SETTINGS,
        }),
  ),
  path.map(
    (at): Step =>
      ({ files }) =>
        setDirectoryMetadata(files.context, { ...files.at(at), metadata: [["a", "b"]] }),
  ),
  path.map(
    (at): Step =>
      ({ files }) =>
        deleteFile(files.context, files.at(at)),
  ),
  path.map(
    (at): Step =>
      ({ files }) =>
        deleteDirectory(files.context, files.at(at)),
  ),
  fc.tuple(path, path).map(
    ([from, to]): Step =>
      ({ files }) =>
        renameFile(files.context, {
          ...files.at(to),
          ...TERMS,
          source: files.at(from),
          contentType: null,
        }),
  ),
  fc.tuple(path, path).map(
    ([from, to]): Step =>
      ({ files }) =>
        renameDirectory(files.context, { ...files.at(to), ...TERMS, source: files.at(from) }),
  ),
  fc.constant<Step>(async (share) => {
    const { files } = share;
    const { snapshot } = await snapshotShare(files.context, { ...files.share(), metadata: null });
    share.snapshots.set(snapshot, await files.tree());
  }),
  fc.nat(3).map(
    (index): Step =>
      async (share) => {
        const stamp = [...share.snapshots.keys()][index];
        if (stamp === undefined) return;
        const { files } = share;
        await deleteShare(files.context, { ...files.share(stamp), snapshots: "refuse" });
        share.snapshots.delete(stamp);
      },
  ),
  fc.constant<Step>(({ files }) => files.sweep()),
);

test("snapshots show what was there, whatever is done to the share and in whatever order", async () => {
  // Without a minimum length most lists would be too short for a file to go through much.
  const many = fc.array(step, { minLength: 30, maxLength: 60 });
  const property = fc.asyncProperty(many, async (steps) => {
    const share = new Model(await Files.open());
    for (const one of steps) {
      await one(share).catch((error) => assert.ok(error instanceof Fault, error));
    }
    await share.check();
    await share.files.sweep();
    await share.check();
    const { files } = share;
    await deleteShare(files.context, { ...files.share(), snapshots: "include" });
    files.clock.advance(SHARE_DELETION_MS);
    await files.sweep();
    assert.equal(await files.records(), 0, "nothing is left of a share that was deleted");
  });
  await fc.assert(property, { numRuns: 150 });
});

test("records preserved for a snapshot are removed with it", async () => {
  const files = await Files.open();
  for (const name of ["one", "two", "three"]) await files.create(name, "old".repeat(10_000));
  const bytes = [SPACE.content, SPACE.rangeEntry, SPACE.rangeLayer, SPACE.extentUse];
  const before = await files.records(bytes);
  const { snapshot } = await snapshotShare(files.context, { ...files.share(), metadata: null });
  for (const name of ["one", "two", "three"]) await files.create(name, "new".repeat(10_000));
  await files.sweep();
  assert.equal(await files.text("one", snapshot), "old".repeat(10_000));
  await deleteShare(files.context, { ...files.share(snapshot), snapshots: "refuse" });
  await files.sweep();
  assert.equal(await files.records(bytes), before);
  assert.equal(await files.records([SPACE.preservedRecord]), 0);
  assert.equal(await files.text("one"), "new".repeat(10_000));
});

test("an imported snapshot has its old name, unless that is of the future or not behind the last", async () => {
  const files = await Files.open();
  const take = async (id: Stamp) => {
    const past = { id, etag: id, modifiedMs: 5, quotaGib: 9 };
    return snapshotShare(files.context, { ...files.share(), metadata: [["a", "b"]], past });
  };
  await files.create("file", "old");
  const first = await take(1_000n);
  await files.write("file", 0, "new");
  const second = await take(2_000n);
  assert.deepEqual(
    [first, second].map(({ snapshot, etag, modifiedMs }) => [snapshot, etag, modifiedMs]),
    [
      [1_000n, 1_000n, 5],
      [2_000n, 2_000n, 5],
    ],
  );
  await files.create("file", "gone");
  assert.equal(await files.text("file", 1_000n), "old");
  assert.equal(await files.text("file", 2_000n), "new");
  const third = await take(1_500n);
  assert.ok(third.snapshot > 2_000n);
  assert.equal(await files.text("file", third.snapshot), "gone");
  const future = await take(2n ** 63n);
  assert.ok(future.snapshot > third.snapshot && future.snapshot < 2n ** 63n);
  await deleteShare(files.context, {
    ...files.share(1_000n),
    snapshots: "refuse",
  });
  await assert.rejects(files.text("file", 1_000n), new Fault("ShareSnapshotNotFound"));
  assert.equal(await files.text("file", 2_000n), "new");
});
