import { systemClock } from "../base/clock.ts";
import type { StoreError } from "../store/store.ts";
import { announcementsOf } from "./announcements.ts";
import { systemSchedule } from "./background.ts";
import { readCommandLine } from "./command-line.ts";
import { Hangups, hasTerminal, isTerminalClosed } from "./hangups.ts";
import { helpPage } from "./help-page.ts";
import { PROGRAMS, type Program, type ProgramName } from "./programs.ts";
import { type Surroundings, serve } from "./serve.ts";
import { readSettings } from "./settings.ts";
import { StartError } from "./start-error.ts";
import { stopOnSignal } from "./stop-on-signal.ts";
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
  if (asked.kind === "help") return around.out(helpPage(program).trimEnd());
  if (asked.kind === "version") return around.out(version());
  if (asked.kind === "verify") {
    const code = await verify(asked.location, { ...around, progress: process.stderr });
    process.exitCode = code;
    return;
  }
  for (const note of asked.notes) around.err(note);
  const hangups = new Hangups(process);
  const settings = readSettings(asked.options);
  const serving = await serve(settings, around);
  const { origins } = serving;
  const lines = announcementsOf(program, { version: version(), settings, origins });
  // Azurite's --silent only stops the lines about requests.
  const isQuiet = settings.silent && !program.isAzurite;
  const say = (all: readonly string[]) => {
    if (!isQuiet) for (const line of all) around.out(line);
  };
  const stop = async () => {
    say(lines.closing);
    await serving.stop();
    say(lines.closed);
  };
  const { platform } = process;
  const isInteractive = process.stdin.isTTY;
  const isClosed = () => isTerminalClosed({ platform, isInteractive, hasTerminal });
  stopOnSignal(process, stop, process.exit, isClosed);
  hangups.begin(() => serving.reopenLogs());
  say(lines.ready);
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
  around.err(
    `Lazuli stops, because it cannot be sure of its data any more: ${error.message}. ` +
      "What was acknowledged is safe. Check the disk, then start again.",
  );
  process.exit(FAILED_EXIT_CODE);
}
