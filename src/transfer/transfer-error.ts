/** A failure that a user can do something about. The message is one line, without secrets. */
export class TransferError extends Error {}

/** An object changed between two requests that read it. */
export class ChangedError extends TransferError {
  constructor() {
    super("It changed while it was read. Read it again when nobody writes to it.");
  }
}

/** A container or share is left out with what lies in it, and the rest goes on. */
export class LeftOutError extends TransferError {}
