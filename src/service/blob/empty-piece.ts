import { Fault } from "../../base/fault.ts";

/** A block, wherever it goes, has at least one byte. */
export function requireNotEmpty(length: number): void {
  if (length > 0) return;
  throw new Fault("InvalidInput", {
    Reason: "The source is empty. A block has at least one byte.",
  });
}
