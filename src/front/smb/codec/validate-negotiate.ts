import type { Bytes } from "../../../base/bytes.ts";
import { Writer } from "./wire.ts";

interface StatedByClient {
  readonly guid: Bytes;
  readonly dialects: readonly number[];
  readonly capabilities: number;
  readonly securityMode: number;
}

interface StatedByServer {
  readonly dialect: number;
  readonly serverCapabilities: number;
  readonly serverSecurityMode: number;
}

/** Whether the client sent what arrived here, as it repeats it now. */
export function isNegotiationIntact(input: Bytes, client: StatedByClient): boolean {
  const expected = new Writer()
    .u32(client.capabilities)
    .bytes(client.guid)
    .u16(client.securityMode)
    .u16(client.dialects.length);
  for (const dialect of client.dialects) expected.u16(dialect);
  return input.equals(expected.done());
}

export function writeValidateNegotiate(server: StatedByServer, serverGuid: Bytes): Bytes {
  return new Writer()
    .u32(server.serverCapabilities)
    .bytes(serverGuid)
    .u16(server.serverSecurityMode)
    .u16(server.dialect)
    .done();
}
