import { count, orNull, struct, text } from "../../base/fields.ts";

/** A stored access policy in the record of a container, queue, table or share. */
export const storedPolicy = struct({
  id: text,
  startMs: orNull(count),
  expiryMs: orNull(count),
  letters: orNull(text),
});
