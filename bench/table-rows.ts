import { answerTo } from "./load.ts";
import { range } from "./range.ts";
import type { Reading } from "./reading.ts";
import { type Bench, type Row, timesAzurite } from "./row.ts";
import type { ServerName, Target } from "./server.ts";
import {
  batch,
  createTable,
  getEntity,
  insertEntity,
  query,
  updateEntity,
} from "./table-requests.ts";

const BATCH = 100;
const VARIANTS = 2_000;
/** Scaled to the server's speed, so that the row takes about as long as the others. */
const INSERTS = { lazuli: 90_000, azurite: 9_000, observed: 0, floor: 0, samba: 0 } as const;
const PARTITION_ENTITIES = 1_000;
const SCANNED_ENTITIES = 10_000;
const SERVERS = ["lazuli", "azurite"] as const;

export const TABLE_ROWS: readonly Row[] = [
  {
    name: "Insert Entity",
    unit: "req/s",
    servers: SERVERS,
    bars: [timesAzurite(10)],
    measure: onTable((target, { load }, server) =>
      load.once(
        target,
        range(INSERTS[server], (row) => insertEntity(target, row)),
      ),
    ),
  },
  {
    name: "Update Entity with If-Match",
    unit: "req/s",
    servers: SERVERS,
    bars: [timesAzurite(10)],
    measure: onTable(async (target, { load }) => {
      await fill(target, load, VARIANTS);
      return load.many(
        target,
        range(VARIANTS, (row) => updateEntity(target, row)),
      );
    }),
  },
  {
    name: "Get Entity",
    unit: "req/s",
    servers: SERVERS,
    bars: [timesAzurite(10)],
    measure: onTable(async (target, { load }) => {
      await fill(target, load, VARIANTS);
      return load.many(
        target,
        range(VARIANTS, (row) => getEntity(target, row)),
      );
    }),
  },
  {
    name: "Batch of 100 entities",
    unit: "req/s",
    servers: SERVERS,
    bars: [timesAzurite(5)],
    measure: onTable((target, { load }) =>
      load.single(
        target,
        range(BATCH, (at) => batch(target, at * BATCH, BATCH)),
      ),
    ),
  },
  {
    name: "Query a partition of 1,000 entities",
    unit: "req/s",
    servers: SERVERS,
    bars: [timesAzurite(10)],
    measure: onTable(async (target, { load }) => {
      await fill(target, load, PARTITION_ENTITIES);
      const asked = query(target, "PartitionKey eq 'partition'");
      await expectEntities(target, asked, PARTITION_ENTITIES);
      return load.single(target, [asked]);
    }),
  },
  {
    name: "Filter 10,000 entities",
    unit: "req/s",
    servers: SERVERS,
    bars: [timesAzurite(5)],
    measure: onTable(async (target, { load }) => {
      await fill(target, load, SCANNED_ENTITIES);
      const asked = query(target, `Value ge ${SCANNED_ENTITIES - 10} and Active eq true`);
      await expectEntities(target, asked, 5);
      return load.many(target, [asked]);
    }),
  },
];

/** Measures on a server with one empty table. */
function onTable(
  run: (target: Target, bench: Bench, server: ServerName) => Promise<Reading>,
): Row["measure"] {
  return (server, bench) =>
    bench.servers.withFresh(server, async (fresh) => {
      const target = { ...fresh, port: fresh.tablePort };
      await answerTo(target, createTable(target));
      return run(target, bench, server);
    });
}

async function fill(target: Target, load: Bench["load"], entities: number): Promise<void> {
  const batches = range(entities / BATCH, (at) => batch(target, at * BATCH, BATCH));
  await load.each(target, batches);
}

async function expectEntities(target: Target, asked: Buffer, wanted: number): Promise<void> {
  const found = (await answerTo(target, asked)).match(/"RowKey":/g)?.length ?? 0;
  if (found !== wanted) throw new Error(`The query found ${found} entities.`);
}
