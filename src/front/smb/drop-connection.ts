/** Thrown if a client violates the protocol: its connection is closed without a response. */
export class DropConnection extends Error {}
