import { resolve } from "node:path";
import type { Clock } from "../base/clock.ts";
import { MIB } from "../base/limits.ts";
import { AccountSink } from "../transfer/account-sink.ts";
import { AccountSource } from "../transfer/account-source.ts";
import { Choice } from "../transfer/choice.ts";
import { ExportFolder } from "../transfer/files/export-folder.ts";
import { ExportSink } from "../transfer/files/export-sink.ts";
import { ExportTar } from "../transfer/files/export-tar.ts";
import { packingOfName } from "../transfer/files/packing.ts";
import type { Sink } from "../transfer/item.ts";
import { runTransfer, type TransferDone } from "../transfer/run-transfer.ts";
import { TransferError } from "../transfer/transfer-error.ts";
import { type OpenSource, openImportSources } from "./import-sources.ts";
import { ProgressBar, type ProgressOutput } from "./progress-bar.ts";
import { STOPPED_EXIT_CODE, StartError } from "./start-error.ts";
import { openAccounts } from "./transfer-accounts.ts";
import type { TransferAsked } from "./transfer-flags.ts";

/** The exit code of a transfer that left some objects out. */
export const INCOMPLETE_EXIT_CODE = 3;

export interface TransferSurroundings {
  readonly clock: Clock;
  readonly out: (line: string) => void;
  readonly err: (line: string) => void;
  readonly progress: ProgressOutput;
  /** Reads standard input to its end. */
  readonly input: () => Promise<string>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
}

/** Runs `lazuli import` or `lazuli export`. Returns the exit code. Throws a `StartError`. */
export async function runTransferCommand(
  asked: TransferAsked,
  around: TransferSurroundings,
): Promise<number> {
  try {
    const run = asked.command === "import" ? runImport : runExport;
    return await run(asked, around);
  } catch (error) {
    if (error instanceof TransferError) throw new StartError(error.message);
    throw systemFailure(error, asked);
  }
}

/** One line if the system refused something: the disk is full, or a permission is missing. */
function systemFailure(error: unknown, { command, place }: TransferAsked): unknown {
  const { code = "", syscall, path } = error as NodeJS.ErrnoException;
  if (syscall === undefined || error instanceof StartError) return error;
  const isFull = code === "ENOSPC" || code === "EDQUOT";
  const reason = isFull ? "no space is left" : `${syscall} failed with ${code}`;
  const where = path ?? resolve(place);
  return new StartError(
    command === "export"
      ? `The export is not written: ${where}: ${reason}. Make room or choose another target.`
      : `The import is not done: ${where}: ${reason}. Check its permissions, and the space.`,
  );
}

async function runImport(asked: TransferAsked, around: TransferSurroundings): Promise<number> {
  const sources = await openImportSources(asked, around.input);
  const accounts = await openAccounts(asked, around.input, sources.accounts);
  try {
    const chosen = asked.account ?? accounts.names[0] ?? "";
    const moves = sources.byAccount(chosen).map(([account, open]): Move => {
      const sink = new AccountSink(accounts.client(account), asked.existing, around.clock);
      const what = `${sources.title} into the account ${account} of ${accounts.where}`;
      return { open, sink, title: `Imported ${what}` };
    });
    return await moveAll(moves, asked, around);
  } finally {
    await accounts.close();
  }
}

async function runExport(asked: TransferAsked, around: TransferSurroundings): Promise<number> {
  const choice = new Choice(asked.only);
  const others = asked.account === null ? [] : [asked.account];
  const accounts = await openAccounts(asked, around.input, others);
  try {
    const account = asked.account ?? accounts.names[0] ?? "";
    const client = accounts.client(account);
    const target = resolve(asked.place);
    const now = around.clock.now();
    const packing = packingOfName(target);
    const files =
      packing === undefined
        ? await ExportFolder.create(target, account, now)
        : await ExportTar.create(target, packing, account, now);
    const open: OpenSource = async (onFailure) =>
      new AccountSource(client, choice, (name, error) => onFailure(name, (error as Error).message));
    const title = `Exported the account ${account} of ${accounts.where} to ${target}`;
    return await moveAll([{ open, sink: new ExportSink(files), title }], asked, around);
  } finally {
    await accounts.close();
  }
}

/** The data of one account, with where it goes. */
interface Move {
  readonly open: OpenSource;
  readonly sink: Sink;
  /** What was done, for the last line. */
  readonly title: string;
}

/**
 * Moves everything and reports. A sink is finished when all accounts are moved, so that nothing is
 * left half done if one of them fails or the command is stopped.
 */
async function moveAll(
  moves: readonly Move[],
  asked: TransferAsked,
  around: TransferSurroundings,
): Promise<number> {
  const begun: Sink[] = [];
  try {
    const ended: [title: string, done: TransferDone][] = [];
    for (const { open, sink, title } of moves) {
      begun.push(sink);
      ended.push([title, await move(open, sink, asked, around)]);
      if (around.signal.aborted) break;
    }
    const isStopped = ended.some(([, done]) => done.isStopped);
    if (isStopped) await abandonAll(begun, around);
    else for (const sink of begun) await sink.finish();
    for (const [title, done] of ended) {
      around.out(asked.json ? JSON.stringify({ result: done }) : sentenceOf(done, title));
    }
    if (isStopped) return STOPPED_EXIT_CODE;
    return ended.some(([, { failed }]) => failed > 0) ? INCOMPLETE_EXIT_CODE : 0;
  } catch (error) {
    await abandonAll(begun, around);
    throw error;
  }
}

/** Undoes what was done, and prints what could not be undone. */
async function abandonAll(sinks: readonly Sink[], { err }: TransferSurroundings): Promise<void> {
  for (const sink of sinks) {
    try {
      await sink.abandon();
    } catch (error) {
      if (!(error instanceof TransferError)) throw error;
      err(error.message);
    }
  }
}

async function move(
  open: OpenSource,
  sink: Sink,
  { parallel, json }: TransferAsked,
  around: TransferSurroundings,
): Promise<TransferDone> {
  const { clock, signal } = around;
  let bar: ProgressBar | null = null;
  let unread = 0;
  const onFailure = (name: string, reason: string) => {
    bar?.end();
    around.err(json ? JSON.stringify({ failed: { name, reason } }) : `failed: ${name}: ${reason}`);
  };
  const source = await open((name, reason) => {
    unread++;
    onFailure(name, reason);
  });
  try {
    const total = await source.survey();
    bar = new ProgressBar(around.progress, { clock, total, noun: "objects", json });
    const onProgress = bar.show.bind(bar);
    const done = await runTransfer(source, sink, { parallel, onProgress, onFailure, signal });
    return { ...done, failed: done.failed + unread };
  } finally {
    bar?.end();
    await source.close();
  }
}

function sentenceOf(done: TransferDone, title: string): string {
  const { objects, bytes, skipped, failed, isStopped } = done;
  if (isStopped) return "Stopped. Run the same command again.";
  const extra = [
    ...(skipped > 0 ? [`${skipped} ${skipped === 1 ? "was" : "were"} there already`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ];
  const amount = `${objects} ${objects === 1 ? "object" : "objects"}, ${(bytes / MIB).toFixed(1)} MiB`;
  return `${title}: ${[amount, ...extra].join("; ")}.`;
}
