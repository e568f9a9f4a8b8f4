import type { Bytes } from "../../base/bytes.ts";
import type { BreakMessage } from "./cache-breaks.ts";
import { decodeMessage } from "./peer-messages.ts";
import type { ChangesMessage, WatchedFiles } from "./watched-store.ts";

/** Passes on what another front end tells: to a client of ours, or to its watchers. */
export function receiveMessage({ store, breaks }: WatchedFiles, message: Bytes): void {
  const told = decodeMessage(message) as BreakMessage | ChangesMessage;
  if (told.kind === "break") breaks.send(store, told.notice);
  else store.hear(told.changes);
}
