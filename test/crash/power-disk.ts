import { type ChildProcess, execFile, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { skipWithoutDebianPackage, skipWithoutDebianProgram } from "../programs/debian-program.ts";
import { THIS_HOST } from "../programs/host.ts";

const run = promisify(execFile);
const SOURCE = fileURLToPath(new URL("../../../test/crash/power-disk.c", import.meta.url));
/** Most of the image is never written, and takes no space. */
const IMAGE_BYTES = 8 * 1024 ** 3;
/** Inodes of the file system. Fewer make it faster to create. */
const INODES = 4_096;

/** Why no such disk is possible here; null if it is. */
export function skipWithoutPowerDisk({ platform, isRoot } = THIS_HOST): string | null {
  if (platform !== "linux" || !isRoot)
    return "a disk whose power can be cut needs Linux, and root to mount it";
  for (const device of ["/dev/fuse", "/dev/loop-control"]) {
    if (!existsSync(device)) return `a disk whose power can be cut needs ${device}`;
  }
  return (
    skipWithoutDebianProgram("gcc", "gcc") ??
    skipWithoutDebianProgram("pkg-config", "pkg-config") ??
    skipWithoutDebianProgram("fusermount3", "fuse3") ??
    skipWithoutDebianProgram("mkfs.ext4", "e2fsprogs") ??
    skipWithoutDebianPackage("libfuse3", "libfuse3-dev", "pkg-config --exists fuse3")
  );
}

/** Runs `power-disk.c`, which answers each line of input with one line. */
class Daemon {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;

  constructor(program: string, args: readonly string[]) {
    // Ctrl-C must not reach it: the disk is unmounted first.
    const stdio: StdioOptions = ["pipe", "pipe", "inherit"];
    const child = spawn(program, args, { stdio, detached: true });
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout as Readable })[Symbol.asyncIterator]();
    this.#ended = once(child, "close");
  }

  async answer(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done) throw new Error("power-disk ended too soon");
    return value;
  }

  ask(command: string): Promise<string> {
    this.#child.stdin?.write(`${command}\n`);
    return this.answer();
  }

  async ended(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }
}

/** An ext4 file system on a disk with a volatile write cache, whose power can be cut. */
export class PowerDisk {
  /** Where the file system is mounted while the disk is on. */
  readonly mountPoint: string;
  readonly #program: string;
  readonly #image: string;
  readonly #blocks: string;
  #daemon: Daemon | null = null;

  private constructor(folder: string) {
    this.mountPoint = join(folder, "mounted");
    this.#program = join(folder, "power-disk");
    this.#image = join(folder, "image");
    this.#blocks = join(folder, "blocks");
  }

  /** Makes a disk with an empty file system, in an empty folder. */
  static async make(folder: string): Promise<PowerDisk> {
    const disk = new PowerDisk(folder);
    const { stdout } = await run("pkg-config", ["--cflags", "--libs", "fuse3"]);
    const libraries = stdout.trim().split(/\s+/);
    await run("gcc", ["-O2", "-Wall", "-o", disk.#program, SOURCE, ...libraries]);
    for (const place of [disk.mountPoint, disk.#blocks]) await mkdir(place);
    const image = await open(disk.#image, "w");
    await image.truncate(IMAGE_BYTES);
    await image.close();
    const now = "nodiscard,lazy_itable_init=0,lazy_journal_init=0";
    await run("mkfs.ext4", ["-q", "-N", String(INODES), "-E", now, disk.#image]);
    return disk;
  }

  async powerOn(): Promise<void> {
    const daemon = new Daemon(this.#program, [this.#image, this.#blocks]);
    await daemon.answer();
    this.#daemon = daemon;
    await run("mount", ["-o", "loop", join(this.#blocks, "disk"), this.mountPoint]);
  }

  /** Makes syncs succeed without doing anything, like a disk that lies. */
  async lie(): Promise<void> {
    await this.#daemon?.ask("lie");
  }

  /**
   * Cuts the power soon: drops or tears unsynced writes, and fails all later ones. Returns what it
   * did.
   */
  async cut(seed: number): Promise<string> {
    return (await this.#daemon?.ask(`cut ${seed}`)) ?? "";
  }

  /** Switches off. Data in the page cache is lost after a cut, and written without one. */
  async powerOff(): Promise<void> {
    if (this.#daemon === null) return;
    await run("umount", [this.mountPoint]).catch(() => {});
    await run("fusermount3", ["-u", "-z", this.#blocks]);
    await this.#daemon.ended();
    this.#daemon = null;
  }
}
