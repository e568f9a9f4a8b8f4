// Writes the fixture of this version: `node dist/test/upgrade/make-fixture.js`, before a release.
// Never for a version that is released: its fixture is what later versions must open.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeFolder } from "./describe-folder.ts";
import { withFilledFolder } from "./fill-folder.ts";
import { fixturePath, packFolder, writeFixture } from "./fixture.ts";

const { version } = JSON.parse(readFileSync("package.json", "utf8"));
const folder = mkdtempSync(join(tmpdir(), "lazuli-fixture-"));
try {
  const path = fixturePath(version);
  const fixture = await withFilledFolder(folder, async (server) => {
    const description = await describeFolder(server);
    return { nowMs: server.clock.now(), files: packFolder(folder), description };
  });
  writeFixture(path, fixture);
  console.log(`${path}: ${Object.keys(fixture.description).length} descriptions`);
} finally {
  rmSync(folder, { recursive: true });
}
