import type { Socket } from "node:net";

/** Node's private handle of a connection. */
interface WithHandle {
  readonly _handle: { readonly bytesWritten: number; readonly writeQueueSize: number } | null;
}

/**
 * Bytes that the system has taken. Node's public counters change only when a whole write is taken,
 * which would make a slow reader look like one that has stopped.
 */
export function bytesTakenFrom(socket: Socket): number {
  const { _handle: handle } = socket as unknown as WithHandle;
  if (handle === null || handle === undefined) return socket.bytesWritten - socket.writableLength;
  return handle.bytesWritten - handle.writeQueueSize;
}
