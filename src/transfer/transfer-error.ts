/** A failure that a user can do something about. The message is one line, without secrets. */
export class TransferError extends Error {}
