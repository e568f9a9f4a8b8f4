import { resolve } from "node:path";
import { text } from "node:stream/consumers";
import { systemClock } from "../base/clock.ts";
import { isUnreachable, type StoreError } from "../store/store.ts";
import { runAccountCommand } from "./account-command.ts";
import { announcementsOf } from "./announcements.ts";
import { systemSchedule } from "./background.ts";
import { backUp } from "./backup/backup-command.ts";
import { checkBackups } from "./backup/check-backups.ts";
import { restore } from "./backup/restore-command.ts";
import { checkFile } from "./check-command.ts";
import { type Asked, readCommandLine } from "./command-line.ts";
import { reachableUrls } from "./connection-string.ts";
import { newToken, removeControl, writeControl } from "./control-file.ts";
import { exitProcess } from "./exit-process.ts";
import { Hangups, hasTerminal, isTerminalClosed } from "./hangups.ts";
import { health } from "./health-command.ts";
import { commandPage, helpPage } from "./help-page.ts";
import { showHolders } from "./holders-command.ts";
import { runLabCommand } from "./lab-command.ts";
import { platformNote } from "./platform-note.ts";
import { PROGRAMS, type Program, type ProgramName } from "./programs.ts";
import { reload } from "./reload-command.ts";
import { seedServer } from "./seed/seed-command.ts";
import { type Serving, serve } from "./serve.ts";
import { readSettings, type Settings } from "./settings.ts";
import { STOPPED_EXIT_CODE, StartError } from "./start-error.ts";
import { stopOnSignal } from "./stop-on-signal.ts";
import type { Surroundings } from "./surroundings.ts";
import { runTransferCommand, type TransferSurroundings } from "./transfer-command.ts";
import { showUsage } from "./usage-command.ts";
import { verify } from "./verify-command.ts";
import { version } from "./version.ts";

/** The exit code after the engine failed: an internal error, in the words of sysexits.h. */
const FAILED_EXIT_CODE = 70;

/** Runs a command of the package. Everything that touches the process is here. */
export async function main(name: ProgramName): Promise<void> {
  // A closed pipe is no reason to stop.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => {});
  // Silences lmdb, which prints the stack of every failed commit: we report it in one line.
  console.error = () => {};
  try {
    await run(PROGRAMS[name]);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    around.err(error.message);
    process.exit(error.exitCode);
  }
}

async function run(program: Program): Promise<void> {
  const asked = readCommandLine(process.argv.slice(2), process.env, program);
  switch (asked.kind) {
    case "help": {
      const page = asked.topic === null ? helpPage(program) : commandPage(asked.topic, program);
      return around.out(page.trimEnd());
    }
    case "version":
      return around.out(version());
    case "verify":
      process.exitCode = await verify(asked.asked, { ...around, progress: process.stderr });
      return;
    case "backup":
      return backUp(asked.asked, { ...around, ...transferSurroundings() });
    case "check-backups":
      return checkBackups(asked.asked, { ...around, progress: process.stderr });
    case "restore":
      return restore(asked.asked, { ...around, progress: process.stderr });
    case "seed":
      return seedServer(asked.asked, { ...around, progress: process.stderr });
    case "usage":
      return showUsage(asked.asked, { ...around, progress: process.stderr });
    case "holders":
      return showHolders(asked.asked, around);
    case "health":
      process.exitCode = await health(asked.origins, around);
      return;
    case "reload":
      return reload(asked.asked, around);
    case "transfer":
      process.exitCode = await runTransferCommand(asked.asked, transferSurroundings());
      return;
    case "account":
      return runAccountCommand(asked.asked, { ...around, input: () => text(process.stdin) });
    case "lab":
      process.exitCode = await runLabCommand(asked.asked, around);
      return;
    case "check":
      process.exitCode = checkFile(asked.file, asked.svg, around);
      return;
    case "start":
      return start(asked, program);
  }
}

/** The first Ctrl-C ends a transfer in order, the second one at once. */
function transferSurroundings(): TransferSurroundings {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.on(signal, () => {
      if (stopping.signal.aborted) process.exit(STOPPED_EXIT_CODE);
      stopping.abort();
    });
  }
  const input = () => text(process.stdin);
  return { ...around, progress: process.stderr, input, signal: stopping.signal };
}

type StartAsked = Extract<Asked, { kind: "start" }>;

async function start(asked: StartAsked, program: Program): Promise<void> {
  for (const note of asked.notes) around.err(note);
  const { platform } = process;
  const untested = platformNote(platform);
  if (untested !== null) around.err(untested);
  const isInteractive = process.stdin.isTTY;
  const isClosed = () => isTerminalClosed({ platform, isInteractive, hasTerminal });
  const hangups = new Hangups(process, isClosed);
  const settings = readSettings(asked.options);
  const { location } = settings;
  const adminToken = newToken();
  const serving = await serve(settings, location === null ? around : { ...around, adminToken });
  const lines = announcementsOf(
    { ...program, services: settings.services },
    { ...serving, version: version(), settings },
  );
  // Azurite's --silent only stops the lines about requests.
  const isQuiet = settings.silent && !program.isAzurite;
  // One write: whoever waits for one of the lines has them all.
  const say = (all: readonly string[]) => {
    if (!isQuiet && all.length > 0) around.out(all.join("\n"));
  };
  const closing = openControl(settings, serving.origins, adminToken);
  const stop = async () => {
    say(lines.closing);
    const close = await closing;
    await close();
    await serving.stop();
    say(lines.closed);
  };
  const exit = (code: number) => exitProcess(process, code, isClosed());
  hangups.begin(
    stopOnSignal(process, stop, exit),
    () => serving.reopenLogs(),
    () => serving.reload().then(() => {}),
  );
  await closing;
  say(lines.ready);
}

/**
 * Tells commands of the same user how to reach this server. Without the file the server works as
 * well. Resolves to the function that takes it back.
 */
async function openControl(
  { location, configFile, listen }: Settings,
  origins: Serving["origins"],
  token: string,
): Promise<() => Promise<void>> {
  if (location === null) return async () => {};
  const origin = [...origins].find(([service]) => service !== "smb")?.[1] ?? null;
  const config = configFile === null ? null : resolve(configFile);
  try {
    const { smb, ...urls } = reachableUrls(origins, listen);
    await writeControl(location, { pid: process.pid, origin, urls, token, config });
  } catch (error) {
    const reason = (error as Error).message;
    around.err(
      `\`lazuli reload\` will not work, only SIGHUP: its file cannot be written (${reason}).`,
    );
  }
  return () => removeControl(location).catch(() => {});
}

const around: Surroundings = {
  clock: systemClock,
  schedule: systemSchedule,
  software: `Lazuli/${version()}`,
  out: (line) => process.stdout.write(`${line}\n`),
  err: (line) => process.stderr.write(`${line}\n`),
  failStop,
};

function failStop(error: StoreError): void {
  // A command that works on shared records: the data is well, and the command can be run again.
  if (isUnreachable(error)) {
    around.err(`Stopped: ${error.message}. Run the command again.`);
    process.exit(1);
  }
  around.err(
    `Lazuli stops, because it cannot be sure of its data any more: ${error.message}. ` +
      "What was acknowledged is safe. Check the disk, then start again.",
  );
  process.exit(FAILED_EXIT_CODE);
}
