import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { loadavg } from "node:os";
import { join } from "node:path";
import { type Azurite, findAzurite, installAzurite } from "./azurite.ts";
import { killChildren } from "./children.ts";
import { COLD_ROWS } from "./cold-rows.ts";
import { Load } from "./load.ts";
import { HELP, type Options, readOptions } from "./options.ts";
import { drawPicture, writePage } from "./page.ts";
import { requireProc } from "./proc.ts";
import type { Reading } from "./reading.ts";
import { asJson, asSummary, asTables, describeMachine, type Measured } from "./result.ts";
import { RoundRobin } from "./round-robin.ts";
import { type Bench, type Row, rounded } from "./row.ts";
import { ROWS } from "./rows.ts";
import { findSamba, type Samba } from "./samba.ts";
import { ROOT, type ServerName, Servers } from "./server.ts";
import { ensureWrk, Wrk } from "./wrk.ts";

/** Runs the measurements, prints the results, and cleans up. */
export async function main(args: string[]): Promise<void> {
  const options = readOptions(args);
  if (options.help) return void process.stdout.write(HELP);
  if (options.chart) return drawPicture();
  requireProc();
  const all = options.cold ? COLD_ROWS : ROWS;
  const rows = all
    .filter((row) => row.name.toLowerCase().includes(options.only))
    .filter((row) => options.long || row.isLong !== true);
  if (rows.length === 0) throw new Error(`No row has "${options.only}" in its name (try --long).`);

  warnOfOthers();
  const azurite = azuriteFor(options);
  const samba = sambaFor(rows);
  const hasWrk = ensureWrk();
  const scratch = newScratch();
  const wrk = hasWrk ? new Wrk(scratch) : null;
  const slots = new RoundRobin();
  // Versions of Node differ by up to half in cold code: there, both servers run on Azurite's.
  const node = (options.cold ? azurite?.node : undefined) ?? process.execPath;
  const bench = {
    servers: new Servers(scratch, { azurite, samba }, node, options.profile),
    load: new Load(options.seconds, wrk, slots),
    slots,
  };
  const measured = await measureAll(rows, bench);
  const setting = {
    date: new Date().toISOString().slice(0, 10),
    machine: describeMachine(node),
    generator: hasWrk ? "wrk (Head, large bodies, lists: our own)" : "our own (no wrk here)",
    azurite: azurite === null ? "skipped, not installed" : azurite.version,
    samba: samba === null ? "skipped" : samba.version,
    secondsPerLoad: options.seconds,
  };
  console.log((options.json ? asJson : asTables)(setting, measured));
  if (options.write) writePage(asSummary(setting, measured));
}

function warnOfOthers(): void {
  const busy = loadavg()[0] ?? 0;
  if (busy < 0.5) return;
  say(`Something else is running here (load ${busy.toFixed(1)}): expect figures that vary.`);
}

function azuriteFor({ withAzurite }: Options): Azurite | null {
  const folder = join(ROOT, ".scratch", "azurite");
  const found = findAzurite(folder);
  if (found !== null) return found;
  if (withAzurite || existsSync(folder)) {
    say(`Installing Azurite in ${folder}…`);
    return installAzurite(folder);
  }
  say("Azurite is skipped: it is not installed. --with-azurite installs it in .scratch/azurite.");
  return null;
}

function sambaFor(rows: readonly Row[]): Samba | null {
  if (!rows.some((row) => row.servers.includes("samba"))) return null;
  const samba = findSamba();
  if (samba === null) say("Samba is skipped: install the Debian package samba to compare with it.");
  return samba;
}

/** In the project's folder, because the system's temporary folder may be in memory. */
function newScratch(): string {
  const parent = join(ROOT, ".scratch");
  mkdirSync(parent, { recursive: true });
  const scratch = mkdtempSync(join(parent, "bench-"));
  process.on("exit", () => {
    killChildren();
    rmSync(scratch, { recursive: true, force: true });
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => process.exit(1));
  }
  return scratch;
}

async function measureAll(rows: readonly Row[], bench: Bench): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const row of rows) {
    const readings: Partial<Record<ServerName, Reading>> = {};
    const measure = async (server: ServerName) => {
      try {
        const reading = await bench.slots.run(null, () => row.measure(server, bench));
        say(`${row.name}: ${server}: ${rounded(reading.value)} ${row.unit}`);
        readings[server] = reading;
      } catch (error) {
        // Continue, as the other rows are still useful.
        say(`${row.name}: ${server}: ${(error as Error).message}`);
        process.exitCode = 1;
      }
    };
    const servers = bench.servers.names.filter((name) => row.servers.includes(name));
    await Promise.all(servers.map(measure));
    measured.push({ row, readings });
  }
  return measured;
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
