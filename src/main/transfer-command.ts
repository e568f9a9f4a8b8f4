import type { Clock } from "../base/clock.ts";
import { MIB } from "../base/limits.ts";
import { AccountSink } from "../transfer/account-sink.ts";
import type { Sink, Source } from "../transfer/item.ts";
import { runTransfer, type TransferDone } from "../transfer/run-transfer.ts";
import { TransferError } from "../transfer/transfer-error.ts";
import { openImportSources } from "./import-sources.ts";
import { ProgressBar, type ProgressOutput } from "./progress-bar.ts";
import { StartError } from "./start-error.ts";
import { openAccounts } from "./transfer-accounts.ts";
import type { TransferAsked } from "./transfer-flags.ts";

/** The exit code of a transfer that left some objects out. */
export const INCOMPLETE_EXIT_CODE = 3;
/** The exit code after Ctrl-C, as shells have it. */
export const STOPPED_EXIT_CODE = 130;

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

/** Runs `lazuli import`. Returns the exit code. Throws a `StartError`. */
export async function runTransferCommand(
  asked: TransferAsked,
  around: TransferSurroundings,
): Promise<number> {
  try {
    return await runImport(asked, around);
  } catch (error) {
    if (error instanceof TransferError) throw new StartError(error.message);
    throw error;
  }
}

async function runImport(asked: TransferAsked, around: TransferSurroundings): Promise<number> {
  const sources = await openImportSources(asked);
  const accounts = await openAccounts(asked, around.input, sources.accounts);
  try {
    let code = 0;
    for (const [account, open] of sources.byAccount(asked.account ?? accounts.names[0] ?? "")) {
      const sink = new AccountSink(accounts.client(account), asked.existing, around.clock);
      const what = `${sources.title} into the account ${account} of ${accounts.where}`;
      code ||= await move(await open(), sink, asked, around, `Imported ${what}`);
    }
    return code;
  } finally {
    await accounts.close();
  }
}

/** Moves everything and reports. Nothing is left half done if it fails or is stopped. */
async function move(
  source: Source,
  sink: Sink,
  { parallel, json }: TransferAsked,
  around: TransferSurroundings,
  title: string,
): Promise<number> {
  const { clock, signal } = around;
  try {
    const total = await source.survey();
    const bar = new ProgressBar(around.progress, { clock, total, noun: "objects", json });
    const onFailure = (name: string, reason: string) => {
      bar.end();
      around.err(
        json ? JSON.stringify({ failed: { name, reason } }) : `failed: ${name}: ${reason}`,
      );
    };
    const onProgress = bar.show.bind(bar);
    let done: TransferDone;
    try {
      done = await runTransfer(source, sink, { parallel, onProgress, onFailure, signal });
      if (!done.isStopped) await sink.finish();
    } catch (error) {
      bar.end();
      await sink.abandon();
      throw error;
    }
    bar.end();
    if (done.isStopped) await sink.abandon();
    around.out(json ? JSON.stringify({ result: done }) : sentenceOf(done, title));
    if (done.isStopped) return STOPPED_EXIT_CODE;
    return done.failed > 0 ? INCOMPLETE_EXIT_CODE : 0;
  } finally {
    await source.close();
  }
}

function sentenceOf(done: TransferDone, title: string): string {
  const { objects, bytes, skipped, failed, isStopped } = done;
  if (isStopped) return "Stopped. Run the same command again.";
  const extra = [
    ...(skipped > 0 ? [`${skipped} were there already`] : []),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ];
  const amount = `${objects} objects, ${(bytes / MIB).toFixed(1)} MiB`;
  return `${title}: ${[amount, ...extra].join("; ")}.`;
}
