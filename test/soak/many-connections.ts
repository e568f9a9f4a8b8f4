// Memory, and another client's p99, with 1,600 connections used round robin. Flag: --connections N.
import { parseArgs } from "node:util";
import { report } from "./figure.ts";
import {
  connectAll,
  memoryFigure,
  OtherClient,
  p99Figure,
  pause,
  type SoakClient,
} from "./soak-clients.ts";
import { SoakServer } from "./soak-server.ts";

const MEDIUM_BYTES = 64 * 1024;
/** Concurrent requests, so that few and many connections have the same load. */
const AT_ONCE = 4;
const FEW = 16;

const { values } = parseArgs({ options: { connections: { type: "string", default: "1600" } } });
const connections = Number(values.connections);
if (!(connections >= AT_ONCE)) throw new Error(`--connections takes a number from ${AT_ONCE} on`);

const server = await SoakServer.start(768);
try {
  await soak();
} finally {
  await server.stop();
}

async function soak(): Promise<void> {
  const other = new OtherClient(server);
  await other.prepare();
  const bytes = Buffer.alloc(MEDIUM_BYTES, 1);
  await server.blob("medium").upload(bytes, bytes.length);
  const few = await measure(other, FEW);
  const many = await measure(other, connections);
  // All at once, as after a pause of the network.
  const clients = await connectAll(server.port, connections);
  const request = server.head("GET", "medium");
  const statuses = await Promise.all(clients.map((client) => client.ask(request)));
  const answered = statuses.filter((status) => status === 200 || status === 503).length;
  for (const client of clients) client.close();
  report([
    memoryFigure(`${connections} active connections: most memory`, server.peakMib),
    p99Figure(`p99 of another client, ${FEW} connections and ${connections}`, few.p99, many.p99),
    {
      promise: "requests on them, in turn and then all at once",
      found: `${many.refused} and ${statuses.length - answered} not answered`,
      bar: "none",
      met: many.refused === 0 && answered === statuses.length,
    },
  ]);
}

/** The other client's p99 while requests for 64 KiB rotate over `count` connections. */
async function measure(other: OtherClient, count: number) {
  const clients = await connectAll(server.port, count);
  const request = server.head("GET", "medium");
  let isOver = false;
  let refused = 0;
  const ask = async (first: number) => {
    for (let at = first; !isOver; at = (at + AT_ONCE) % count) {
      const status = await (clients[at] as SoakClient).ask(request);
      if (status !== 200) refused++;
      await pause(2);
    }
  };
  const asking = Array.from({ length: AT_ONCE }, (_, first) => ask(first));
  const p99 = await other.p99Ms();
  isOver = true;
  await Promise.all(asking);
  for (const client of clients) client.close();
  return { p99, refused };
}
