import type { FileOpen } from "./file-open.ts";
import type { PipeOpen } from "./rpc/pipe.ts";

/** Something that a client has open: a pipe or a file. */
export type Open = PipeOpen | FileOpen;
