import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bytes } from "../../base/bytes.ts";
import { key, SPACE } from "../../base/keys.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { DamagedStore } from "../../store/damaged-store.fixture.ts";
import { ForgettingStore } from "../../store/forgetting-store.fixture.ts";
import type { View } from "../../store/store.ts";
import { Blobs, LEASE_ID, refused } from "./blobs.fixture.ts";
import { deleteContainer } from "./delete-container.ts";
import { findBlobsByTags } from "./find-blobs-by-tags.ts";
import { blobKey, type Container, CURRENT, readBlob, readContainer } from "./records.ts";

const AT = { account: "account", container: "container" };
const LARGE = Buffer.alloc(100_000, "lazuli");
const DAMAGED = { kind: "damaged" };
const DAY_MS = 24 * 3_600_000;

/** Blobs whose records can be damaged. */
class DamagedBlobs {
  readonly blobs: Blobs;
  readonly #store: DamagedStore;

  private constructor(blobs: Blobs, store: DamagedStore) {
    this.blobs = blobs;
    this.#store = store;
  }

  static async open(): Promise<DamagedBlobs> {
    let damaged: DamagedStore | null = null;
    const blobs = await Blobs.open(false, {
      inMemory: (store) => {
        damaged = new DamagedStore(store);
        return new ForgettingStore(damaged);
      },
    });
    return new DamagedBlobs(blobs, damaged as unknown as DamagedStore);
  }

  /** Damages the record of a blob. */
  async damage(name: string): Promise<void> {
    await this.#damageAt((_, parent) => blobKey({ parent, name }));
  }

  /** Damages the record that says where a blob's bytes are. */
  async damageContent(name: string): Promise<void> {
    await this.#damageAt((view, parent) => {
      const { content } = readBlob(view, { parent, name }) ?? assert.fail(`no blob ${name}`);
      return key(SPACE.content, content.id);
    });
  }

  /** Damages the record of a soft-deleted blob. */
  async damageDeleted(name: string): Promise<void> {
    await this.#damageAt((_, { id }) => key(SPACE.deletedBlob, id, name, CURRENT - 1n));
  }

  async #damageAt(keyOf: (view: View, container: Container) => Bytes): Promise<void> {
    const found = await this.blobs.store.read((view) =>
      keyOf(view, readContainer(view, AT) ?? assert.fail("no container")),
    );
    this.#store.damage(found);
  }
}

async function damagedBlob(body: string | Bytes = "old"): Promise<Blobs> {
  const damaged = await DamagedBlobs.open();
  await damaged.blobs.put("blob", body);
  await damaged.damage("blob");
  await assert.rejects(damaged.blobs.text("blob"), DAMAGED);
  return damaged.blobs;
}

test("a blob whose record is damaged can be replaced", async () => {
  for (const versioning of [false, true]) {
    const blobs = await damagedBlob();
    blobs.settings = { ...blobs.settings, versioning };
    await blobs.keepDeleted(7);
    await blobs.put("blob", "new");
    assert.equal(await blobs.text("blob"), "new");
    await blobs.put("blob", "newer");
    assert.equal(await blobs.text("blob"), "newer");
  }
});

test("a blob whose record is damaged can be replaced by blocks", async () => {
  const blobs = await damagedBlob();
  await blobs.stage("blob", "YQ==", "new");
  await blobs.commit("blob", ["YQ=="]);
  assert.equal(await blobs.text("blob"), "new");
});

test("a blob whose record is damaged can be deleted, for good", async () => {
  for (const versioning of [false, true]) {
    const blobs = await damagedBlob();
    blobs.settings = { ...blobs.settings, versioning };
    await blobs.keepDeleted(7);
    assert.deepEqual(await blobs.delete("blob"), { isGone: true });
    await assert.rejects(blobs.text("blob"), refused("BlobNotFound"));
    await assert.rejects(blobs.delete("blob"), refused("BlobNotFound"));
    await blobs.put("blob", "new");
    assert.equal(await blobs.text("blob"), "new");
  }
});

test("conditions on a damaged blob are judged as on one with another ETag, without a lease", async () => {
  const blobs = await damagedBlob();
  const given = (more: object) => ({ conditions: { ...NO_CONDITIONS, ...more } });
  const stale = given({ ifMatch: ["0x8D0000000000000"] });
  await assert.rejects(blobs.put("blob", "new", stale), refused("ConditionNotMet"));
  await assert.rejects(blobs.delete("blob", stale), refused("ConditionNotMet"));
  const before = given({ ifUnmodifiedSinceMs: blobs.clock.now() - 1 });
  await assert.rejects(blobs.put("blob", "new", before), refused("ConditionNotMet"));
  const none = given({ ifNoneMatch: ["*"] });
  await assert.rejects(blobs.put("blob", "new", none), refused("BlobAlreadyExists"));
  const leased = { leaseId: LEASE_ID };
  const notLeased = refused("LeaseNotPresentWithBlobOperation");
  await assert.rejects(blobs.delete("blob", leased), notLeased);
  await blobs.put("blob", "new", given({ ifMatch: ["*"] }));
  assert.equal(await blobs.text("blob"), "new");
});

test("a damaged blob with snapshots is deleted with them, or not at all", async () => {
  const damaged = await DamagedBlobs.open();
  const { blobs } = damaged;
  await blobs.put("blob", "old");
  const snapshot = await blobs.snapshot("blob");
  await damaged.damage("blob");
  await assert.rejects(blobs.delete("blob"), refused("SnapshotsPresent"));
  assert.equal(await blobs.text("blob", snapshot), "old");
  await blobs.delete("blob", { snapshots: "include" });
  await assert.rejects(blobs.text("blob", snapshot), refused("BlobNotFound"));
});

test("a blob is replaced or deleted although nobody knows any more where its bytes are", async () => {
  for (const isDeleted of [false, true]) {
    for (const isList of [false, true]) {
      const damaged = await DamagedBlobs.open();
      const { blobs } = damaged;
      if (isList) {
        await blobs.stage("blob", "YQ==", LARGE);
        await blobs.commit("blob", ["YQ=="]);
      } else {
        await blobs.put("blob", LARGE);
      }
      await damaged.damageContent("blob");
      await assert.rejects(blobs.text("blob"), DAMAGED);
      if (isDeleted) await blobs.delete("blob");
      await blobs.put("blob", "new");
      await blobs.sweep();
      assert.equal(await blobs.text("blob"), "new");
    }
  }
});

test("a damaged blob is left out of a search by tags", async () => {
  const damaged = await DamagedBlobs.open();
  const { blobs } = damaged;
  for (const name of ["a", "b", "c"]) await blobs.put(name, "x", { tags: [["tag", "v"]] });
  await damaged.damage("b");
  const { access } = blobs.use("");
  const comparisons = [{ kind: "compare", tag: "tag", operator: "=", value: "v" }] as const;
  const query = { container: null, comparisons };
  const asked = { ...AT, access, query, from: null, resultsMax: 10 };
  const found: string[] = [];
  for await (const page of findBlobsByTags(blobs.context, asked)) {
    found.push(...page.items.map(({ name }) => name));
  }
  assert.deepEqual(found, ["a", "c"]);
});

test("a damaged blob in a deleted container does not keep the sweeper from freeing the others", async () => {
  const damaged = await DamagedBlobs.open();
  const { blobs } = damaged;
  for (const name of ["a", "b", "c"]) await blobs.put(name, "x");
  await damaged.damage("b");
  await deleteContainer(blobs.context, blobs.use(""));
  await blobs.sweep();
  // The content of the damaged blob.
  assert.equal(await blobs.recordsOfContents(), 1);
});

test("a deleted blob whose record is damaged goes when its retention ends", async () => {
  const damaged = await DamagedBlobs.open();
  const { blobs } = damaged;
  await blobs.keepDeleted(1);
  for (const name of ["a", "b", "c"]) await blobs.put(name, "x");
  for (const name of ["a", "b", "c"]) await blobs.delete(name);
  await damaged.damageDeleted("b");
  blobs.clock.advance(2 * DAY_MS);
  await blobs.sweep();
  assert.equal(await blobs.recordsOfContents(), 1);
  await blobs.put("b", "new");
  await blobs.delete("b");
});
