import { existsSync, readFileSync } from "node:fs";

/** The version of this package. Its package.json is above this file, bundled or not. */
export function version(): string {
  let file = new URL("./package.json", import.meta.url);
  while (!existsSync(file)) file = new URL("../package.json", file);
  return JSON.parse(readFileSync(file, "utf8")).version;
}
