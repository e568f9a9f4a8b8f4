import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobServiceClient, type ContainerClient } from "@azure/storage-blob";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { assertFitsAll, type ConsolePage, skipWithoutBrowser, waitUntil } from "./browser.ts";
import { browserOfFile, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const openPage = browserOfFile();

type Test = Parameters<typeof startedConsole>[0];

interface Opened extends ConsolePage {
  readonly container: ContainerClient;
  /** Opens the details of a blob. */
  details(name: string): Promise<ReturnType<ConsolePage["page"]["getByRole"]>>;
}

/** A container with blobs, opened in the page. */
async function opened(
  t: Test,
  texts: Readonly<Record<string, readonly [string | Buffer, string]>>,
  versioning = true,
) {
  const blob = { versioning, containerRetentionDays: 7 };
  const server = await startedConsole(t, {
    config: { accounts: [{ name: ACCOUNT, keys: [KEY], blob }] },
  });
  const service = BlobServiceClient.fromConnectionString(server.connectionString);
  await service.setProperties({ deleteRetentionPolicy: { enabled: true, days: 7 } });
  const container = service.getContainerClient("box");
  await container.create();
  for (const [name, [text, blobContentType]] of Object.entries(texts)) {
    const options = { blobHTTPHeaders: { blobContentType } };
    await container.getBlockBlobClient(name).uploadData(Buffer.from(text), options);
  }
  const console_ = await openPage(t, server.consoleUrl);
  const { page } = console_;
  await page.getByRole("link", { name: "Browse" }).click();
  await page.getByRole("button", { name: "box", exact: true }).click();
  const details = async (name: string) => {
    await page.getByRole("button", { name, exact: true }).click();
    const region = page.getByRole("region", { name: /^Blob / });
    await region.getByText("ETag", { exact: true }).waitFor();
    return region;
  };
  return { ...console_, container, details } satisfies Opened;
}

const TEXT = ["one", "text/plain"] as const;
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAEklEQVR4nGP4z8AARAwQ+v9/AB3qA/3Rl0nMAAAAAElFTkSuQmCC",
  "base64",
);

test("texts, JSON, comma-separated values and images are shown as what they are", {
  skip,
}, async (t) => {
  const { page, errors, details } = await opened(t, {
    "a.txt": ["one\ntwo", "text/plain"],
    "b.json": ['{"deep":{"er":[1,2]}}', "application/json"],
    "c.csv": ['city,people\n"Bern, CH",134000\n', "text/csv"],
    "d.png": [PNG, "image/png"],
    "e.txt": ["", "text/plain"],
    "e.csv": ["", "text/csv"],
    "f.bin": ["bytes", "application/octet-stream"],
    "g.txt": [`${"x".repeat(70_000)}end`, "text/plain"],
    "h.csv": [`a,b\n${"1,2\n".repeat(20_000)}`, "text/csv"],
  });
  const preview = page.getByRole("region", { name: "Preview" });
  await details("a.txt");
  assert.equal(await preview.locator("pre").textContent(), "one\ntwo");
  await details("b.json");
  await preview.getByText('"er": [').waitFor();
  assert.match((await preview.locator("pre").textContent()) ?? "", /^{\n {2}"deep": {\n/);
  await details("c.csv");
  await preview.getByRole("columnheader", { name: "people" }).waitFor();
  assert.deepEqual(await preview.getByRole("cell").allTextContents(), ["Bern, CH", "134000"]);
  await assertFitsAll(page);
  await details("e.csv");
  await preview.getByText("The blob is empty.").waitFor();
  await details("d.png");
  await preview.getByAltText("Preview of the blob").waitFor();
  await waitUntil(page, "document.querySelector('.preview img')?.naturalWidth === 3");
  await details("e.txt");
  await preview.getByText("The blob is empty.").waitFor();
  await details("g.txt");
  await preview.getByText("The first 64 KiB.").waitFor();
  assert.equal((await preview.locator("pre").textContent())?.length, 65_536);
  await details("h.csv");
  await preview.getByRole("cell").first().waitFor();
  assert.equal(await preview.getByRole("row").count(), 201);
  await details("f.bin");
  await preview.waitFor({ state: "detached" });
  assert.deepEqual(errors, []);
});

test("metadata is saved with the ETag that was read: a faster client wins, and no edit is lost", {
  skip,
}, async (t) => {
  const { errors, container, details } = await opened(t, { "a.txt": TEXT });
  const blob = container.getBlockBlobClient("a.txt");
  const region = await details("a.txt");
  await region.getByRole("button", { name: "Add to metadata" }).click();
  await region.getByLabel("Metadata: name").fill("colour");
  await region.getByLabel("Metadata: value of colour").fill("blue");
  await region.getByRole("button", { name: "Save metadata" }).click();
  await region.getByRole("button", { name: "Save metadata" }).waitFor({ state: "detached" });
  assert.deepEqual((await blob.getProperties()).metadata, { colour: "blue" });
  await region.getByLabel("Metadata: value of colour").fill("gre");
  await blob.setMetadata({ colour: "red" });
  // The page reads the blob again, and still does not overwrite what the user has not seen.
  await region.getByLabel("Tier").selectOption("Cool");
  await region
    .locator("dt", { hasText: /^Tier$/ })
    .locator("+ dd", { hasText: "Cool" })
    .waitFor();
  await region.getByLabel("Metadata: value of colour").fill("green");
  await region.getByRole("button", { name: "Save metadata" }).click();
  await region.getByText("412 ConditionNotMet").waitFor();
  assert.deepEqual((await blob.getProperties()).metadata, { colour: "red" });
  assert.equal(await region.getByLabel("Metadata: value of colour").inputValue(), "green");
  const { etag = "" } = await blob.getProperties();
  await region.getByRole("button", { name: "Read again" }).click();
  await region.getByText(`Saved only if the ETag is still ${etag}.`).waitFor();
  await region.getByRole("button", { name: "Save metadata" }).click();
  await region.getByRole("button", { name: "Save metadata" }).waitFor({ state: "detached" });
  assert.deepEqual((await blob.getProperties()).metadata, { colour: "green" });
  await region.getByRole("button", { name: "Remove colour" }).click();
  await region.getByRole("button", { name: "Save metadata" }).click();
  await region.getByRole("button", { name: "Save metadata" }).waitFor({ state: "detached" });
  assert.deepEqual((await blob.getProperties()).metadata, {});
  assert.deepEqual(
    errors.filter((text) => !text.includes("412")),
    [],
  );
});

test("tags and the tier of a blob are changed", { skip }, async (t) => {
  const { errors, container, details } = await opened(t, { "a.txt": TEXT });
  const blob = container.getBlockBlobClient("a.txt");
  const region = await details("a.txt");
  await region.getByRole("button", { name: "Add to tags" }).click();
  await region.getByLabel("Tags: name").fill("project");
  await region.getByLabel("Tags: value of project").fill("a b");
  await region.getByRole("button", { name: "Save tags" }).click();
  await region.getByRole("button", { name: "Save tags" }).waitFor({ state: "detached" });
  assert.deepEqual((await blob.getTags()).tags, { project: "a b" });
  const tier = region.getByLabel("Tier");
  const shown = region.locator("dt", { hasText: /^Tier$/ }).locator("+ dd");
  await tier.selectOption("Cool");
  await shown.getByText("Cool").waitFor();
  assert.equal((await blob.getProperties()).accessTier, "Cool");
  await tier.selectOption("Archive");
  await shown.getByText("Archive").waitFor();
  await tier.selectOption("Hot");
  await region.getByText("rehydrate-pending-to-hot").waitFor();
  assert.equal((await blob.getProperties()).archiveStatus, "rehydrate-pending-to-hot");
  assert.deepEqual(
    // The preview of an archived blob is refused.
    errors.filter((text) => !text.includes("409")),
    [],
  );
});

test("snapshots and versions are opened, made current and deleted", { skip }, async (t) => {
  const { page, errors, container, details } = await opened(t, { "a b.txt": TEXT });
  const blob = container.getBlockBlobClient("a b.txt");
  const region = await details("a b.txt");
  await region.getByRole("button", { name: "Snapshot" }).click();
  await page.getByLabel("Flat").check();
  await page.getByLabel("Snapshots, versions and deleted").check();
  const snapshot = page.getByRole("button", { name: /^a b\.txt \(snapshot / });
  await snapshot.waitFor();
  await blob.upload("two", 3, { blobHTTPHeaders: { blobContentType: "text/plain" } });
  await page.getByRole("button", { name: "Refresh" }).click();
  await page
    .getByRole("button", { name: /^a b\.txt \(version / })
    .first()
    .click();
  const preview = page.getByRole("region", { name: "Preview" });
  await preview.getByText("one", { exact: true }).waitFor();
  // A version cannot be edited.
  assert.equal(await region.getByLabel("Tier").count(), 0);
  assert.equal(await region.getByRole("button", { name: "Add to metadata" }).count(), 0);
  await region.getByRole("button", { name: "Make current" }).click();
  await region.waitFor({ state: "detached" });
  assert.equal((await blob.downloadToBuffer()).toString(), "one");
  await snapshot.click();
  await preview.getByText("one", { exact: true }).waitFor();
  await region.getByRole("button", { name: "Delete" }).click();
  await page.getByText("This revision goes. The blob itself stays.").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: /^a b\.txt \(snapshot [^,]+, deleted\)$/ }).waitFor();
  assert.equal(await blob.exists(), true);
  assert.deepEqual(errors, []);
});

for (const versioning of [false, true]) {
  const how = versioning ? "with versions, by making one current" : "with its snapshots";
  test(`a deleted blob can be brought back ${how}`, { skip }, async (t) => {
    const { page, errors, container, details } = await opened(t, { "a.txt": TEXT }, versioning);
    const blob = container.getBlockBlobClient("a.txt");
    await blob.createSnapshot();
    await page.getByLabel("Flat").check();
    await page.getByLabel("Snapshots, versions and deleted").check();
    const region = await details("a.txt");
    await region.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await region.waitFor({ state: "detached" });
    assert.equal(await blob.exists(), false);
    // Whichever of the deleted rows is opened, all of them come back.
    await page.getByRole("button", { name: /^a\.txt \(snapshot [^,]+, deleted\)$/ }).click();
    await region.getByRole("button", { name: "Undelete" }).click();
    await region.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^a\.txt \(snapshot [^,]+\)$/ }).waitFor();
    if (versioning) {
      await page
        .getByRole("button", { name: /^a\.txt \(version [^,]+\)$/ })
        .first()
        .click();
      await region.getByRole("button", { name: "Make current" }).click();
      await region.waitFor({ state: "detached" });
    }
    assert.equal((await blob.downloadToBuffer()).toString(), "one");
    assert.deepEqual(errors, []);
  });
}

test("a deleted container can be brought back, and not be opened before", { skip }, async (t) => {
  const { page, errors, container } = await opened(t, { "a.txt": TEXT });
  await page.getByRole("link", { name: "containers" }).click();
  await page.getByRole("button", { name: "Delete box" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("There is no container yet").waitFor();
  assert.equal(await container.exists(), false);
  await page.getByLabel("Deleted ones").check();
  const row = page.getByRole("row").filter({ hasText: /deleted, [67] days left/ });
  await row.getByRole("cell", { name: "box", exact: true }).waitFor();
  assert.equal(await row.getByRole("button", { name: "box", exact: true }).count(), 0);
  await assertFitsAll(page);
  await row.getByRole("button", { name: "Undelete box" }).click();
  await page.getByRole("button", { name: "box", exact: true }).waitFor();
  assert.equal(await container.getBlobClient("a.txt").exists(), true);
  assert.deepEqual(errors, []);
});

test("a lease shows in the list and in the details", { skip }, async (t) => {
  const { page, errors, container, details } = await opened(t, { "a.txt": TEXT });
  await container.getBlobClient("a.txt").getBlobLeaseClient().acquireLease(-1);
  await page.getByRole("button", { name: "Refresh" }).click();
  const row = page.getByRole("row").filter({ hasText: "a.txt" });
  await row.getByRole("cell", { name: "leased" }).waitFor();
  const region = await details("a.txt");
  await region.getByText("leased", { exact: true }).waitFor();
  await region.getByText("infinite", { exact: true }).waitFor();
  // The server's words, also where the page could have known.
  await region.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByRole("dialog").getByText("412 LeaseIdMissing").waitFor();
  assert.deepEqual(
    errors.filter((text) => !text.includes("412")),
    [],
  );
});
