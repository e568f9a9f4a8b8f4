/** A failure that a user can do something about. The message is one line, without secrets. */
export class TransferError extends Error {}

/** A container or share is left out with what lies in it, and the rest goes on. */
export class LeftOutError extends TransferError {}
