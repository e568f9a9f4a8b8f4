import type { Bytes } from "../base/bytes.ts";

/** Callbacks for the outcome of a write. Cheaper than a promise for each. */
export interface Completion {
  written(): void;
  failed(error: unknown): void;
}

/** An extent as an upload sees it: room for a piece, which the upload pins. */
export interface WritableExtent {
  readonly extent: number;
  /** Pages must not change until the completion is called. Unless `durably`, they need a `sync`. */
  write(pages: Bytes, position: number, durably: boolean, completion: Completion): void;
  /** Resolves once everything that was written is durable. */
  sync(): Promise<void>;
  /** Releases the pin. Room that is not fully written by then stays unused. */
  release(): void;
}

/** An extent as a reading sees it. The reader pins it. */
export interface ReadableExtent {
  /** Where it is, for messages. */
  readonly path: string;
  /** Whether a run that is about to be read should bypass the system's cache. */
  isBestDirect(position: number, bytes: number): boolean;
  /** Fills whole pages; false if the extent is too short. */
  read(pages: Bytes, position: number, isDirect: boolean): Promise<boolean>;
}
