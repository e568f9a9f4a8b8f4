import { count, oneOf, orNull, type RecordOf, struct, text } from "../../base/fields.ts";

/** The fields stored about a copy, whatever its target. */
export const copyShape = {
  id: text,
  /** The source's URL without its SAS or other credentials. */
  source: text,
  status: oneOf("pending", "success", "aborted", "failed"),
  bytesDone: count,
  bytesTotal: count,
  /** When it ended; null while it is pending. */
  completedMs: orNull(count),
  /** Why it failed. */
  description: text,
};

/** The last copy to a file, as its record stores it. Blobs store more fields. */
export type StoredCopy = Readonly<RecordOf<typeof copyShape>>;

export const storedCopy = orNull(struct(copyShape));

/** A copy that has just started. */
export function pendingCopy(id: string, source: string, bytesTotal: number): StoredCopy {
  const status = "pending";
  return { id, source, status, bytesDone: 0, bytesTotal, completedMs: null, description: "" };
}
