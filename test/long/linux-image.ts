import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { skipWithoutDebianPackage, skipWithoutDebianProgram } from "../programs/debian-program.ts";
import { THIS_HOST } from "../programs/host.ts";
import { type ArchiveFile, cpioArchive } from "./cpio-archive.ts";

/** What depends on the newest kernel that is made for virtual machines. */
const KERNEL_PACKAGE = "linux-image-cloud-amd64";
const MODULES_FOLDER = join("root", "lib", "modules");
/** Beside what these depend on. What the kernel has built in is no file, and is left out. */
const MODULES = [
  ...["virtio_pci", "virtio_net", "nls_utf8", "cifs"],
  ...["aes_generic", "aesni-intel", "ecb", "ctr", "cmac", "ghash-generic", "gcm", "ccm", "seqiv"],
  ...["hmac", "md5", "sha256_generic", "sha512_generic"],
];

/** Why no Linux can be started here; null if one can. */
export function skipWithoutLinux({ platform, arch } = THIS_HOST): string | null {
  if (platform !== "linux" || arch !== "x64") return "needs Linux on x64";
  return (
    skipWithoutDebianProgram("qemu-system-x86_64", "qemu-system-x86") ??
    skipWithoutDebianPackage("a static busybox", "busybox-static", "dpkg -s busybox-static") ??
    skipWithoutDebianProgram("depmod", "kmod") ??
    skipWithoutDebianProgram("apt-cache", "apt")
  );
}

/** A Linux kernel that is not installed, and what it loads before it has a disk. */
export class LinuxImage {
  readonly #folder: string;
  readonly kernel: string;

  private constructor(folder: string) {
    this.#folder = folder;
    const boot = join(folder, "root", "boot");
    this.kernel = join(boot, readdirSync(boot).find((name) => name.startsWith("vmlinuz")) ?? "");
  }

  /** Fetches the kernel of Debian's packages. */
  static fetch(): LinuxImage {
    const folder = mkdtempSync(join(tmpdir(), "lazuli-linux-"));
    const depends = execFileSync("apt-cache", ["depends", KERNEL_PACKAGE], { encoding: "utf8" });
    const kernelPackage = /Depends: (linux-image-\S+)/.exec(depends)?.[1];
    if (kernelPackage === undefined) throw new Error(`no kernel behind ${KERNEL_PACKAGE}`);
    execFileSync("apt-get", ["-qq", "download", kernelPackage], { cwd: folder, stdio: "pipe" });
    const archive = readdirSync(folder).find((name) => name.endsWith(".deb")) ?? "";
    mkdirSync(join(folder, "root"));
    execFileSync("dpkg-deb", ["-x", archive, "root"], { cwd: folder });
    const [version = ""] = readdirSync(join(folder, MODULES_FOLDER));
    execFileSync("depmod", ["-b", "root", version], { cwd: folder });
    return new LinuxImage(folder);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** The file system in memory that the kernel starts with: `script` is all that runs. */
  initialDisk(script: string): Buffer {
    const modules = this.#modules();
    const load = modules.map((path) => `insmod /modules/${basename(path)}`);
    const init = ["#!/bin/busybox sh", "/bin/busybox --install -s /bin", ...load, script];
    const files: ArchiveFile[] = [
      ...["bin", "proc", "sys", "dev", "tmp", "mnt", "modules"].map((path) => ({ path })),
      { path: "init", content: Buffer.from(`${init.join("\n")}\n`) },
      { path: "bin/busybox", content: readFileSync("/bin/busybox") },
    ];
    for (const path of modules) {
      files.push({ path: `modules/${basename(path)}`, content: readFileSync(path) });
    }
    return cpioArchive(files);
  }

  /** Files of modules, each behind those that it needs. */
  #modules(): string[] {
    const parent = join(this.#folder, MODULES_FOLDER);
    const folder = join(parent, readdirSync(parent)[0] ?? "");
    const needs = new Map<string, string[]>();
    for (const line of readFileSync(join(folder, "modules.dep"), "utf8").trim().split("\n")) {
      const [path = "", others = ""] = line.split(":");
      needs.set(path, others.trim() === "" ? [] : others.trim().split(" "));
    }
    const found = new Set<string>();
    const add = (path: string) => {
      for (const other of needs.get(path) ?? []) add(other);
      found.add(path);
    };
    for (const name of MODULES) {
      for (const path of needs.keys()) if (basename(path) === `${name}.ko`) add(path);
    }
    return [...found].map((path) => join(folder, path));
  }
}
