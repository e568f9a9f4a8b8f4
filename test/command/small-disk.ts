import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { THIS_HOST } from "../programs/host.ts";

export type FileSystem = "ext4" | "tmpfs";

/** A small file system for one test, which can be filled without harm. */
export class SmallDisk {
  readonly folder: string;
  readonly #scratch: string;

  private constructor(scratch: string, folder: string) {
    this.#scratch = scratch;
    this.folder = folder;
  }

  /** Mounts one; returns the reason if that is impossible here. */
  static mount(fileSystem: FileSystem, mib: number, host = THIS_HOST): SmallDisk | string {
    if (host.platform !== "linux" || !host.isRoot) {
      return "a small disk can be mounted by root on Linux only";
    }
    const scratch = mkdtempSync(join(tmpdir(), "lazuli-disk-"));
    const folder = join(scratch, "disk");
    const image = join(scratch, "image");
    const steps =
      fileSystem === "tmpfs"
        ? [["mount", "-t", "tmpfs", "-o", `size=${mib}m`, "tmpfs", folder]]
        : [
            ["truncate", "-s", `${mib}M`, image],
            ["mkfs.ext4", "-q", "-m", "0", image],
            ["mount", "-o", "loop", image, folder],
          ];
    for (const [command = "", ...args] of [["mkdir", folder], ...steps]) {
      const done = spawnSync(command, args, { encoding: "utf8" });
      if (done.status === 0) continue;
      rmSync(scratch, { recursive: true, force: true });
      return `${command} does not work here: ${done.error?.message ?? done.stderr.trim()}`;
    }
    return new SmallDisk(scratch, folder);
  }

  get freeBytes(): number {
    const { bfree, bsize } = statfsSync(this.folder);
    return bfree * bsize;
  }

  unmount(): void {
    spawnSync("umount", ["-l", this.folder]);
    rmSync(this.#scratch, { recursive: true, force: true });
  }
}
