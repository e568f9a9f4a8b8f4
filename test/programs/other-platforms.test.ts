import assert from "node:assert/strict";
import { test } from "node:test";
import { skipWithoutFailures } from "../command/fail-once.ts";
import { SmallDisk } from "../command/small-disk.ts";
import { skipWithoutPowerDisk } from "../crash/power-disk.ts";
import { skipWithoutLinux } from "../long/linux-image.ts";
import { skipWithoutDebianPackage } from "./debian-program.ts";
import type { Host } from "./host.ts";

/** Root on macOS, where nothing must be mounted or installed either. */
const OTHER_HOSTS: readonly Host[] = [
  { platform: "win32", arch: "x64", isRoot: false },
  { platform: "darwin", arch: "arm64", isRoot: true },
];

/** What asks for Linux, root, a mount or a package, and the reason that is given without it. */
const NEEDS: Readonly<Record<string, (host: Host) => unknown>> = {
  "a call that fails": skipWithoutFailures,
  "a small disk": (host) => SmallDisk.mount("tmpfs", 1, host),
  "a power cut": skipWithoutPowerDisk,
  "a Linux kernel": skipWithoutLinux,
};

for (const host of OTHER_HOSTS) {
  for (const [what, skip] of Object.entries(NEEDS)) {
    test(`a test that needs ${what} is skipped on ${host.platform}, with a reason`, () => {
      assert.match(String(skip(host)), /^[^\n]*Linux[^\n]*$/);
    });
  }

  test(`a missing program skips its test on ${host.platform} and is not installed`, () => {
    const reason = skipWithoutDebianPackage("a thing", "no-such-package", "false", host);
    assert.match(String(reason), /^a thing is not installed: install it \([^\n]*\), or [^\n]*$/);
  });
}
