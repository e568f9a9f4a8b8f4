/** The client does what no honest client does: its connection is closed without an answer. */
export class DropConnection extends Error {}
