import { count, type Field, orNull, struct, text } from "../../base/fields.ts";

/** -1 to 2^53 - 1: for durations, where -1 means without end. */
const seconds: Field<number> = {
  write: (to, value) => to.count(value + 1),
  read: (from) => from.count() - 1,
};

/** A lease in the record of a container, blob, share or file. */
export const storedLease = orNull(
  struct({
    id: text,
    durationSeconds: seconds,
    untilMs: orNull(count),
    brokenAtMs: orNull(count),
  }),
);
