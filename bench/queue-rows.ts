import { answerTo } from "./load.ts";
import {
  createQueue,
  deleteMessage,
  getMessages,
  type Held,
  heldIn,
  putMessage,
} from "./queue-requests.ts";
import { type Bench, type Reading, type Row, timesAzurite } from "./row.ts";
import type { ServerName, Target } from "./server.ts";

const VARIANTS = 2_000;
/** Left in the queue when the last request of a row has been answered. */
const BACKLOG = 3_000;
const MESSAGES_PER_GET = 32;
/** For a server that takes this many a second, about as long as the other rows take. */
const TAKEN: Readonly<Record<ServerName, number>> = { lazuli: 40_000, azurite: 500, floor: 0 };
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
      await fill(target, load, TAKEN[server] + BACKLOG);
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
      await fill(target, load, TAKEN[server] + BACKLOG);
      const held = await take(target, TAKEN[server]);
      return load.once(
        target,
        held.map((message) => deleteMessage(target, message)),
      );
    }),
  },
];

/** Measures on a server that has an empty queue and nothing else. */
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

/** A signature does not say which message it is for, so one request will do. */
function fill(target: Target, load: Bench["load"], messages: number): Promise<void> {
  const put = putMessage(target);
  return load.each(
    target,
    range(messages, () => put),
  );
}

async function take(target: Target, messages: number): Promise<Held[]> {
  const held: Held[] = [];
  const get = getMessages(target, MESSAGES_PER_GET);
  while (held.length < messages) held.push(...heldIn(await answerTo(target, get)));
  return held.slice(0, messages);
}

function range<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index));
}
