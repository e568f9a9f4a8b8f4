import { SmbClient, TcpLine } from "../src/front/smb/smb-client.fixture.ts";
import { memoryOfTree } from "./proc.ts";
import type { Reading } from "./reading.ts";
import { SHARE } from "./samba.ts";
import type { Target } from "./server.ts";
import { ACCOUNT, KEY } from "./shared-key.ts";

const MANY = 1_000;
const FEW = 10;
/** The few connect and disconnect this often, so that both memory readings are of a warm server. */
const ROUNDS_OF_FEW = 100;
const MIB = 1024 * 1024;

/** Measures the memory of idle connections, each with a session and a tree. */
export async function memoryOfConnections(target: Target): Promise<Reading> {
  for (let round = 1; round < ROUNDS_OF_FEW; round++) close(await open(target, FEW));
  const few = await open(target, FEW);
  const withFew = memoryOfTree(target.pid);
  close(few);
  const many = await open(target, MANY);
  const withMany = memoryOfTree(target.pid);
  close(many);
  return {
    value: withMany.ownBytes / MIB,
    inTheSmall: withFew.ownBytes / MIB,
    note: `small: ${FEW} connections`,
  };
}

async function open({ smbPort }: Target, connections: number): Promise<SmbClient[]> {
  const clients: SmbClient[] = [];
  for (let index = 0; index < connections; index++) {
    const client = new SmbClient(await TcpLine.open(smbPort));
    await client.negotiate();
    await client.logOn({ user: ACCOUNT, domain: "", password: KEY.toString("base64") });
    const { status } = await client.treeConnect(SHARE);
    if (status !== 0) throw new Error(`A connection was refused with 0x${status.toString(16)}.`);
    clients.push(client);
  }
  return clients;
}

function close(clients: readonly SmbClient[]): void {
  for (const { line } of clients) line.close();
}
