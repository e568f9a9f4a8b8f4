import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { LazuliProcess } from "../command/process.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { FRONT_ENDS, openTestPlace } from "../sdk/test-place.ts";
import { type Door, doorTo } from "../smb/any-door.ts";

/** The arguments of an example: a connection string, and an SMB address such as `127.0.0.1:10445`. */
export interface ExampleServer {
  readonly connection: string;
  readonly smb: string;
  close(): Promise<void>;
}

const SERVICES = ["Blob", "Queue", "Table", "File", "DFS"] as const;

/**
 * Starts the program as a user does, with its data in memory. If `LAZULI_TEST_ENGINE` is `postgres`,
 * starts as many front ends as are asked for, and each connection goes to any of them.
 */
export async function startExampleServer(): Promise<ExampleServer> {
  const place = process.env.LAZULI_TEST_ENGINE === "postgres" ? await openTestPlace() : null;
  const args = place === null ? ["--inMemoryPersistence"] : ["start", ...place.args];
  const count = place === null ? 1 : FRONT_ENDS;
  const processes = Array.from(
    { length: count },
    () => new LazuliProcess([...args, ...ANY_PORTS], place?.env),
  );
  const doors: Door[] = [];
  const open = async (urls: readonly Promise<string | undefined>[]): Promise<number> => {
    const ports = (await Promise.all(urls)).map((url) => Number(new URL(url ?? "").port));
    const door = await doorTo(ports);
    doors.push(door);
    return door.port;
  };
  let connection = `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY};`;
  for (const service of SERVICES) {
    const port = await open(processes.map((process) => process.urlOf(service)));
    const name = service === "DFS" ? "Dfs" : service;
    connection += `${name}Endpoint=http://127.0.0.1:${port}/${ACCOUNT};`;
  }
  const smb = await open(
    processes.map((process) => process.printed(/^SMB service .* (smb:\S+)$/m)),
  );
  return {
    connection,
    smb: `127.0.0.1:${smb}`,
    async close() {
      await Promise.all(processes.map((process) => process.kill()));
      await Promise.all(doors.map((door) => door.close()));
      await place?.remove();
    },
  };
}
