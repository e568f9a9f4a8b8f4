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
        `Lazuli does not open. Bring it over: lazuli import ${shellWord(folder)} --location <new ` +
        "folder>, then start with that folder (docs/guides/switching-from-azurite.md).",
    );
  }
}

/** Whether a folder has data of Azurite in it. */
export async function isAzuriteFolder(folder: string): Promise<boolean> {
  return (await namesIn(folder)).some((name) => AZURITE_NAME.test(name));
}

/** A path as one writes it in a shell. */
function shellWord(path: string): string {
  return /^[\w./:\\-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

/** The names in a folder; none if it is missing or unreadable, which opening it reports later. */
async function namesIn(folder: string): Promise<string[]> {
  return await readdir(folder).catch(() => []);
}
