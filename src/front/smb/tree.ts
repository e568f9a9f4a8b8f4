/** A share that a session is connected to. */
export type Tree = PipeTree | ShareTree;

/** `IPC$`, which has named pipes of services instead of files. */
export interface PipeTree {
  readonly kind: "pipe";
  readonly id: number;
}

export interface ShareTree {
  readonly kind: "share";
  readonly id: number;
  readonly share: string;
}

/** The name of the pipes' share. */
export const IPC_SHARE = "ipc$";

export function shareOf(tree: Tree): string {
  return tree.kind === "share" ? tree.share : IPC_SHARE;
}
