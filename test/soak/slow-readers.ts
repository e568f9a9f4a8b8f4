// Memory, and another client's p99, while clients ask for 20 MiB and never read. Flag: --readers N.
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { report } from "./figure.ts";
import {
  areClosed,
  connectAll,
  memoryFigure,
  OtherClient,
  p99Figure,
  pause,
} from "./soak-clients.ts";
import { SoakServer } from "./soak-server.ts";

const MIB = 1024 * 1024;
const BLOB_BYTES = 20 * MIB;
const LIMIT_MIB = 768;
/** Far longer than the server needs to close them, and far less than five minutes. */
const CLOSED_MS_MAX = 150_000;

const { values } = parseArgs({ options: { readers: { type: "string", default: "1000" } } });
const readers = Number(values.readers);
if (!(readers > 0)) throw new Error("--readers takes a number above 0");

const server = await SoakServer.start(LIMIT_MIB);
try {
  await soak();
} finally {
  await server.stop();
}

async function soak(): Promise<void> {
  const other = new OtherClient(server);
  await other.prepare();
  await server.blob("large").uploadData(randomBytes(BLOB_BYTES), { blockSize: 4 * MIB });
  await server.blob("large").downloadToBuffer();
  await pause(2_000);
  const before = { rss: server.rssMib, p99: await other.p99Ms() };

  const clients = await connectAll(server.port, readers);
  const request = server.head("GET", "large");
  for (const { socket } of clients) socket.write(request);
  const beganMs = performance.now();
  await pause(10_000);
  const during = { p99: await other.p99Ms(), honestMs: await downloadMs() };
  const isClosed = await areClosed(clients, CLOSED_MS_MAX);
  const closedSeconds = Math.round((performance.now() - beganMs) / 1_000);
  const peak = server.peakMib;
  for (const client of clients) client.close();
  await pause(5_000);
  const after = server.rssMib;

  const grown = after / before.rss;
  report([
    memoryFigure(`${readers} readers that take nothing: most memory`, peak),
    p99Figure("p99 of another client", before.p99, during.p99),
    {
      promise: "a download of 20 MiB beside them",
      found: `${Math.round(during.honestMs)} ms`,
      bar: "ends while they are there",
      met: true,
    },
    {
      promise: "they are closed",
      found: isClosed ? `within ${closedSeconds} s` : "no",
      bar: "long before 5 minutes",
      met: isClosed,
    },
    {
      promise: "memory afterwards",
      found: `${before.rss} to ${after} MiB, ${grown.toFixed(2)}x`,
      bar: "at most 1.3x",
      met: grown <= 1.3,
    },
  ]);
}

async function downloadMs(): Promise<number> {
  const beganMs = performance.now();
  await server.blob("large").downloadToBuffer();
  return performance.now() - beganMs;
}
