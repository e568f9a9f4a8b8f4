import { type BorrowedBuffer, borrowWhole } from "../../base/borrowed-buffer.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { judgeReadByLocks } from "../../rules/range-lock.ts";
import type { Reading } from "../../store/content.ts";
import type { View } from "../../store/store.ts";
import { admitToReadHandle, type HandleAsked } from "./admit-handle.ts";
import type { FileContext } from "./context.ts";
import { readLocks } from "./open-records.ts";
import type { Tree } from "./preserved-records.ts";
import type { ReadAhead } from "./read-ahead.ts";
import { type File, readFile, writeFile } from "./tree-records.ts";

export interface ReadOpenFile extends HandleAsked {
  readonly from: number;
  readonly length: number;
  /** Reads ahead for a sequential reader; null for none. */
  readonly ahead: ReadAhead | null;
}

/** Reads bytes of an open file, fewer at its end; null beyond it. */
export async function readOpenFile(
  context: FileContext,
  asked: ReadOpenFile,
): Promise<BorrowedBuffer | null> {
  const { contents } = context;
  const opened = await context.store.read((view) => {
    const { file, length } = admit(view, asked);
    if (length === null) return null;
    const { content } = file;
    const reading = contents.open(view, content, asked.from, length);
    const begun = asked.ahead?.read(view, contents, content, asked.from, asked.length, reading);
    return { reading, begun: begun ?? null };
  });
  if (opened === null) return null;
  asked.ahead?.start();
  if (opened.begun !== null) return opened.begun.take();
  const { reading } = opened;
  // A snapshot never changes.
  if (reading.isStable || asked.at.snapshot !== null) return borrowAndClose(reading);
  reading.close();
  const frozen = await openFrozen(context, asked);
  return frozen === null ? null : borrowAndClose(frozen);
}

async function borrowAndClose(reading: Reading): Promise<BorrowedBuffer> {
  try {
    return await borrowWhole(reading);
  } finally {
    reading.close();
  }
}

/** Opens a file that has too many pieces for one body to look up, by freezing it with a write. */
function openFrozen(context: FileContext, asked: ReadOpenFile): Promise<Reading | null> {
  return context.store.transact((tx) => {
    const { tree, file, length } = admit(tx, asked);
    if (length === null) return null;
    const { map, reading } = context.contents.maps.openFrozen(tx, file.content, asked.from, length);
    writeFile(tx, tree, { ...file, content: map });
    return reading;
  });
}

interface Admitted {
  readonly tree: Tree;
  readonly file: File;
  /** Null if the file ends before. */
  readonly length: number | null;
}

function admit(view: View, asked: ReadOpenFile): Admitted {
  const { tree, item, isDirectory, opens } = admitToReadHandle(view, asked);
  if (isDirectory) throw new Fault("ResourceTypeMismatch");
  const file = readFile(view, tree, item.id);
  if (opens !== null && opens.locks > 0) {
    const locks = readLocks(view, item, opens.locks);
    refuse(judgeReadByLocks(locks, asked.handle, asked.from, asked.length));
  }
  const left = file.content.length - asked.from;
  return { tree, file, length: left > 0 ? Math.min(left, asked.length) : null };
}
