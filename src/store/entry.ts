import type { Bytes } from "../base/bytes.ts";

/** A record. As with `get`, its bytes must not be modified, and later writes do not change them. */
export interface Entry {
  readonly key: Bytes;
  readonly value: Bytes;
}
