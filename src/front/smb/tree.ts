/** A share that a session is connected to. */
export type Tree = PipeTree | ShareTree;

/** `IPC$`: no files, but pipes that services listen at. */
export interface PipeTree {
  readonly kind: "pipe";
  readonly id: number;
}

export interface ShareTree {
  readonly kind: "share";
  readonly id: number;
  readonly share: string;
}
