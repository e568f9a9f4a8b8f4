import { randomBytes } from "node:crypto";
import { closeSync, constants, openSync } from "node:fs";
import { readdir, rename, stat, unlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { join } from "node:path";

/**
 * A lock that lets one process at a time use a folder. Node has no flock, and a file with a process
 * id outlives `kill -9` and means nothing in another container. So the lock is something that the
 * kernel releases when the process ends, in whatever way:
 *
 * - On macOS and Windows, a file that is opened exclusively.
 * - On Linux, a socket whose abstract name is the folder's device and inode, and which can be bound
 *   once. Such names are per network namespace. For containers that share only the folder there is
 *   also a beacon: a socket in the folder that answers as long as its process lives. File systems
 *   without sockets (some mounts of a host's folder into a virtual machine) have no beacon.
 */
export interface FolderLock {
  release(): Promise<void>;
}

/** Whether a file in a folder is one of those that `lockFolder` makes, or may leave behind. */
export function isLockFile(name: string): boolean {
  return /^\.?lock(-[0-9a-f]{16})?$/.test(name);
}

/** Opens a file, as `openSync` does. A test puts another system in its place. */
export type OpenFile = (path: string, flags: number, mode: number) => number;

/** Locks a folder, or returns null if another process has the lock. */
export async function lockFolder(
  folder: string,
  platform: NodeJS.Platform = process.platform,
  openFile: OpenFile = openSync,
): Promise<FolderLock | null> {
  if (platform === "linux") return lockBySockets(folder);
  return lockByOpening(join(folder, "lock"), exclusiveFlag(platform), openFile);
}

/** Opens a file for one process only. Node has no names for these flags. */
function exclusiveFlag(platform: NodeJS.Platform): number {
  switch (platform) {
    case "win32":
      return 0x1000_0000; // UV_FS_O_EXLOCK of libuv
    case "darwin":
    case "freebsd":
    case "netbsd":
    case "openbsd":
      return 0x20; // O_EXLOCK
    default:
      // Elsewhere the bits mean something else, and two servers would share the folder.
      throw new Error(
        `a folder cannot be locked on ${platform}: use Linux, macOS or Windows, or keep the data ` +
          "in memory with --inMemoryPersistence",
      );
  }
}

function lockByOpening(path: string, exclusive: number, openFile: OpenFile): FolderLock | null {
  // Without O_NONBLOCK, which Windows lacks, macOS would wait for the other process.
  const { O_RDWR, O_CREAT, O_NONBLOCK = 0 } = constants;
  try {
    const file = openFile(path, O_RDWR | O_CREAT | O_NONBLOCK | exclusive, 0o600);
    return { release: async () => closeSync(file) };
  } catch (error) {
    if (isOneOf(error, "EAGAIN", "EBUSY")) return null;
    throw error;
  }
}

async function lockBySockets(folder: string): Promise<FolderLock | null> {
  const { dev, ino } = await stat(folder, { bigint: true });
  const name = await listen(`\0lazuli-${dev}-${ino}`).catch((error) => {
    if (isOneOf(error, "EADDRINUSE")) return null;
    throw error;
  });
  if (name === null) return null;
  const beacon = await Beacon.light(folder);
  const release = async () => {
    await beacon.putOut();
    await stop(name);
  };
  if (await beacon.isAlone()) return { release };
  await release();
  return null;
}

/**
 * A socket in the folder that answers while this process lives. Each process lights its beacon
 * before it looks for others, so of two that start together at least one sees the other. A beacon
 * that does not answer is dead and is removed.
 */
class Beacon {
  /** A descriptor, because a socket's path must be short: `/proc/self/fd/<number>/…` always is. */
  readonly #folder: number;
  readonly #name = `lock-${randomBytes(8).toString("hex")}`;
  #server: Server | null = null;

  private constructor(folder: string) {
    this.#folder = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  }

  static async light(folder: string): Promise<Beacon> {
    const beacon = new Beacon(folder);
    const unlit = beacon.#path(`.${beacon.#name}`);
    beacon.#server = await listen(unlit).catch(() => null);
    // Rename it once it answers, so that no process sees it before.
    if (beacon.#server !== null) await rename(unlit, beacon.#path(beacon.#name));
    return beacon;
  }

  async isAlone(): Promise<boolean> {
    for (const name of await readdir(this.#path(""))) {
      if (!/^lock-[0-9a-f]{16}$/.test(name) || name === this.#name) continue;
      if (await answers(this.#path(name))) return false;
      await unlink(this.#path(name)).catch(() => undefined);
    }
    return true;
  }

  async putOut(): Promise<void> {
    if (this.#server !== null) {
      await unlink(this.#path(this.#name)).catch(() => undefined);
      await stop(this.#server);
    }
    closeSync(this.#folder);
  }

  #path(name: string): string {
    return `/proc/self/fd/${this.#folder}/${name}`;
  }
}

function listen(path: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", reject);
    server.listen(path, () => resolve(server.unref()));
  });
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once("error", (error) => resolve(!isOneOf(error, "ECONNREFUSED", "ENOENT")));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
  });
}

function isOneOf(error: unknown, ...codes: string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}
