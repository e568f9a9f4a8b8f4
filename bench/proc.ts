import { existsSync, readdirSync, readFileSync } from "node:fs";

/** USER_HZ: the unit of times in /proc on Linux, on every architecture Node runs on. */
const TICKS_PER_SECOND = 100;

/** Throws on systems without /proc, before anything is started or installed. */
export function requireProc(folder = "/proc"): void {
  if (existsSync(`${folder}/self/stat`)) return;
  throw new Error(
    `The bench reads processor time and memory from ${folder}, which this system does not have: ` +
      "run it on Linux.",
  );
}

/**
 * Returns the processor time of a process and all its descendants, ended or not, in microseconds.
 */
export function cpuMicrosOfTree(pid: number): number {
  let micros = 0;
  for (const member of treeOf(pid)) micros += microsOf(member.own + member.endedChildren);
  return micros;
}

/** Returns the processor time of this process and its ended children, in microseconds. */
export function cpuMicrosOfGenerator(): number {
  const self = statOf("self");
  return self === null ? 0 : microsOf(self.own + self.endedChildren);
}

export interface Memory {
  /** Heap and buffers. */
  readonly ownBytes: number;
  /**
   * All resident memory: includes program code, and pages of mapped files that the system can drop.
   */
  readonly residentBytes: number;
}

export function memoryOfTree(pid: number): Memory {
  let ownBytes = 0;
  let residentBytes = 0;
  for (const member of treeOf(pid)) {
    const status = readFileSync(`/proc/${member.pid}/status`, "utf8");
    ownBytes += kibIn(status, "RssAnon") * 1024;
    residentBytes += kibIn(status, "VmRSS") * 1024;
  }
  return { ownBytes, residentBytes };
}

/** Returns the peak resident memory, including mapped files. */
export function peakBytesOf(pid: number): number {
  return kibIn(readFileSync(`/proc/${pid}/status`, "utf8"), "VmHWM") * 1024;
}

interface Stat {
  readonly pid: number;
  readonly parent: number;
  /** User and system time, in ticks. */
  readonly own: number;
  readonly endedChildren: number;
}

function treeOf(root: number): Stat[] {
  const all = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(statOf)
    .filter((stat) => stat !== null);
  const found = all.filter((stat) => stat.pid === root);
  for (const parent of found) found.push(...all.filter((stat) => stat.parent === parent.pid));
  return found;
}

/** Returns null if the process is gone. */
function statOf(pid: string): Stat | null {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null;
  }
  // The program's name is in brackets and may contain anything.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const at = (index: number) => Number(fields[index]);
  return {
    pid: Number.parseInt(text, 10),
    parent: at(1),
    own: at(11) + at(12),
    endedChildren: at(13) + at(14),
  };
}

function microsOf(ticks: number): number {
  return (ticks * 1_000_000) / TICKS_PER_SECOND;
}

function kibIn(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? 0);
}
