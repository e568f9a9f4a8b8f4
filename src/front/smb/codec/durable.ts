import type { Bytes } from "../../../base/bytes.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import type { CreateContext } from "./create.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { Writer } from "./wire.ts";

/** A request for a durable open, or a reconnect to one after the connection was lost. */
export type DurableContext =
  | { readonly kind: "request"; readonly version2: DurableRequest | null }
  | { readonly kind: "reconnect"; readonly fileId: FileId; readonly createGuid: Bytes | null };

export interface DurableRequest {
  /** 0 for the server's default. */
  readonly timeoutMs: number;
  readonly createGuid: Bytes;
  readonly isPersistent: boolean;
}

const PERSISTENT = 2;
const BYTES = { DHnQ: 16, DHnC: 16, DH2Q: 32, DH2C: 36 } as const;

/** Reads the durable context; null if there is none. Refuses contradictory contexts. */
export function readDurable(
  contexts: readonly CreateContext[],
  knowsVersion2: boolean,
): DurableContext | null {
  if (contexts.length === 0) return null;
  const [dhnq, dhnc, dh2q, dh2c] = (["DHnQ", "DHnC", "DH2Q", "DH2C"] as const).map((name) => {
    if (!knowsVersion2 && name.startsWith("DH2")) return undefined;
    const data = contexts.find((one) => one.name === name)?.data;
    if (data !== undefined && data.length !== BYTES[name]) {
      throw new StatusError(STATUS.INVALID_PARAMETER);
    }
    return data;
  });
  const isOld = dhnq !== undefined || dhnc !== undefined;
  if ((isOld && dh2c !== undefined) || (dh2q !== undefined && (dhnc ?? dh2c) !== undefined)) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  if (dh2c !== undefined) {
    const createGuid = Buffer.from(dh2c.subarray(16, 32));
    return { kind: "reconnect", fileId: readFileId(dh2c, 0), createGuid };
  }
  if (dhnc !== undefined) {
    return { kind: "reconnect", fileId: readFileId(dhnc, 0), createGuid: null };
  }
  if (dh2q !== undefined) {
    const createGuid = Buffer.from(dh2q.subarray(16, 32));
    const timeoutMs = dh2q.readUInt32LE(0);
    const isPersistent = (dh2q.readUInt32LE(4) & PERSISTENT) !== 0;
    return { kind: "request", version2: { timeoutMs, createGuid, isPersistent } };
  }
  return dhnq === undefined ? null : { kind: "request", version2: null };
}

export function writeDurable(
  version2: { readonly timeoutMs: number; readonly isPersistent: boolean } | null,
): CreateContext {
  if (version2 === null) return { name: "DHnQ", data: new Writer().u64(0).done() };
  const { timeoutMs, isPersistent } = version2;
  const flags = isPersistent ? PERSISTENT : 0;
  return { name: "DH2Q", data: new Writer().u32(timeoutMs).u32(flags).done() };
}
