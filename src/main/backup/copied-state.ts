import { randomUUID } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Bytes } from "../../base/bytes.ts";
import { MIB } from "../../base/limits.ts";
import { type CopiedPart, copyState } from "../../content/state-copy.ts";
import type { LocalTask } from "../local-tasks.ts";
import { type Data, openData } from "../open-data.ts";
import { ServerTask } from "../server-task.ts";
import { StartError } from "../start-error.ts";
import type { CommandSurroundings } from "../surroundings.ts";
import { PieceReader, type PieceSource } from "./pieces.ts";
import { decodeParts, encodePart } from "./record-frames.ts";

/** Bytes of records in one answer of a server. */
const ANSWER_BYTES = MIB;
/** How often a command tells a server that it goes on: more often than the server gives up. */
const HELD_MS = 10_000;

const NOT_IN_FILES =
  "The large bodies of this data folder are in a bucket: stop the server, then copy the folder and " +
  "the bucket. docs/guides/cluster.md says how, under Backup.";

/** A consistent state of all data, and the extents that it names for as long as it is open. */
export interface CopiedState {
  /** Where the data is, as people know it. */
  readonly location: string;
  /** What packs have of a piece: what is on the disk of a data folder, or the stored bytes alone. */
  readonly form: "disk" | "plain";
  /** The parts of the copy, up to `end`. */
  parts(): AsyncGenerator<CopiedPart, void>;
  pieces(): PieceSource;
  /** How many bytes records and large bodies take, at most; null if nobody knows. */
  estimate(): Promise<{ readonly records: number; readonly pieces: number } | null>;
  close(): Promise<void>;
}

/** What a server does for a backup: it passes on its records, and pins extents. */
export function backupTask(data: Pick<Data, "store" | "engine">): LocalTask {
  const copy = copyOf(data);
  return {
    async next() {
      const parts: Bytes[] = [];
      let bytes = 0;
      while (bytes < ANSWER_BYTES) {
        const { value } = await copy.next();
        const encoded = encodePart(value as CopiedPart);
        parts.push(encoded);
        bytes += encoded.length;
        if (value?.is === "end" || value?.is === "held") break;
      }
      return Buffer.concat(parts);
    },
    close: async () => {
      await copy.return();
    },
  };
}

function copyOf({ store, engine }: Pick<Data, "store" | "engine">) {
  const extents = engine?.extents ?? null;
  if (extents === null) throw new StartError(NOT_IN_FILES);
  return copyState(store, extents, randomUUID());
}

/** Opens the state of a data folder: through its server, or by itself if no server runs. */
export async function openState(
  location: string,
  around: Pick<CommandSurroundings, "clock" | "failStop" | "err" | "schedule">,
): Promise<CopiedState> {
  const task = await ServerTask.begin(location, "backup", null);
  return task === null
    ? openFolderState(location, around)
    : new ServerState(task, resolve(location), around);
}

/** The parts up to `end`. The copy goes on, with its pins, until somebody ends it. */
export async function* untilEnd(
  copy: AsyncGenerator<CopiedPart, void>,
): AsyncGenerator<CopiedPart, void> {
  for (;;) {
    const { value } = await copy.next();
    if (value === undefined) return;
    yield value;
    if (value.is === "end") return;
  }
}

class ServerState implements CopiedState {
  readonly form = "disk";
  readonly location: string;
  readonly #task: ServerTask;
  readonly #around: Pick<CommandSurroundings, "schedule">;
  #isHeld = false;
  #isClosed = false;
  #failure: { readonly error: unknown } | null = null;

  constructor(task: ServerTask, folder: string, around: Pick<CommandSurroundings, "schedule">) {
    this.#task = task;
    this.location = folder;
    this.#around = around;
  }

  pieces(): PieceSource {
    return new PieceReader(this.location);
  }

  estimate() {
    return estimateOf(this.location);
  }

  async *parts(): AsyncGenerator<CopiedPart, void> {
    for (;;) {
      for (const part of decodeParts(await this.#task.next())) {
        if (part.is === "end") {
          this.#isHeld = true;
          this.#holdOn();
        }
        yield part;
        if (part.is === "end") return;
      }
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    try {
      // Without pins, the copied bytes may be those of something else.
      if (this.#failure !== null) throw this.#failure.error;
      if (this.#isHeld) await this.#task.next();
    } finally {
      await this.#task.end();
    }
  }

  /** Keeps the extents pinned. */
  #holdOn(): void {
    this.#around.schedule(() => {
      if (this.#isClosed) return;
      this.#task.next().then(
        () => this.#holdOn(),
        (error) => {
          this.#failure = { error };
        },
      );
    }, HELD_MS);
  }
}

async function estimateOf(folder: string): Promise<{ records: number; pieces: number }> {
  const [records, pieces] = await Promise.all(
    ["store", "extents"].map((part) => bytesIn(join(folder, part))),
  );
  return { records: records ?? 0, pieces: pieces ?? 0 };
}

async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(folder)) {
    // A file may be removed meanwhile.
    bytes += await stat(join(folder, name)).then(
      ({ size }) => size,
      () => 0,
    );
  }
  return bytes;
}

async function openFolderState(
  location: string,
  { clock, failStop, err }: Pick<CommandSurroundings, "clock" | "failStop" | "err">,
): Promise<CopiedState> {
  const folder = resolve(location);
  const place = { location: folder, memoryBytesMax: null };
  const data = await openData(place, clock, failStop, { tell: err });
  try {
    const copy = copyOf(data);
    return {
      form: "disk",
      location: folder,
      estimate: () => estimateOf(folder),
      parts: () => untilEnd(copy),
      pieces: () => new PieceReader(folder),
      async close() {
        await copy.return();
        await data.close();
      },
    };
  } catch (error) {
    await data.close();
    throw error;
  }
}
