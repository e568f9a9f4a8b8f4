import type { Instant } from "../../base/clock.ts";
import { Fault } from "../../base/fault.ts";
import type { View } from "../../store/store.ts";

/** When a file goes by itself. Relative times are milliseconds. */
export type Expiry =
  | { readonly kind: "never" }
  | { readonly kind: "at"; readonly atMs: Instant }
  | { readonly kind: "afterCreation" | "fromNow"; readonly ms: number };

/** The time at which a file of that age expires; null for never. */
export function expiryOf(view: View, expiry: Expiry, createdMs: Instant): Instant | null {
  if (expiry.kind === "never") return null;
  const { kind } = expiry;
  const atMs =
    kind === "at" ? expiry.atMs : (kind === "fromNow" ? view.now() : createdMs) + expiry.ms;
  if (atMs > view.now()) return atMs;
  throw new Fault("InvalidHeaderValue", {
    HeaderName: "x-ms-expiry-time",
    Reason: "A file expires at a time that is still to come.",
  });
}

export function onlyFilesExpire(): Fault {
  return new Fault("PathConflict", {}, "Set Expiry is not supported for a directory.");
}
