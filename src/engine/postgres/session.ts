import type { PostgresAddress, PostgresHost } from "./address.ts";
import type { Client, Driver } from "./driver.ts";
import { addFrontEnd, prepareSchema, rows, StandbyError } from "./schema.ts";
import { ConnectionLost, Wire } from "./wire.ts";

/**
 * How long the engine waits. The defaults of `TIMES` suit a network with a failover: the server
 * frees the write lock of a front end that stopped before others give up.
 */
export interface Times {
  /** For a connection to be made. */
  readonly connectMs: number;
  /** For the answer to a batch of statements. */
  readonly answerMs: number;
  /** For the server, until it ends a transaction that holds the write lock and does nothing. */
  readonly idleMs: number;
  /** For the database to come back, before calls fail as "unreachable". */
  readonly patienceMs: number;
  /** For a notification, until a front end with listeners looks for commits of others by itself. */
  readonly pollMs: number;
}

export const TIMES: Times = {
  connectMs: 3_000,
  answerMs: 20_000,
  idleMs: 5_000,
  patienceMs: 5_000,
  pollMs: 250,
};

const STATEMENT_MARGIN_MS = 1_000;

/** The connections of a front end to one server. If one of them is lost, so is the session. */
export interface Session {
  /** For transactions that hold the write lock. */
  readonly write: Wire;
  /** For everything else. Each batch is one transaction and sees one state. */
  readonly read: Wire;
  readonly cluster: string;
  /** The number of this front end, which no other one has at any time. */
  readonly frontEnd: number;
  /** Whether both connections were there when the last message came. */
  readonly isAlive: boolean;
  close(): Promise<void>;
  /** Ends it without a word to the server. */
  destroy(): void;
}

export interface SessionSetup {
  readonly driver: Driver;
  readonly address: PostgresAddress;
  /** Identifies the front end. */
  readonly id: string;
  readonly times: Times;
  readonly makesSchema: boolean;
}

/** What happens to a session. */
export interface SessionEvents {
  onLost(): void;
  /** Another front end, or this one, says that it has made this commit. */
  onNotice(number: number): void;
}

/**
 * Connects to the first host that takes writes. Rejects with the error of a host, at the latest when
 * `signal` is aborted. Standbys are as they should be: the error of another host tells more.
 */
export async function openSession(
  setup: SessionSetup,
  events: SessionEvents,
  signal: AbortSignal,
): Promise<Session> {
  let failure: unknown = new Error("no host is named");
  let isFirst = true;
  for (const host of setup.address.hosts) {
    try {
      return await openSessionAt(setup, host, events, signal);
    } catch (error) {
      if (isFirst || failure instanceof StandbyError) failure = error;
      isFirst = false;
    }
    if (signal.aborted) break;
  }
  throw failure;
}

async function openSessionAt(
  setup: SessionSetup,
  host: PostgresHost,
  events: SessionEvents,
  signal: AbortSignal,
): Promise<Session> {
  const { schema } = setup.address;
  const clients: Client[] = [];
  const wires: Wire[] = [];
  let isAlive = true;
  const destroy = () => {
    isAlive = false;
    for (const { connection } of clients) connection.stream.destroy();
  };
  const lost = () => {
    if (!isAlive) return;
    destroy();
    events.onLost();
  };
  // A network that falls silent between two answers would hold us up until TCP gives up.
  const lateness = setTimeout(destroy, setup.times.answerMs);
  signal.addEventListener("abort", destroy);
  try {
    const writer = await connect(setup, host, clients);
    const reader = await connect(setup, host, clients);
    await requireOwnProcesses(clients);
    await writer.query(limits(setup));
    const { cluster } = await prepareSchema(writer, schema, setup.makesSchema);
    await writer.query(settings(setup));
    const frontEnd = await addFrontEnd(writer, setup.id);
    await reader.query(`${settings(setup)}; ${FOR_READS}; listen "${noticesOf(cluster)}"`);
    reader.on("notification", ({ payload }) => events.onNotice(Number(payload)));
    for (const client of [writer, reader]) {
      wires.push(new Wire(client, setup.times.answerMs, lost));
    }
    if (!isAlive) throw new ConnectionLost("the connection ended");
    const [write, read] = wires as [Wire, Wire];
    return {
      write,
      read,
      cluster,
      frontEnd,
      get isAlive() {
        return isAlive;
      },
      async close() {
        isAlive = false;
        await Promise.all(wires.map((wire) => wire.close()));
      },
      destroy,
    };
  } catch (error) {
    destroy();
    throw error;
  } finally {
    clearTimeout(lateness);
    signal.removeEventListener("abort", destroy);
  }
}

async function connect(
  { driver, address, times }: SessionSetup,
  { host, port }: PostgresHost,
  clients: Client[],
): Promise<Client> {
  const { user, password, database, ssl } = address;
  const client = new driver.Client({
    ...{ host, port, user, password, database, ssl },
    keepAlive: true,
    connectionTimeoutMillis: times.connectMs,
    application_name: "lazuli",
  });
  clients.push(client);
  // An error between two batches ends the connection; without a listener, it would end the process.
  client.on("error", () => {});
  await client.connect();
  return client;
}

/**
 * Refuses a pool in transaction mode: settings, prepared statements and notifications belong to a
 * connection. Such a pool gives both clients the connection that was used last, so they are asked
 * one after the other, and before anything is set there.
 */
async function requireOwnProcesses(clients: readonly Client[]): Promise<void> {
  const processes = new Set<unknown>();
  for (const client of clients) {
    const [row] = await rows(client, "select pg_backend_pid() as process");
    processes.add(row?.process);
  }
  if (processes.size === clients.length) return;
  throw new Error(
    "a pool there gives each transaction another connection: choose its session mode " +
      "(pool_mode = session in PgBouncer), or give the address of the server itself",
  );
}

/**
 * The plans of all statements are known in advance: by index, one row after another. Statistics of
 * a table that was empty a moment ago would mislead the planner.
 */
const PLANS = ["seqscan", "bitmapscan", "hashjoin", "mergejoin", "sort", "material"]
  .map((name) => `set enable_${name} = off`)
  .join("; ");

/** Each batch sees one state. A notification waits for no disk: the commit that it tells of is there. */
const FOR_READS = [
  "set default_transaction_isolation = 'repeatable read'",
  "set default_transaction_read_only = on",
  "set synchronous_commit = off",
].join("; ");

/** The channel on which front ends of a cluster tell each other of their commits. */
export function noticesOf(cluster: string): string {
  return `lazuli_${cluster}`;
}

/**
 * What the server ends while we connect, in case that it no longer hears of us. Not as parameters of
 * the connection, which pools refuse.
 */
function limits({ times }: SessionSetup): string {
  return [
    `set statement_timeout = ${times.answerMs}`,
    `set idle_in_transaction_session_timeout = ${times.answerMs}`,
  ].join("; ");
}

function settings({ address, times }: SessionSetup): string {
  return [
    `set search_path = ${address.schema}`,
    "set default_transaction_isolation = 'read committed'",
    "set plan_cache_mode = force_generic_plan",
    "set jit = off",
    // Acknowledged writes survive a crash, whatever the server's default is.
    "set synchronous_commit = on",
    // Later than the front end itself gives up: a commit that the server ends because its standby
    // does not answer is reported as done.
    `set statement_timeout = ${times.answerMs + STATEMENT_MARGIN_MS}`,
    `set idle_in_transaction_session_timeout = ${times.idleMs}`,
    "set client_connection_check_interval = 1000",
    PLANS,
  ].join("; ");
}
