import type { FileId } from "./codec/file-id.ts";
import type { FileOpen } from "./file-open.ts";
import type { PipeOpen } from "./rpc/pipe.ts";

/** What a client has open, by the kind of tree it lies in. */
export type Open = PipeOpen | FileOpen;

/** Common to all kinds. */
export interface OpenBase {
  readonly fileId: FileId;
  readonly treeId: number;
  close(): Promise<void>;
}
