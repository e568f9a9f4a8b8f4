import type { Bytes } from "../../base/bytes.ts";

/** What makes an open outlive its connection. */
export interface Durability {
  readonly timeoutMs: number;
  /** Null for version 1, which has no GUID. */
  readonly createGuid: Bytes | null;
  readonly account: string;
  /** Whether it also survives a restart of the server, and blocks others meanwhile. */
  readonly isPersistent: boolean;
}

export const DURABLE_MS = 60_000;
export const DURABLE_MS_MAX = 300_000;
