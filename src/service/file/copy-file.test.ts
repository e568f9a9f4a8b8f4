import assert from "node:assert/strict";
import { test } from "node:test";
import { type Body, wholeBody } from "../../base/bytes.ts";
import { OWNER } from "../../rules/access.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { RunningCopies } from "../shared/running-copies.ts";
import type { ForeignSource, OpenedSource, OwnSource, SourceObject } from "../shared/source.ts";
import { abortCopyFile } from "./abort-copy-file.ts";
import type { ShareAddress } from "./context.ts";
import { type CopyFile, copyFile } from "./copy-file.ts";
import { deleteShare } from "./delete-share.ts";
import { failInterruptedCopies } from "./fail-interrupted-copies.ts";
import { findSource } from "./find-source.ts";
import { getFileProperties } from "./get-file-properties.ts";
import { getShareStats } from "./get-share-stats.ts";
import { NO_SETTINGS } from "./item-settings.ts";
import { listShares } from "./list-shares.ts";
import { Files, refused } from "./opens.fixture.ts";
import { undeleteShare } from "./undelete-share.ts";

const FOUND: SourceObject = {
  type: "BlockBlob",
  length: 5,
  etag: '"one"',
  properties: {
    contentType: "text/plain",
    contentEncoding: "",
    contentLanguage: "",
    contentDisposition: "",
    cacheControl: "",
    contentMd5: null,
  },
  metadata: [],
  sequenceNumber: 0n,
  appendedBlocks: 0,
  isSealed: false,
  tags: [],
};

/** A foreign source whose bytes arrive when the test says so. */
class Elsewhere implements ForeignSource {
  readonly kind = "foreign";
  readonly url = "http://elsewhere/object";
  readonly found: SourceObject;
  isClosed = false;
  isTaken = false;
  arrive: (opened: OpenedSource) => void = () => {};

  constructor(found: SourceObject = FOUND) {
    this.found = found;
  }

  async look(): Promise<SourceObject> {
    return this.found;
  }

  open(): Promise<OpenedSource> {
    return new Promise((resolve) => {
      this.arrive = resolve;
    });
  }

  failure(error: unknown): string {
    return String(error);
  }

  opened(text: string): OpenedSource {
    const close = () => {
      this.isClosed = true;
    };
    const { length, drain } = wholeBody(Buffer.from(text));
    const body: Body = {
      length,
      drain: (take) => {
        this.isTaken = true;
        return drain(take);
      },
    };
    return { ...this.found, body, close };
  }
}

function setup(files: Files) {
  const context = { ...files.context, copies: new RunningCopies() };
  const copy = (path: string, source: CopyFile["source"]) =>
    copyFile(context, {
      ...files.at(path),
      source,
      metadata: null,
      settings: { ...NO_SETTINGS, setsArchive: false },
      ignoresReadOnly: false,
    });
  const statusOf = async (path: string) => {
    const { file } = await getFileProperties(context, files.at(path));
    return file.copy?.status;
  };
  const used = async () => {
    const asked = { at: files.at("").at, access: files.at("").access, leaseId: null };
    return (await getShareStats(context, asked)).usedBytes;
  };
  const own = (path: string): OwnSource => ({
    kind: "own",
    url: "http://here/file",
    name: { path: `account/share/${path}`, snapshot: null },
    find: (view) =>
      findSource(view, { ...files.at(path), conditions: NO_CONDITIONS, role: "copied" }),
  });
  return { context, copy, statusOf, used, own };
}

test("a copy that was interrupted by a stop of the server has failed", async () => {
  const files = await Files.open();
  const { context, copy, statusOf } = setup(files);
  await copy("file", new Elsewhere());
  assert.equal(await statusOf("file"), "pending");
  await failInterruptedCopies(context);
  assert.equal(await statusOf("file"), "failed");
  await files.create("file", 1);
  await failInterruptedCopies(context);
});

test("a copy fails if the source sends another length than it announced", async () => {
  const files = await Files.open();
  const { context, copy, statusOf } = setup(files);
  const elsewhere = new Elsewhere();
  await copy("file", elsewhere);
  elsewhere.arrive({ ...elsewhere.opened("longer"), length: 6 });
  while ((await statusOf("file")) === "pending");
  assert.equal(await statusOf("file"), "failed");
  assert.ok(elsewhere.isClosed);
  await context.copies.stop();
});

test("a copy that was aborted stays aborted when its bytes arrive", async () => {
  const files = await Files.open();
  const { context, copy, statusOf, used } = setup(files);
  const elsewhere = new Elsewhere();
  const { copyId } = await copy("file", elsewhere);
  assert.equal(await used(), 5);
  await abortCopyFile(context, { ...files.at("file"), copyId });
  elsewhere.arrive(elsewhere.opened("hello"));
  while (!elsewhere.isClosed) await statusOf("file");
  assert.equal(elsewhere.isTaken, false);
  assert.equal(await statusOf("file"), "aborted");
  assert.equal((await files.read("file")).length, 0);
  assert.equal(await used(), 0);
});

test("a copy counts in the usage of its share, and the file it replaces no longer does", async () => {
  const files = await Files.open();
  const { copy, used, own } = setup(files);
  await files.create("source", 1_000);
  await files.create("target", 10);
  assert.equal(await used(), 1_010);
  await copy("target", own("source"));
  assert.equal(await used(), 2_000);
});

test("a copy beyond the quota is refused, and leaves nothing behind", async () => {
  const files = await Files.open();
  const { copy, used, own } = setup(files);
  const huge = 4 * 2 ** 40;
  await files.create("source", huge);
  await files.create("other", 2 ** 40);
  await assert.rejects(copy("target", own("source")), refused("ShareSizeLimitReached"));
  const asked = files.at("target");
  await assert.rejects(getFileProperties(files.context, asked), refused("ResourceNotFound"));
  assert.equal(await used(), huge + 2 ** 40);
});

test("a copy whose share was deleted meanwhile leaves nothing behind", async () => {
  const files = await Files.open();
  const { context, copy } = setup(files);
  const elsewhere = new Elsewhere();
  await copy("file", elsewhere);
  const { at, access } = files.at("");
  const asked = { at, access, leaseId: null, snapshots: "refuse" } as const;
  await deleteShare({ ...context, settingsByAccount: new Map() }, asked);
  elsewhere.arrive(elsewhere.opened("hello"));
  while (!elsewhere.isClosed) await files.store.read(() => null);
  await failInterruptedCopies(context);
  const gone = getFileProperties(context, files.at("file"));
  await assert.rejects(gone, refused("ShareNotFound"));
});

test("a copy ends in a share that is soft-deleted, and shows when it is restored", async () => {
  const files = await Files.open();
  const { context, copy, statusOf } = setup(files);
  const elsewhere = new Elsewhere();
  const late = new Elsewhere();
  await copy("done", elsewhere);
  await copy("late", late);
  await copy("cut", new Elsewhere());
  const { at, access } = files.at("");
  const settingsByAccount = new Map([[at.account, { shareRetentionDays: 7 }]]);
  const retaining = { ...context, settingsByAccount };
  await deleteShare(retaining, { at, access, leaseId: null, snapshots: "refuse" });
  elsewhere.arrive(elsewhere.opened("hello"));
  while (!elsewhere.isClosed) await files.store.read(() => null);
  const restored = { ...at, share: "restored" };
  await restore(files, at.share, restored);
  late.arrive(late.opened("later"));
  while (!late.isClosed) await files.store.read(() => null);
  await deleteShare(retaining, { at: restored, access, leaseId: null, snapshots: "refuse" });
  await failInterruptedCopies(context);
  await restore(files, restored.share, at);
  for (const [path, status] of [
    ["done", "success"],
    ["late", "success"],
    ["cut", "failed"],
  ] as const) {
    assert.equal(await statusOf(path), status, path);
  }
  assert.equal((await files.read("done")).toString(), "hello");
});

async function restore({ context }: Files, deletedName: string, at: ShareAddress): Promise<void> {
  const options = { prefix: "", after: null, resultsMax: 1, snapshots: false, deleted: true };
  const { account } = at;
  const pages = listShares(context, { account, access: OWNER, ...options });
  const [first] = (await pages.next()).value?.shares ?? [];
  const deletedVersion = first?.stamp ?? assert.fail("none was deleted");
  await undeleteShare(context, { at, access: OWNER, deletedName, deletedVersion });
}
