import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startChild } from "./children.ts";
import { cpuMicrosOfTree } from "./proc.ts";
import type { Reading } from "./reading.ts";
import { type Bench, below, type Row, timesBlob } from "./row.ts";
import { ROOT, type Target } from "./server.ts";
import { ACCOUNT, KEY } from "./shared-key.ts";

const SMALL_BYTES = 4 * 1024;
const FOLDERS = 100;
const FILES_PER_FOLDER = 1_000;
const LARGE_BYTES = 64 * 1024 * 1024;
const LARGE_FILES = 8;
const MIB = 1024 * 1024;

/** What the rows compare with: the same requests by the generator alone. */
type Beside = (bench: Bench) => Promise<Reading>;

/** Import and export of many small blobs, and of few large ones. `--long` runs them. */
export function transferRows(put: Beside, get: Beside): readonly Row[] {
  const row = (name: string, bars: Row["bars"], measure: Row["measure"]): Row => {
    return { name, unit: "req/s", servers: ["lazuli"], bars, isLong: true, measure };
  };
  return [
    row("lazuli import of 100,000 blobs of 4 KiB", [timesBlob(0.5)], async (_, bench) => {
      const { imported } = await small(bench);
      return { ...imported, blob: await put(bench) };
    }),
    row("lazuli export of 100,000 blobs of 4 KiB", [timesBlob(0.5)], async (_, bench) => {
      const { exported } = await small(bench);
      return { ...exported, blob: await get(bench) };
    }),
    {
      ...row("lazuli import of 512 MiB of large blobs, memory", [below(256, "MiB")], large),
      unit: "MiB",
    },
  ];
}

async function small(bench: Bench): Promise<{ imported: Reading; exported: Reading }> {
  return withFiles(bench, async (target, folder) => {
    for (let at = 0; at < FOLDERS; at++) {
      mkdirSync(join(folder, "files", `${at}`), { recursive: true });
      for (let file = 0; file < FILES_PER_FOLDER; file++) {
        writeFileSync(join(folder, "files", `${at}`, `${file}`), Buffer.alloc(SMALL_BYTES, file));
      }
    }
    const files = join(folder, "files");
    const imported = await timed(target, ["import", files, "--into", "blob:many"]);
    const exported = await timed(target, ["export", join(folder, "out.tar")]);
    const count = FOLDERS * FILES_PER_FOLDER;
    return { imported: rate(imported, count), exported: rate(exported, count) };
  });
}

async function large(_: unknown, bench: Bench): Promise<Reading> {
  return withFiles(bench, async (target, folder) => {
    const files = join(folder, "files");
    mkdirSync(files);
    const bytes = Buffer.alloc(LARGE_BYTES, "lazuli");
    for (let at = 0; at < LARGE_FILES; at++) writeFileSync(join(files, `${at}`), bytes);
    const { seconds, peakMib } = await timed(target, ["import", files, "--into", "blob:large"]);
    const speed = (LARGE_FILES * LARGE_BYTES) / MIB / seconds;
    return { value: peakMib, note: `peak memory of the command; ${speed.toFixed(0)} MiB/s` };
  });
}

async function withFiles<T>(
  { servers }: Bench,
  body: (target: Target, folder: string) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(servers.newFolder(), "files-"));
  try {
    return await servers.withFresh("lazuli", (target) => body(target, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Timed {
  readonly seconds: number;
  readonly serverMicros: number;
  readonly commandMicros: number;
  readonly peakMib: number;
}

/** Runs a command against the server, and watches its memory. */
async function timed(target: Target, args: readonly string[]): Promise<Timed> {
  const url = `http://127.0.0.1:${target.port}/${ACCOUNT}`;
  const address = `AccountName=${ACCOUNT};AccountKey=${KEY.toString("base64")};BlobEndpoint=${url}`;
  const before = cpuMicrosOfTree(target.pid);
  const started = performance.now();
  const script = join(ROOT, "bin/lazuli.cjs");
  const child = startChild(process.execPath, [script, ...args], {
    env: { ...process.env, LAZULI_CONNECTION_STRING: address },
    stdio: ["ignore", "ignore", "ignore"],
  });
  let peakMib = 0;
  let commandMicros = 0;
  const timer = setInterval(() => {
    peakMib = Math.max(peakMib, peakOf(child.pid ?? 0));
    if (child.exitCode === null) commandMicros = cpuMicrosOfTree(child.pid ?? 0);
  }, 100);
  const code = await new Promise((resolve) => child.on("close", resolve));
  clearInterval(timer);
  if (code !== 0) throw new Error(`lazuli ${args[0]} ended with code ${code}.`);
  const seconds = (performance.now() - started) / 1000;
  const serverMicros = cpuMicrosOfTree(target.pid) - before;
  return { seconds, serverMicros, commandMicros, peakMib };
}

function peakOf(pid: number): number {
  try {
    const [, kib = "0"] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kib) / 1024;
  } catch {
    return 0;
  }
}

function rate({ seconds, serverMicros, commandMicros, peakMib }: Timed, count: number): Reading {
  const micros = (commandMicros / count).toFixed(0);
  const note = `the command: ${peakMib.toFixed(0)} MiB at most, ${micros} µs of CPU a blob`;
  return { value: count / seconds, cpuMicros: serverMicros / count, note };
}
