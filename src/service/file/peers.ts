import type { Bytes } from "../../base/bytes.ts";
import type { Transaction } from "../../store/store.ts";

/** The other front ends on the same records, for what concerns their SMB clients. */
export interface Peers {
  /** Marks the handles that clients of this front end open now. */
  epoch(): bigint;
  /** Sends a message to the front end with this epoch, if the transaction is committed. */
  post(tx: Transaction, epoch: bigint, message: Bytes): void;
  /** Calls `receive` with each message for this front end, in the order of the commits. */
  listen(receive: (message: Bytes) => void): void;
}
