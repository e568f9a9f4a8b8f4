// Memory, and another client's p99, while 100 bodies of 16 MiB are uploaded at once. Flag: --uploads N.
import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { report } from "./figure.ts";
import { connectAll, memoryFigure, OtherClient, p99Figure, pause } from "./soak-clients.ts";
import { SoakServer } from "./soak-server.ts";

const MIB = 1024 * 1024;
const BODY = randomBytes(16 * MIB);
/**
 * Half of each body is sent, so that all uploads are in progress while the other client is
 * measured.
 */
const HALF = BODY.length / 2;

const { values } = parseArgs({ options: { uploads: { type: "string", default: "100" } } });
const uploads = Number(values.uploads);
if (!(uploads > 0)) throw new Error("--uploads takes a number above 0");

const server = await SoakServer.start(768);
try {
  await soak();
} finally {
  await server.stop();
}

async function soak(): Promise<void> {
  const other = new OtherClient(server);
  await other.prepare();
  await pause(2_000);
  const before = await other.p99Ms();
  const clients = await connectAll(server.port, uploads);
  for (const [index, { socket }] of clients.entries()) {
    const lines = [`Content-Length: ${BODY.length}`, "x-ms-blob-type: BlockBlob"];
    socket.write(server.head("PUT", `large-${index}`, ...lines, "x-ms-version: 2024-11-04"));
    socket.write(BODY.subarray(0, HALF));
  }
  await pause(10_000);
  const during = await other.p99Ms();
  for (const { socket } of clients) socket.write(BODY.subarray(HALF));
  const statuses = await Promise.all(clients.map((client) => client.answer()));
  const created = statuses.filter((status) => status === 201).length;
  report([
    memoryFigure(`${uploads} uploads of 16 MiB at once: most memory`, server.peakMib),
    p99Figure("p99 of another client while they are under way", before, during),
    {
      promise: "uploads that succeed",
      found: `${created} of ${uploads}`,
      bar: "all",
      met: created === uploads,
    },
  ]);
}
