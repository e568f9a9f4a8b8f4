import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { requireNoAzuriteData } from "./azurite-data.ts";

/** A folder with these files; a name that ends with a slash is a folder. */
async function folderWith(t: TestContext, ...names: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-azurite-"));
  t.after(() => rm(folder, { recursive: true }));
  for (const name of names) {
    if (name.endsWith("/")) await mkdir(join(folder, name));
    else await writeFile(join(folder, name), "{}");
  }
  return folder;
}

test("each file and folder of Azurite's data is recognized", async (t) => {
  const names = [
    "__azurite_db_blob__.json",
    "__azurite_db_blob_extent__.json",
    "__azurite_db_queue__.json",
    "__azurite_db_queue_extent__.json",
    "__azurite_db_table__.json",
    "__azurite_db_table__.json~",
    "__blobstorage__/",
    "__queuestorage__/",
    "__tablestorage__/",
  ];
  for (const name of names) {
    const folder = await folderWith(t, name);
    await assert.rejects(requireNoAzuriteData(folder, null), ({ message }: Error) => {
      assert.ok(message.startsWith(`${folder} holds data of Azurite (${name.replace("/", "")})`));
      assert.match(message, /--location.*docs\/guides\/switching-from-azurite\.md/);
      return true;
    });
    assert.equal((await readdir(folder)).length, 1, "nothing is added");
  }
});

test("other files, Azurite's settings file and a missing folder are not data", async (t) => {
  const folder = await folderWith(t, "AzuriteConfig", "notes.txt", "blobstorage/");
  await requireNoAzuriteData(folder, null);
  await requireNoAzuriteData(join(folder, "missing"), join(folder, "missing"));
});

test("the folder that Azurite would use is checked, too", async (t) => {
  const azurite = await folderWith(t, "__azurite_db_blob__.json");
  const missing = join(azurite, "lazuli-data");
  await assert.rejects(requireNoAzuriteData(missing, azurite), /holds data of Azurite/);
  await requireNoAzuriteData(missing, null);
});

test("a data folder of ours is served, whatever Azurite has added to it", async (t) => {
  const azurite = await folderWith(t, "__azurite_db_blob__.json");
  const ours = await folderWith(t, "lazuli.json", "__azurite_db_blob__.json");
  await requireNoAzuriteData(ours, azurite);
});
