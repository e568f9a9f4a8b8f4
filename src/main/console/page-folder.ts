import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The built page: beside the bundle, or where the build puts the bundle. */
const PLACES = ["./console/", "../../../bundle/console/"];

export function pageFolder(): string {
  const folders = PLACES.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  const found = folders.find((folder) => existsSync(`${folder}index.html`));
  if (found === undefined) throw new Error(`the console's page is not in ${folders.join(", ")}`);
  return found;
}
