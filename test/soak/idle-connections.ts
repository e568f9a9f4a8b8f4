// Whether 4,096 connections that idle after a bad request lock others out, and how long a stop takes. No flags.
import { report } from "./figure.ts";
import { connectAll, memoryFigure, OtherClient, p99Figure, pause } from "./soak-clients.ts";
import { SoakServer } from "./soak-server.ts";

/** The connection limit of a service: each is one file descriptor of this process. */
const CONNECTIONS = 4_096;
const NEWCOMERS = 200;

const server = await SoakServer.start(768);
try {
  await soak();
} finally {
  await server.stop();
}

async function soak(): Promise<void> {
  const other = new OtherClient(server);
  await other.prepare();
  const before = await other.p99Ms();
  const clients = await connectAll(server.port, CONNECTIONS);
  const bad = "GET /%zz HTTP/1.1\r\nHost: x\r\nx-ms-version: never\r\n\r\n";
  const statuses = await Promise.all(clients.map((client) => client.ask(bad)));
  const refused = statuses.filter((status) => status === 400).length;
  const during = await other.p99Ms();
  const newcomers = await connectAll(server.port, NEWCOMERS);
  const request = server.head("GET", "small");
  const served = await Promise.all(newcomers.map((client) => client.ask(request)));
  await pause(1_000);
  const open = clients.filter(({ socket }) => !socket.destroyed).length;
  const answered = served.filter((status) => status === 200).length;
  const peak = server.peakMib;
  const beganMs = performance.now();
  const code = await server.end();
  const stopMs = Math.round(performance.now() - beganMs);
  for (const client of [...clients, ...newcomers]) client.close();
  report([
    {
      promise: `newcomers served beside ${refused} connections that idle after a bad request`,
      found: `${answered} of ${NEWCOMERS}, ${open} of the others still open`,
      bar: "all",
      met: answered === NEWCOMERS,
    },
    p99Figure("p99 of another client", before, during),
    memoryFigure("most memory", peak),
    {
      promise: "a stop with all of them open",
      found: `${stopMs} ms, exit ${code}`,
      bar: "exit 0",
      met: code === 0,
    },
  ]);
}
