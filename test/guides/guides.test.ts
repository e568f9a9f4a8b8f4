import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { after, suite, test } from "node:test";
import { freePort } from "../command/free-ports.ts";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";
import { type Block, readBlocks } from "./blocks.ts";
import { Reader } from "./reader.ts";

const GUIDES = "docs/guides";
/** Its reader has a folder of the emulator: switching.test.ts follows it with one. */
const SWITCHING = "switching-from-azurite.md";
const PAGES = [
  "README.md",
  "docs/operate/README.md",
  ...readdirSync(GUIDES)
    .filter((name) => name.endsWith(".md") && name !== SWITCHING)
    .map((name) => `${GUIDES}/${name}`),
];

/** Programs that guides use, with their Debian packages. */
const PROGRAMS = {
  curl: "curl",
  nginx: "nginx-light",
  openssl: "openssl",
  rclone: "rclone",
  smbclient: "smbclient",
};

const proxyPort = await freePort();
for (const page of PAGES) {
  suite(page, () => {
    const reader = new Reader(proxyPort);
    after(() => reader.close());
    for (const block of readBlocks(page)) {
      if (block.action.kind === "look") continue;
      const [first = ""] = block.text.split("\n");
      test(`${block.at} does what it says: ${first}`, { skip: reasonToSkip(block) ?? false }, () =>
        reader.follow(block),
      );
    }
  });
}

function reasonToSkip({ language, text, action }: Block): string | null {
  if (action.kind === "skip") return action.reason;
  if (language !== "sh") return null;
  const uses = (program: string) => new RegExp(`(?:^|[(|]) *${program} `, "m").test(text);
  // Not installed by the test, as it needs its own Python and hundreds of packages.
  if (uses("az") && spawnSync("sh", ["-c", "command -v az"]).status !== 0) {
    return "az is not installed: install Debian's azure-cli to run this";
  }
  if (uses("nginx") && process.getuid?.() !== 0) return "Debian's nginx writes to folders of root";
  for (const [program, debianPackage] of Object.entries(PROGRAMS)) {
    const reason = uses(program) ? skipWithoutDebianProgram(program, debianPackage) : null;
    if (reason !== null) return reason;
  }
  return null;
}
