import { checkFileList, newFileWriter, shareAt } from "./file-load.ts";
import { checkBlobList, containerAt, Writer } from "./load.ts";
import { isUnanswered } from "./outage.ts";
import { newQueueWriter, queueAt } from "./queue-load.ts";
import type { WholeServerProcess } from "./server-process.ts";
import { newSmbWriter, SMB_SHARE } from "./smb-load.ts";
import type { CrashWriter } from "./state-writer.ts";
import { newTableWriter, tableAt } from "./table-load.ts";
import { filesystemAt, newTreeWriter } from "./tree-load.ts";
import { writeUntilKilled } from "./write-until-killed.ts";

const names = (kind: string, count: number) =>
  Array.from({ length: count }, (_, at) => `${kind}-${at}`);

/**
 * Clients of every service and of SMB that keep writing through crashes, on one data folder: blobs
 * of all types, files over REST and SMB, entities and batches, messages, and directories of Data
 * Lake, which are renamed.
 */
export class AllServices {
  readonly #blobs = names("blob", 6).map((name) => new Writer(name));
  readonly #files = names("file", 3).map(newFileWriter);
  readonly #queues = names("queue", 2).map(newQueueWriter);
  readonly #others: readonly CrashWriter[] = [
    ...this.#queues,
    ...names("partition", 3).map(newTableWriter),
    ...names("smb", 3).map(newSmbWriter),
    ...names("tree", 3).map(newTreeWriter),
  ];
  /** Number of all writes so far. */
  acknowledged = 0;

  /** Creates the containers of everything else, if they do not exist. */
  async prepare(server: WholeServerProcess): Promise<void> {
    await containerAt(server.urls.Blob).createIfNotExists();
    await shareAt(server, "kills").createIfNotExists();
    await shareAt(server, SMB_SHARE).createIfNotExists();
    await tableAt(server).createTable();
    await filesystemAt(server).createIfNotExists();
    for (const { name } of this.#queues) await queueAt(server, name).createIfNotExists();
  }

  /** One line for each write that was lost, or object that should not exist. */
  async check(server: WholeServerProcess): Promise<string[]> {
    const container = containerAt(server.urls.Blob);
    const checks = [
      ...this.#blobs.map((writer) => () => writer.check(container)),
      ...[...this.#files, ...this.#others].map((writer) => () => writer.check(server)),
    ];
    const lists = [
      () => checkBlobList(container, this.#blobs),
      () => checkFileList(shareAt(server, "kills"), this.#files),
    ];
    const lost = await failuresOf(checks);
    return lost.length > 0 ? lost : failuresOf(lists);
  }

  /** Writes until `crash`, called at a moment that the writes choose, has ended the server. */
  async writeUntil(
    crash: () => Promise<void>,
    server: WholeServerProcess,
    isOutage = isUnanswered,
  ): Promise<void> {
    const container = containerAt(server.urls.Blob);
    const acknowledged = await writeUntilKilled({ kill: crash }, [
      ...this.#blobs.map(
        (writer) => (acknowledge: () => void) => writer.write(container, acknowledge, isOutage),
      ),
      ...[...this.#files, ...this.#others].map(
        (writer) => (acknowledge: () => void) => writer.write(server, acknowledge, isOutage),
      ),
    ]);
    this.acknowledged += acknowledged;
  }
}

async function failuresOf(checks: readonly (() => Promise<void>)[]): Promise<string[]> {
  const outcomes = await Promise.allSettled(checks.map((check) => check()));
  return outcomes.flatMap((outcome) =>
    outcome.status === "rejected" ? [String(outcome.reason?.message ?? outcome.reason)] : [],
  );
}
