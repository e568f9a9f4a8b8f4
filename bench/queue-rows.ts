import { answerTo } from "./load.ts";
import { amongMillion } from "./million-messages.ts";
import {
  createQueue,
  deleteMessage,
  getMessages,
  putMessage,
  putMessages,
  takeMessages,
} from "./queue-requests.ts";
import { range } from "./range.ts";
import type { Reading } from "./reading.ts";
import { type Bench, flat, type Row, timesAzurite } from "./row.ts";
import type { ServerName, Target } from "./server.ts";

const VARIANTS = 2_000;
/** Messages left in the queue after the last request of a row. */
const BACKLOG = 3_000;
/** Scaled to the server's speed, so that the row takes about as long as the others. */
const TAKEN = { lazuli: 60_000, azurite: 600, observed: 0, floor: 0, samba: 0 } as const;
const SERVERS = ["lazuli", "azurite"] as const;

export const QUEUE_ROWS: readonly Row[] = [
  {
    name: "Put Message",
    unit: "req/s",
    servers: SERVERS,
    bars: [timesAzurite(10)],
    measure: onQueue((target, { load }) =>
      load.many(
        target,
        range(VARIANTS, () => putMessage(target)),
      ),
    ),
  },
  {
    name: "Get Message at a backlog of 3,000",
    unit: "req/s",
    servers: SERVERS,
    bars: [timesAzurite(100)],
    measure: onQueue(async (target, { load }, server) => {
      await load.each(target, putMessages(target, TAKEN[server] + BACKLOG));
      return load.once(
        target,
        range(TAKEN[server], () => getMessages(target, 1)),
      );
    }),
  },
  {
    name: "Delete Message at a backlog of 3,000",
    unit: "req/s",
    servers: SERVERS,
    bars: [timesAzurite(100)],
    measure: onQueue(async (target, { load }, server) => {
      await load.each(target, putMessages(target, TAKEN[server] + BACKLOG));
      const held = await takeMessages(target, TAKEN[server]);
      return load.once(
        target,
        held.map((message) => deleteMessage(target, message)),
      );
    }),
  },
  ...(["get", "peek", "delete"] as const).map(
    (operation): Row => ({
      name: `${operation[0]?.toUpperCase()}${operation.slice(1)} Message at a backlog of 1,000,000`,
      unit: "µs",
      servers: ["lazuli"],
      bars: [flat(1.3)],
      isLong: true,
      measure: (_, bench) => amongMillion(bench, operation),
    }),
  ),
];

/** Measures on a server with one empty queue. */
function onQueue(
  run: (target: Target, bench: Bench, server: ServerName) => Promise<Reading>,
): Row["measure"] {
  return (server, bench) =>
    bench.servers.withFresh(server, async (fresh) => {
      const target = { ...fresh, port: fresh.queuePort };
      await answerTo(target, createQueue(target));
      return run(target, bench, server);
    });
}
