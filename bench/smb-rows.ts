import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { outputOf } from "./children.ts";
import { ensureDebianPackage } from "./debian-package.ts";
import { createShare } from "./file-requests.ts";
import { answerTo } from "./load.ts";
import { cpuMicrosOfTree } from "./proc.ts";
import type { Reading } from "./reading.ts";
import { type Bench, cpuTimesSamba, flat, type Row, timesSamba } from "./row.ts";
import { SHARE } from "./samba.ts";
import type { ServerName, Target } from "./server.ts";
import { ACCOUNT, KEY } from "./shared-key.ts";
import { memoryOfConnections } from "./smb-connections.ts";

const LARGE_MIB = 1_024;
const MIB = 1024 * 1024;
const SMALL_FILES = 1_000;
const SMALL_BYTES = 4 * 1024;
/** Fewer than in other rows, as each round moves much data or a whole session. */
const ROUNDS = 3;
const SERVERS: readonly ServerName[] = ["lazuli", "samba"];

/** How smbclient protects its traffic; it uses the newest dialect, and so AES-GMAC and AES-GCM. */
const PROTECTIONS = { plain: "off", signed: "sign", encrypted: "encrypt" } as const;
type Protection = keyof typeof PROTECTIONS;

/** Each row uses the same client, smbclient, and Samba in the same run. */
export const SMB_ROWS: readonly Row[] = [
  ...(Object.keys(PROTECTIONS) as Protection[]).flatMap((protection) => [
    largeRow("put", protection),
    largeRow("get", protection),
  ]),
  {
    name: "SMB 1,000 files of 4 KiB: put, get, delete",
    unit: "req/s",
    servers: SERVERS,
    bars: [timesSamba(0.5), cpuTimesSamba(0.5)],
    measure: onShare(async (target, folder, { slots }) => {
      const [from, to] = [join(folder, "from"), join(folder, "to")];
      mkdirSync(from);
      mkdirSync(to);
      for (let index = 0; index < SMALL_FILES; index++) {
        writeFileSync(join(from, `${index}`), randomBytes(SMALL_BYTES));
      }
      const commands = ["prompt", `lcd ${from}`, "mput *", `lcd ${to}`, "mget *", "del *"];
      const run = () => smbclient(target, "plain", commands);
      for (let warmUp = 0; warmUp < 2; warmUp++) await run();
      return slots.medianOf(target.pid, () => timed(target, SMALL_FILES, run), ROUNDS);
    }),
  },
  {
    name: "Memory with 1,000 SMB connections",
    unit: "MiB",
    servers: ["lazuli"],
    bars: [flat(1.5)],
    measure: onShare((target) => memoryOfConnections(target)),
  },
];

function largeRow(way: "put" | "get", protection: Protection): Row {
  return {
    name: `SMB ${way} 1 GiB ${protection}`,
    unit: "MiB/s",
    servers: SERVERS,
    bars: [timesSamba(0.7), cpuTimesSamba(0.7)],
    measure: onShare(async (target, folder, { slots }) => {
      const file = fileOf(folder, "large", LARGE_MIB);
      // A warm-up that is not counted, as in all other loads.
      await smbclient(target, protection, [`put ${file} warm`, "get warm /dev/null"]);
      const put = () => smbclient(target, protection, [`put ${file} large`]);
      const get = () => smbclient(target, protection, ["get large /dev/null"]);
      const measure = async () => {
        if (way === "put") return timed(target, LARGE_MIB, put);
        // Always measures the first read of a file, which differs from later ones (decision 0035).
        await put();
        return timed(target, LARGE_MIB, get);
      };
      return slots.medianOf(target.pid, measure, ROUNDS);
    }),
  };
}

function fileOf(folder: string, name: string, size: number): string {
  const file = join(folder, name);
  const mib = randomBytes(MIB);
  for (let at = 0; at < size; at++) writeFileSync(file, mib, { flag: "a" });
  return file;
}

/** Measures on a server with an empty share, with a folder for the client's files. */
function onShare(
  run: (target: Target, folder: string, bench: Bench) => Promise<Reading>,
): Row["measure"] {
  return (server, bench) =>
    bench.servers.withFresh(server, async (target) => {
      if (!ensureDebianPackage("smbclient", "smbclient")) {
        throw new Error("smbclient is not installed: install the Debian package smbclient.");
      }
      const files = { ...target, port: target.filePort };
      if (server === "lazuli") await answerTo(files, createShare(files));
      const folder = bench.servers.newFolder();
      try {
        return await run(target, folder, bench);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
}

/** Measures units of work (MiB, or files) per second, and the server's processor time per unit. */
async function timed(target: Target, units: number, run: () => Promise<void>): Promise<Reading> {
  const cpuBefore = cpuMicrosOfTree(target.pid);
  const startedMs = performance.now();
  await run();
  const seconds = (performance.now() - startedMs) / 1_000;
  return {
    value: units / seconds,
    cpuMicros: (cpuMicrosOfTree(target.pid) - cpuBefore) / units,
  };
}

async function smbclient(
  { smbPort }: Target,
  protection: Protection,
  commands: readonly string[],
): Promise<void> {
  const text = await outputOf("smbclient", [
    `//127.0.0.1/${SHARE}`,
    ...["-p", String(smbPort), "-U", `${ACCOUNT}%${KEY.toString("base64")}`],
    `--client-protection=${PROTECTIONS[protection]}`,
    ...["-m", "SMB3", "-d", "0", "-c", commands.join("; ")],
  ]);
  if (/NT_STATUS/.test(text)) throw new Error(`smbclient says: ${text.trim()}`);
}
