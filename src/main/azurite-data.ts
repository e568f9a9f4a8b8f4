import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import { isDataFolder } from "../engine/embedded/data-folder.ts";
import { StartError } from "./start-error.ts";

/** Azurite's databases and their drafts, and its folders of bytes. */
const AZURITE_NAME = /^__(?:azurite_db_\w+__\.json|(?:blob|queue|table)storage__)/;
const SHOWN_MAX = 2;

/**
 * Refuses to make a data folder where Azurite has its data: the server would show none of it, as if
 * everything were lost. An existing data folder of ours is served.
 */
export async function requireNoAzuriteData(
  location: string,
  azuriteLocation: string | null,
): Promise<void> {
  if (await isDataFolder(location)) return;
  for (const folder of [location, azuriteLocation ?? location].map((path) => resolve(path))) {
    const found = (await namesIn(folder)).filter((name) => AZURITE_NAME.test(name)).sort();
    if (found.length === 0) continue;
    const shown = found.slice(0, SHOWN_MAX).join(", ");
    throw new StartError(
      `${folder} holds data of Azurite (${shown}${found.length > SHOWN_MAX ? ", …" : ""}), which ` +
        "Lazuli does not open: choose another folder with --location, and copy the data into it " +
        "as docs/guides/switching-from-azurite.md shows.",
    );
  }
}

/** The names in a folder; none if it is missing or unreadable, which opening it reports later. */
async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}
