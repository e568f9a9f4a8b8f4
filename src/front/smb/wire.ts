import type { BorrowedBuffer } from "../../base/borrowed-buffer.ts";
import type { Share } from "../send-budget.ts";

/** The socket, as the rest of the server sees it. */
export interface Wire {
  readonly remoteAddress: string;
  /** Sends the parts as one frame, and then releases them. */
  send(frame: BorrowedBuffer): void;
  /** Waits for memory for a response to READ. */
  shareFor(bytes: number): Promise<Share>;
  /** Closes the socket at once. */
  drop(): void;
}
