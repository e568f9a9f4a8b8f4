import type { Bytes } from "../base/bytes.ts";
import { decodeMessage, encodeMessage, type Message } from "../service/file/peer-messages.ts";
import type { Joined } from "./open-records.ts";
import type { ReloadDone } from "./reload.ts";

/** What `lazuli reload` tells a front end. */
export interface ReloadMessage extends Message {
  readonly kind: "reload";
  /** The epoch of the front end that gets the answer. */
  readonly epoch: bigint;
}

export interface ReloadedMessage extends Message, ReloadDone {
  readonly kind: "reloaded";
  readonly frontEnd: number;
}

/**
 * Reloads if a message asks for it, and answers. False for any other message, which has not been
 * touched.
 */
export function hearReload(
  message: Bytes,
  { frontEnd, messages, store }: Joined,
  reload: () => Promise<ReloadDone>,
): boolean {
  const asked = decodeMessage(message);
  if (asked.kind !== "reload") return false;
  const { epoch } = asked as ReloadMessage;
  const answer = async () => {
    const done = await reload();
    const told: ReloadedMessage = { kind: "reloaded", frontEnd: frontEnd.number, ...done };
    await store.transact((tx) => messages.post(tx, epoch, encodeMessage(told)));
  };
  // The front end that asked notices the missing answer.
  answer().catch(() => {});
  return true;
}
