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
    throw error;
  }
}

async function runImport(asked: TransferAsked, around: TransferSurroundings): Promise<number> {
  const sources = await openImportSources(asked, around.input);
  const accounts = await openAccounts(asked, around.input, sources.accounts);
  try {
    let code = 0;
    for (const [account, open] of sources.byAccount(asked.account ?? accounts.names[0] ?? "")) {
      const sink = new AccountSink(accounts.client(account), asked.existing, around.clock);
      const what = `${sources.title} into the account ${account} of ${accounts.where}`;
      code ||= await move(open, sink, asked, around, `Imported ${what}`);
    }
    return code;
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
    return await move(open, new ExportSink(files), asked, around, title);
  } finally {
    await accounts.close();
  }
}

/** Moves everything and reports. Nothing is left half done if it fails or is stopped. */
async function move(
  open: OpenSource,
  sink: Sink,
  { parallel, json }: TransferAsked,
  around: TransferSurroundings,
  title: string,
): Promise<number> {
  const { clock, signal } = around;
  let bar: ProgressBar | null = null;
  let unread = 0;
  const onFailure = (name: string, reason: string) => {
    bar?.end();
    around.err(json ? JSON.stringify({ failed: { name, reason } }) : `failed: ${name}: ${reason}`);
  };
  try {
    const source = await open((name, reason) => {
      unread++;
      onFailure(name, reason);
    });
    try {
      const total = await source.survey();
      const shown = new ProgressBar(around.progress, { clock, total, noun: "objects", json });
      bar = shown;
      const onProgress = shown.show.bind(shown);
      const done = await runTransfer(source, sink, { parallel, onProgress, onFailure, signal });
      shown.end();
      if (done.isStopped) await sink.abandon();
      else await sink.finish();
      const all = { ...done, failed: done.failed + unread };
      around.out(json ? JSON.stringify({ result: all }) : sentenceOf(all, title));
      if (done.isStopped) return STOPPED_EXIT_CODE;
      return all.failed > 0 ? INCOMPLETE_EXIT_CODE : 0;
    } finally {
      await source.close();
    }
  } catch (error) {
    bar?.end();
    await sink.abandon();
    throw error;
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
