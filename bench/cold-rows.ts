import { answerTo } from "./load.ts";
import { createQueue, putMessage } from "./queue-requests.ts";
import { range } from "./range.ts";
import type { Reading } from "./reading.ts";
import { createContainer, getBlob, putBlob } from "./requests.ts";
import { ROUNDS } from "./round-robin.ts";
import { type Bench, type Row, timesAzurite } from "./row.ts";
import type { ServerName, Target } from "./server.ts";
import { batch, createTable, getEntity, insertEntity, query } from "./table-requests.ts";

/** The requests that a new process gets in most rows: they are over before its code is optimized. */
const REQUESTS = 3_000;
const CLIENTS = 32;
const SMALL_BYTES = 4 * 1024;
const LARGE_MIB = 100;
const LARGE = { index: 0, bytes: LARGE_MIB * 1024 * 1024 };
const LARGE_REQUESTS = 3;
const BATCH = 100;
const PARTITION_ENTITIES = 1_000;
const QUERIES = 30;
const SCANNED_ENTITIES = 10_000;
/** Blobs that are read in turn: writing one for each request would take longer than reading. */
const READ_BLOBS = 300;
/** No new process is measured in a row after this time, so that a run ends on a busy machine. */
const ROW_MS_MAX = 45_000;

/** The first requests of their kind to a process that has just started. */
interface ColdLoad extends Pick<Row, "name" | "bars"> {
  readonly service: "blob" | "queue" | "table";
  /** Concurrent clients. */
  readonly clients: number;
  /** What the process is asked to write before; default: nothing. */
  data?(target: Target): Buffer[];
  requests(target: Target): Buffer[];
  /** Entities in each answer. */
  readonly found?: number;
  /** MiB in a request, for rows in MiB/s. */
  readonly mib?: number;
}

const COLD_LOADS: readonly ColdLoad[] = [
  {
    name: "Cold: Put Blob 4 KiB",
    service: "blob",
    clients: CLIENTS,
    bars: [timesAzurite(3)],
    requests: (target) =>
      range(REQUESTS, (index) => putBlob(target, { index, bytes: SMALL_BYTES })),
  },
  {
    name: "Cold: Get Blob 4 KiB",
    service: "blob",
    clients: CLIENTS,
    bars: [timesAzurite(3)],
    data: (target) => range(READ_BLOBS, (index) => putBlob(target, { index, bytes: SMALL_BYTES })),
    requests: (target) =>
      range(REQUESTS, (at) => getBlob(target, { index: at % READ_BLOBS, bytes: SMALL_BYTES })),
  },
  {
    name: "Cold: Upload 100 MiB",
    service: "blob",
    clients: 1,
    mib: LARGE_MIB,
    bars: [timesAzurite(3)],
    requests: (target) => range(LARGE_REQUESTS, (index) => putBlob(target, { ...LARGE, index })),
  },
  {
    name: "Cold: Download 100 MiB",
    service: "blob",
    clients: 1,
    mib: LARGE_MIB,
    bars: [timesAzurite(3)],
    data: (target) => [putBlob(target, LARGE)],
    requests: (target) => range(LARGE_REQUESTS, () => getBlob(target, LARGE)),
  },
  {
    name: "Cold: Put Message",
    service: "queue",
    clients: CLIENTS,
    bars: [timesAzurite(3)],
    requests: (target) => range(REQUESTS, () => putMessage(target)),
  },
  {
    name: "Cold: Insert Entity",
    service: "table",
    clients: CLIENTS,
    bars: [timesAzurite(3)],
    requests: (target) => range(REQUESTS, (row) => insertEntity(target, row)),
  },
  {
    name: "Cold: Get Entity",
    service: "table",
    clients: CLIENTS,
    bars: [timesAzurite(3)],
    data: (target) => entities(target, REQUESTS),
    requests: (target) => range(REQUESTS, (row) => getEntity(target, row)),
  },
  {
    name: "Cold: Batch of 100 entities",
    service: "table",
    clients: 1,
    bars: [timesAzurite(3)],
    requests: (target) => entities(target, REQUESTS),
  },
  {
    name: "Cold: Query a partition of 1,000 entities",
    service: "table",
    clients: 1,
    bars: [timesAzurite(3)],
    data: (target) => entities(target, PARTITION_ENTITIES),
    found: PARTITION_ENTITIES,
    requests: (target) => range(QUERIES, () => query(target, "PartitionKey eq 'partition'")),
  },
  {
    name: "Cold: Filter 10,000 entities, once",
    service: "table",
    clients: 1,
    bars: [timesAzurite(1)],
    data: (target) => entities(target, SCANNED_ENTITIES),
    found: 5,
    requests: (target) => [query(target, `Value ge ${SCANNED_ENTITIES - 10} and Active eq true`)],
  },
];

const CREATE = { blob: createContainer, queue: createQueue, table: createTable };

/** The rows of `--cold`: no warm-up, a new process for each measurement. */
export const COLD_ROWS: readonly Row[] = COLD_LOADS.map((load) => ({
  name: load.name,
  unit: load.mib === undefined ? "req/s" : "MiB/s",
  servers: ["lazuli", "azurite"],
  bars: load.bars,
  measure: (server, bench) => measure(load, server, bench),
}));

/** Each round has a process and a folder of its own. */
async function measure(cold: ColdLoad, server: ServerName, bench: Bench): Promise<Reading> {
  const { servers, load, slots } = bench;
  const untilMs = performance.now() + ROW_MS_MAX;
  let processes = 0;
  const round = () =>
    servers.withFresh(server, async (process) => {
      const target = targetOf(cold, process);
      await answerTo(target, CREATE[cold.service](target));
      await load.each(target, cold.data?.(target) ?? [], cold.clients);
      const reading = await load.cold(target, cold.requests(target), cold.clients);
      if (cold.found !== undefined) await requireEntities(target, cold);
      processes++;
      return reading;
    });
  const isTimeUp = () => performance.now() >= untilMs;
  const { value, ...rest } = await slots.medianOf(null, round, ROUNDS, isTimeUp);
  return { value: value * (cold.mib ?? 1), ...rest, note: `median of ${processes}` };
}

/** Throws unless the answers had all entities that they should have. */
async function requireEntities(target: Target, { requests, found }: ColdLoad): Promise<void> {
  const [first = Buffer.alloc(0)] = requests(target);
  const entities = (await answerTo(target, first)).match(/"RowKey":/g)?.length ?? 0;
  if (entities !== found) throw new Error(`The query found ${entities} entities, not ${found}.`);
}

function targetOf({ service }: ColdLoad, process: Target): Target {
  const ports = { blob: process.port, queue: process.queuePort, table: process.tablePort };
  return { ...process, port: ports[service] };
}

function entities(target: Target, count: number): Buffer[] {
  return range(count / BATCH, (at) => batch(target, at * BATCH, BATCH));
}
