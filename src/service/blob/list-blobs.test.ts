import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { slicesDuring } from "../../base/fair-queue.fixture.ts";
import { OWNER } from "../../rules/access.ts";
import { derivedRange } from "../../store/accelerated.ts";
import { altered } from "../../store/altered-store.fixture.ts";
import { IN_MEMORY, runningOnce } from "../shared/service-data.fixture.ts";
import { Blobs, refused } from "./blobs.fixture.ts";
import { deleteContainer } from "./delete-container.ts";
import { listBlobs } from "./list-blobs.ts";
import type { ListBlobs, ListPosition } from "./listed-blob.ts";

const NO_OTHERS = {
  uncommitted: false,
  snapshots: false,
  versions: false,
  deleted: false,
  versionsOnly: false,
};
const AT = { account: "account", container: "container" };

function asked(changes: Partial<ListBlobs>): ListBlobs {
  return {
    at: AT,
    access: OWNER,
    prefix: "",
    delimiter: "",
    startFrom: "",
    endBefore: "",
    after: null,
    resultsMax: 5_000,
    kinds: NO_OTHERS,
    tags: false,
    ...changes,
  };
}

/** One response: blobs by name, and prefixes with a leading colon. */
async function once(blobs: Blobs, changes: Partial<ListBlobs> = {}) {
  const names: string[] = [];
  let next: ListPosition | null = null;
  for await (const page of listBlobs(blobs.context, asked(changes))) {
    for (const { kind, name } of page.items) names.push(kind === "prefix" ? `:${name}` : name);
    next = page.next;
  }
  return { names, next };
}

/** All responses, each continuing where the last one ended. */
async function all(blobs: Blobs, changes: Partial<ListBlobs>): Promise<string[]> {
  const names: string[] = [];
  let after: ListPosition | null = null;
  do {
    const found = await once(blobs, { ...changes, after });
    assert.ok(found.names.length <= (changes.resultsMax ?? 5_000));
    names.push(...found.names);
    after = found.next;
  } while (after !== null);
  return names;
}

type Bounds = Pick<ListBlobs, "prefix" | "delimiter" | "startFrom" | "endBefore">;

function bytewise(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/** The expected list, computed by checking every name. */
function expected(names: readonly string[], bounds: Bounds): string[] {
  const { prefix, delimiter, startFrom, endBefore } = bounds;
  const found = new Set<string>();
  for (const name of [...names].sort(bytewise)) {
    if (!name.startsWith(prefix) || bytewise(name, startFrom) < 0) continue;
    if (endBefore !== "" && bytewise(name, endBefore) >= 0) continue;
    const at = delimiter === "" ? -1 : name.indexOf(delimiter, prefix.length);
    found.add(at < 0 ? name : `:${name.slice(0, at + delimiter.length)}`);
  }
  return [...found];
}

const name = fc
  .array(fc.constantFrom("a", "b", "/", "//", "é", "日", "\u{1f600}", "\u{ff5e}"), {
    minLength: 1,
    maxLength: 5,
  })
  .map((parts) => parts.join(""));

test("any names, bounds, delimiter and page size give the same list as checking every name", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(name, { maxLength: 25 }),
      fc.uniqueArray(name, { maxLength: 10 }),
      fc.constantFrom("", "a", "a/", "/", "日"),
      fc.constantFrom("", "/", "//", "b", "\u{1f600}"),
      fc.tuple(fc.option(name, { nil: "" }), fc.option(name, { nil: "" })),
      fc.integer({ min: 1, max: 7 }),
      async (committed, staged, prefix, delimiter, [startFrom, endBefore], resultsMax) => {
        const blobs = await Blobs.open();
        for (const one of committed) await blobs.put(one, "");
        for (const one of staged) await blobs.stage(one, "YQ==", "");
        const bounds = { prefix, delimiter, startFrom, endBefore };
        const list = (uncommitted: boolean) =>
          all(blobs, { ...bounds, resultsMax, kinds: { ...NO_OTHERS, uncommitted } });
        assert.deepEqual(await list(false), expected(committed, bounds));
        const both = [...new Set([...committed, ...staged])];
        assert.deepEqual(await list(true), expected(both, bounds));
      },
    ),
    { numRuns: 150 },
  );
});

/** Counts the entries that are read from now on. */
function countEntries(blobs: Blobs): { context: Blobs["context"]; entries(): number } {
  let entries = 0;
  const { contents } = blobs.context;
  const store = runningOnce(blobs.store);
  const counting = altered(store, {
    read: (body) =>
      store.read((view) =>
        body({
          get: (key) => view.get(key),
          now: () => view.now(),
          onDiscard: (release) => view.onDiscard(release),
          range: (from, until, options) => view.range(from, until, options),
          derivedRange(derivation, from, until, limit) {
            const counted: typeof derivation = {
              space: derivation.space,
              make(found) {
                entries += found.length;
                return derivation.make(found);
              },
            };
            return derivedRange(view, counted, from, until, limit);
          },
        }),
      ),
  });
  return { context: { ...blobs.context, store: counting, contents }, entries: () => entries };
}

async function cost(blobs: Blobs, changes: Partial<ListBlobs>) {
  const { context, entries } = countEntries(blobs);
  let results = 0;
  for await (const page of listBlobs(context, asked(changes))) results += page.items.length;
  return { results, entries: entries() };
}

test("a list skips the blobs under a common prefix: it costs what it returns", async () => {
  const blobs = await Blobs.open(false, IN_MEMORY);
  for (const folder of ["a", "b", "c"]) {
    for (let at = 0; at < 2_000; at++) await blobs.put(`${folder}/${at}`, "");
  }
  await blobs.put("d", "");
  const top = await cost(blobs, { delimiter: "/" });
  assert.equal(top.results, 4);
  assert.ok(top.entries < 60, `${top.entries} entries were read for 4 results`);
  const page = await cost(blobs, { resultsMax: 10 });
  assert.deepEqual(page, { results: 10, entries: 11 });
  const folder = await cost(blobs, { prefix: "b/", delimiter: "/" });
  assert.equal(folder.results, 2_000);
  assert.ok(folder.entries < 2_100, `${folder.entries} entries were read for 2,000 results`);
});

test("folders of one blob each cost little more than the blobs themselves", async () => {
  const blobs = await Blobs.open(false, IN_MEMORY);
  for (let at = 0; at < 1_500; at++) await blobs.put(`folder${at}/blob`, "");
  const { results, entries } = await cost(blobs, { delimiter: "/" });
  assert.equal(results, 1_500);
  assert.ok(entries < 3_000, `${entries} entries were read for 1,500 results`);
});

test("many hidden versions are skipped in several reads, and nothing is left out", async () => {
  const blobs = await Blobs.open(false, IN_MEMORY);
  blobs.settings = { ...blobs.settings, versioning: true };
  for (const name of ["a", "b"]) {
    for (let versions = 0; versions < 1_200; versions++) await blobs.put(name, "");
    await blobs.delete(name);
  }
  await blobs.put("c", "");
  const kinds = { ...NO_OTHERS, versionsOnly: true };
  const pages: string[][] = [];
  for await (const { items } of listBlobs(blobs.context, asked({ kinds }))) {
    pages.push(items.map(({ name }) => name));
  }
  assert.deepEqual(pages.flat(), ["a", "b", "c"]);
  assert.ok(pages.length >= 4, `${pages.length} bodies looked at 2,400 versions`);
});

test("a list fails if its container is deleted meanwhile", async () => {
  const blobs = await Blobs.open(false, IN_MEMORY);
  for (let at = 0; at < 300; at++) await blobs.put(String(at), "");
  const pages = listBlobs(blobs.context, asked({}));
  assert.ok((await pages.next()).value.items.length < 300);
  await deleteContainer(blobs.context, { ...blobs.use(""), leaseId: null });
  await assert.rejects(pages.next(), refused("ContainerNotFound"));
});

test("a caller without list permission is refused", async () => {
  const blobs = await Blobs.open(false, IN_MEMORY);
  const access = { kind: "account-sas", types: "co", letters: "rwd" } as const;
  await assert.rejects(once(blobs, { access }), refused("AuthorizationPermissionMismatch"));
});

test("a list of blobs with much metadata takes many small reads, between which others run", async () => {
  const blobs = await Blobs.open(false, IN_MEMORY);
  const metadata = Array.from({ length: 80 }, (_, at) => [`name${at}`, "x".repeat(94)] as const);
  const names = Array.from({ length: 300 }, (_, at) => String(at).padStart(3, "0"));
  for (const name of names) await blobs.put(name, "text", { metadata });
  const slices = await slicesDuring(async () => {
    const found = await once(blobs);
    assert.deepEqual([found.names, found.next], [names, null]);
  });
  assert.ok(slices >= 9, `${slices} slices`);
});
