import { count, oneOf, orNull, type RecordOf, struct, text } from "../../base/fields.ts";

/** What is stored of a copy, wherever it goes. */
export const copyShape = {
  id: text,
  /** The source's URL, without what opens it. */
  source: text,
  status: oneOf("pending", "success", "aborted", "failed"),
  bytesDone: count,
  bytesTotal: count,
  /** When it ended; null while it is pending. */
  completedMs: orNull(count),
  /** Why it failed. */
  description: text,
};

/** The last copy to a file, in its record; those to blobs say more. */
export type StoredCopy = Readonly<RecordOf<typeof copyShape>>;

export const storedCopy = orNull(struct(copyShape));

/** A copy that has only begun. */
export function pendingCopy(id: string, source: string, bytesTotal: number): StoredCopy {
  const status = "pending";
  return { id, source, status, bytesDone: 0, bytesTotal, completedMs: null, description: "" };
}
