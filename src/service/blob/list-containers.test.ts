import assert from "node:assert/strict";
import { test } from "node:test";
import { slicesDuring } from "../../base/fair-queue.fixture.ts";
import { OWNER } from "../../rules/access.ts";
import { NO_CONDITIONS } from "../../rules/conditions.ts";
import { altered } from "../../store/altered-store.fixture.ts";
import { Blobs } from "./blobs.fixture.ts";
import { createContainer } from "./create-container.ts";
import { deleteContainer } from "./delete-container.ts";
import { type ContainerPosition, type ListedContainer, listContainers } from "./list-containers.ts";

const DAY_MS = 24 * 3_600_000;
const USE = { at: { account: "account", container: "container" }, access: OWNER };

test("a list has every deleted container once, however many share a name", async () => {
  const blobs = await Blobs.open();
  for (let containers = 0; containers < 2_100; containers++) await deleteFor(blobs, 30);
  const found = await list(blobs);
  assert.equal(new Set(found.map(({ version }) => version)).size, 2_101);
  assert.deepEqual(
    found.map(({ deleted }) => deleted !== null),
    [false, ...Array<boolean>(2_100).fill(true)],
  );
});

test("expired containers that are not swept yet hide no others, and no read examines them all", async () => {
  const blobs = await Blobs.open();
  for (let containers = 0; containers < 4_100; containers++) await deleteFor(blobs, 1);
  await deleteFor(blobs, 30);
  blobs.clock.advance(DAY_MS);
  const { store } = blobs;
  let bodies = 0;
  const counting = {
    ...blobs.context,
    store: altered(store, {
      read: (body) => {
        bodies++;
        return store.read(body);
      },
    }),
  };
  const found = await list(blobs, counting);
  assert.deepEqual(
    found.map(({ deleted }) => deleted !== null),
    [false, true],
  );
  assert.equal(bodies, 3);
});

/** Deletes the container and creates it again. */
async function deleteFor(blobs: Blobs, containerRetentionDays: number): Promise<void> {
  blobs.settings = { ...blobs.settings, containerRetentionDays };
  await deleteContainer(blobs.context, { ...USE, conditions: NO_CONDITIONS, leaseId: null });
  await createContainer(blobs.context, { ...USE, publicAccess: "none", metadata: [] });
}

/** Lists all containers, with pages that end within one store read and across several. */
async function list(blobs: Blobs, context = blobs.context): Promise<ListedContainer[]> {
  const found: ListedContainer[] = [];
  let after: ContainerPosition | null = null;
  do {
    const pages = listContainers(context, {
      account: "account",
      access: OWNER,
      prefix: "",
      after,
      resultsMax: 700,
      deleted: true,
      system: false,
    });
    for await (const page of pages) {
      found.push(...page.containers);
      after = page.next;
    }
  } while (after !== null);
  return found;
}

test("a list of containers with much metadata takes many small reads and has each once", async () => {
  const blobs = await Blobs.open();
  const metadata = [["name", "x".repeat(8_000)]] as const;
  for (let at = 0; at < 100; at++) {
    const container = `container-${at}`;
    await createContainer(blobs.context, {
      ...USE,
      at: { account: "account", container },
      publicAccess: "none",
      metadata,
    });
  }
  const slices = await slicesDuring(async () => {
    assert.equal(new Set((await list(blobs)).map(({ name }) => name)).size, 101);
  });
  assert.ok(slices >= 4, `${slices} slices`);
});
