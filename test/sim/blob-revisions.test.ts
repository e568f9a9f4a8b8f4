import assert from "node:assert/strict";
import { createHash, randomInt } from "node:crypto";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { ManualClock } from "../../src/base/clock.ts";
import { Fault } from "../../src/base/fault.ts";
import { key, keyAfter, SPACE } from "../../src/base/keys.ts";
import { type Data, openData } from "../../src/main/open-data.ts";
import { PAGE_BLOB_BYTES, RealRevisions, type Shown } from "./blob-revisions.ts";
import { Random } from "./random.ts";

const NAMES = ["a", "b"];
const TYPES = ["BlockBlob", "PageBlob", "AppendBlob"] as const;
const RUNS = { memory: 25, embedded: 3 } as const;
const STEPS = 80;

interface ModelRevision {
  readonly type: (typeof TYPES)[number];
  readonly bytes: Buffer;
  readonly label: string;
  /** Whether it consists of blocks, and so can get more of them, and has no tag. */
  readonly isBlocks: boolean;
  readonly hasVersion: boolean;
}

interface ModelDeleted {
  readonly was: "current" | "snapshot" | "version";
  readonly revision: ModelRevision;
  readonly untilDay: number;
}

/** All revisions of one name, in the simplest form. */
class ModelBlob {
  current: ModelRevision | null = null;
  snapshots: ModelRevision[] = [];
  versions: ModelRevision[] = [];
  deleted: ModelDeleted[] = [];
}

/** The rules of snapshots, versions and soft delete a second time, without regard to cost. */
class Model {
  versioning = false;
  keepsDays: number | null = null;
  day = 0;
  readonly blobs = new Map(NAMES.map((name) => [name, new ModelBlob()]));

  blob(name: string): ModelBlob {
    return this.blobs.get(name) as ModelBlob;
  }

  replace(name: string, next: Omit<ModelRevision, "hasVersion">): void {
    const blob = this.blob(name);
    if (blob.current !== null) this.#retire(blob, blob.current, "snapshot");
    blob.current = { ...next, hasVersion: this.versioning };
  }

  label(name: string, label: string): void {
    const blob = this.blob(name);
    const old = blob.current as ModelRevision;
    if (this.versioning || old.hasVersion) blob.versions.push(old);
    blob.current = { ...old, label, hasVersion: this.versioning };
  }

  snapshot(name: string): void {
    const blob = this.blob(name);
    const old = blob.current as ModelRevision;
    blob.snapshots.push(old);
    if (!this.versioning) return;
    blob.versions.push(old);
    blob.current = { ...old, hasVersion: true };
  }

  delete(name: string, snapshots: "include" | "only" | null): void {
    const blob = this.blob(name);
    if (snapshots !== null) {
      for (const revision of blob.snapshots) this.#keepDeleted(blob, revision, "snapshot");
      blob.snapshots = [];
    }
    if (snapshots === "only") return;
    this.#retire(blob, blob.current as ModelRevision, "current");
    blob.current = null;
  }

  deleteRevision(name: string, kind: "snapshot" | "version", described: string): void {
    const blob = this.blob(name);
    const revisions = kind === "snapshot" ? blob.snapshots : blob.versions;
    const at = revisions.findIndex((revision) => tell(revision) === described);
    const [revision] = revisions.splice(at, 1);
    this.#keepDeleted(blob, revision as ModelRevision, kind);
  }

  deleteForGood(name: string, kind: "snapshot" | "version", label: string): void {
    const blob = this.blob(name);
    const wasOf = (one: ModelDeleted) => (one.was === "version" ? "version" : "snapshot");
    const at = this.alive(blob).findIndex(
      (one) => wasOf(one) === kind && one.revision.label === label,
    );
    const found = this.alive(blob)[at];
    blob.deleted = blob.deleted.filter((one) => one !== found);
  }

  /** False if there is nothing to undelete. */
  undelete(name: string): boolean {
    const blob = this.blob(name);
    const alive = this.alive(blob);
    const revisions = [...blob.snapshots, ...blob.versions, ...alive];
    const isThere = blob.current !== null || revisions.length > 0;
    for (const { was, revision } of alive) {
      if (was === "current" && blob.current === null) blob.current = revision;
      else if (was === "version") blob.versions.push(revision);
      else blob.snapshots.push(revision);
    }
    blob.deleted = [];
    return isThere;
  }

  alive(blob: ModelBlob): ModelDeleted[] {
    return blob.deleted.filter(({ untilDay }) => untilDay > this.day);
  }

  #retire(blob: ModelBlob, revision: ModelRevision, was: "current" | "snapshot"): void {
    if (this.versioning || revision.hasVersion) blob.versions.push(revision);
    else this.#keepDeleted(blob, revision, was);
  }

  #keepDeleted(blob: ModelBlob, revision: ModelRevision, was: ModelDeleted["was"]): void {
    if (this.keepsDays === null) return;
    if (was === "current") {
      blob.deleted = blob.deleted.map((one) =>
        one.was === "current" ? { ...one, was: "snapshot" } : one,
      );
    }
    blob.deleted.push({ was, revision, untilDay: this.day + this.keepsDays });
  }
}

function tell({ label, bytes }: Pick<ModelRevision, "label" | "bytes">): string {
  return `${label} ${bytes.length} ${createHash("md5").update(bytes).digest("hex")}`;
}

/** The list entries and contents expected of a name. */
function expected(model: Model, blob: ModelBlob): string[] {
  const lines: string[] = [];
  if (blob.current !== null) lines.push(`current ${tell(blob.current)}`);
  for (const revision of blob.snapshots) lines.push(`snapshot ${tell(revision)}`);
  for (const revision of blob.versions) lines.push(`version ${tell(revision)}`);
  for (const { was, revision } of model.alive(blob)) {
    const kind = was === "current" && blob.current !== null ? "snapshot" : was;
    lines.push(`deleted ${kind} ${revision.label}`);
  }
  return lines.sort();
}

async function found(
  real: RealRevisions,
  name: string,
  shown: readonly Shown[],
): Promise<string[]> {
  const lines = shown.map(async ({ kind, isDeleted, label, revision }) => {
    if (isDeleted) return `deleted ${kind} ${label}`;
    return `${kind} ${tell({ label, bytes: await real.read(name, revision) })}`;
  });
  return (await Promise.all(lines)).sort();
}

/** Takes one step in the service and in the model. */
async function step(real: RealRevisions, model: Model, random: Random, at: number): Promise<void> {
  const name = random.pick(NAMES);
  const blob = model.blob(name);
  const { current } = blob;
  const label = `label${at}`;
  const action = random.weighted({
    put: 16,
    block: 12,
    write: 20,
    label: 8,
    snapshot: 15,
    delete: 12,
    deleteRevision: 15,
    undelete: 10,
    advance: 8,
    keep: 6,
    versioning: 4,
    sweep: 4,
  });
  switch (action) {
    case "put": {
      const type = random.pick(TYPES);
      const size = random.pick([0, 10, 20_000]);
      const bytes = type === "BlockBlob" ? Buffer.alloc(size, label) : emptyOf(type);
      await real.put(name, type, bytes, label);
      model.replace(name, { type, bytes, label, isBlocks: false });
      break;
    }
    case "block": {
      if (current !== null && current.type !== "BlockBlob") break;
      const blockId = Buffer.from(String(at).padStart(3, "0")).toString("base64");
      const more = Buffer.alloc(random.pick([10, 20_000]), label);
      await real.block(name, blockId, more, label);
      const bytes = Buffer.concat([current?.isBlocks ? current.bytes : Buffer.alloc(0), more]);
      model.replace(name, { type: "BlockBlob", bytes, label, isBlocks: true });
      break;
    }
    case "write": {
      if (current === null || current.type === "BlockBlob") break;
      const isLog = current.type === "AppendBlob";
      const offset = isLog ? current.bytes.length : 512 * random.below(PAGE_BLOB_BYTES / 512);
      const bytes = Buffer.alloc(isLog ? random.pick([5, 20_000]) : 512, label);
      await real.write(name, isLog ? "AppendBlob" : "PageBlob", offset, bytes);
      const next = Buffer.alloc(Math.max(current.bytes.length, offset + bytes.length));
      current.bytes.copy(next);
      bytes.copy(next, offset);
      blob.current = { ...current, bytes: next };
      break;
    }
    case "label":
      if (current === null) break;
      await real.label(name, label);
      model.label(name, label);
      break;
    case "snapshot":
      if (current === null) break;
      await real.snapshot(name);
      model.snapshot(name);
      break;
    case "delete": {
      if (current === null) break;
      const snapshots = random.pick(["include", "only", null] as const);
      if (snapshots === null && blob.snapshots.length > 0) {
        await assert.rejects(real.delete(name, null), isFault("SnapshotsPresent"));
        break;
      }
      if (snapshots === "only" && blob.snapshots.length === 0) {
        await assert.rejects(real.delete(name, snapshots), isFault("BlobNotFound"));
        break;
      }
      await real.delete(name, snapshots);
      model.delete(name, snapshots);
      break;
    }
    case "deleteRevision":
      await deleteRevision(real, model, random, name);
      break;
    case "undelete": {
      const undeleted = real.undelete(name);
      if (model.undelete(name)) await undeleted;
      else await assert.rejects(undeleted, isFault("BlobNotFound"));
      break;
    }
    case "advance": {
      const days = random.pick([1, 2]);
      real.advanceDays(days);
      model.day += days;
      break;
    }
    case "keep":
      model.keepsDays = random.pick([null, 1, 3]);
      await real.keepDeleted(model.keepsDays);
      break;
    case "versioning":
      model.versioning = random.chance(0.5);
      real.versioning = model.versioning;
      break;
    case "sweep":
      await real.sweep();
      break;
  }
}

async function deleteRevision(
  real: RealRevisions,
  model: Model,
  random: Random,
  name: string,
): Promise<void> {
  const shown = (await real.list(name, 100)).filter(({ revision }) => revision !== null);
  if (shown.length === 0) return;
  const { kind, revision, isDeleted, label } = random.pick(shown);
  if (revision === null || kind === "current") return;
  if (!isDeleted) {
    const described = tell({ label, bytes: await real.read(name, revision) });
    await real.deleteRevision(name, revision, false);
    model.deleteRevision(name, kind, described);
  } else if (model.keepsDays !== null) {
    // Revisions with one label may differ in their bytes, which a list does not show.
    if (shown.filter((one) => one.label === label && one.isDeleted).length > 1) return;
    await real.deleteRevision(name, revision, true);
    model.deleteForGood(name, kind, label);
  }
}

function emptyOf(type: ModelRevision["type"]): Buffer {
  return Buffer.alloc(type === "PageBlob" ? PAGE_BLOB_BYTES : 0);
}

function isFault(code: string): (error: unknown) => boolean {
  return (error) => error instanceof Fault && error.code === code;
}

/** Counts all records of blobs and of bytes. */
function recordsLeft(data: Data): Promise<number> {
  return data.store.read((view) => {
    const all = view.range(key(SPACE.content), keyAfter(key(SPACE.blobTag)), {
      limit: 10_000,
    });
    const stays: number[] = [SPACE.container, SPACE.deleteRetention];
    return all.filter((entry) => !stays.includes(entry.key[0] as number)).length;
  });
}

/** Deletes everything, version by version, and lets its retention end. */
async function deleteEverything(real: RealRevisions): Promise<void> {
  for (const name of NAMES) {
    const shown = await real.list(name, 3);
    if (shown.some(({ kind, isDeleted }) => kind === "current" && !isDeleted)) {
      await real.delete(name, "include");
    }
    // With versioning, snapshots may outlive their blob.
    for (const { revision, isDeleted } of await real.list(name, 3)) {
      if (!isDeleted && revision !== null) await real.deleteRevision(name, revision, false);
    }
  }
  real.advanceDays(3);
  await real.sweep();
}

async function run(data: Data, clock: ManualClock, seed: number): Promise<void> {
  const random = new Random(seed);
  const real = new RealRevisions(data, clock);
  const model = new Model();
  await real.open();
  for (let at = 0; at < STEPS; at++) {
    await step(real, model, random, at);
    for (const name of NAMES) {
      const shown = await real.list(name, random.pick([1, 2, 100]));
      assert.deepEqual(await found(real, name, shown), expected(model, model.blob(name)));
    }
    const tagged = [...model.blobs.values()].filter(({ current }) => current?.isBlocks === false);
    assert.equal(await real.countTags(), tagged.length);
  }
  await deleteEverything(real);
  assert.equal(await recordsLeft(data), 0);
}

for (const engine of ["memory", "embedded"] as const) {
  test(`${engine}: snapshots, versions and deleted blobs match a simple model, and leave nothing behind`, async () => {
    const first = Number(process.env.LAZULI_SEED ?? randomInt(2 ** 31));
    for (let seed = first; seed < first + RUNS[engine]; seed++) {
      const folder =
        engine === "memory" ? null : await mkdtemp(join(tmpdir(), "lazuli-revisions-"));
      const clock = new ManualClock(1_700_000_000_000);
      const data = await openData({ location: folder, memoryBytesMax: null }, clock, assert.fail);
      try {
        await run(data, clock, seed);
        if (folder !== null) assert.equal(await extentBytes(folder), 0);
      } catch (error) {
        throw new Error(`LAZULI_SEED=${seed}: ${(error as Error).message}`, { cause: error });
      } finally {
        await data.close();
        if (folder !== null) await rm(folder, { recursive: true });
      }
    }
  });
}

async function extentBytes(folder: string): Promise<number> {
  const files = await readdir(folder, { recursive: true });
  const extents = files.filter((file) => file.endsWith(".extent"));
  const sizes = await Promise.all(extents.map((file) => stat(join(folder, file))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}
