import { randomUUID } from "node:crypto";
import type { Client } from "./driver.ts";

/** The newest version of the schema that this program knows. */
export const SCHEMA_VERSION = 1;

/** The oldest release of PostgreSQL with everything that the statements use. */
export const SERVER_VERSION_MIN = 14;

/** The statements that lead from one version to the next, beginning with none. */
const STEPS: readonly string[] = [
  `
  create table kv (
    head bytea not null,
    digest bytea not null,
    rest bytea not null,
    value bytea not null,
    primary key (head, digest)
  ) with (fillfactor = 85);
  alter table kv alter column value set storage external;
  create table last_commit (
    only_row boolean primary key default true check (only_row),
    number bigint not null,
    stamp bigint not null,
    milliseconds bigint not null
  ) with (fillfactor = 10);
  insert into last_commit (number, stamp, milliseconds) values (0, 0, 0);
  create table change (number bigint primary key, keys bytea[]);
  create table front_end (
    id bytea primary key,
    number bigint generated always as identity,
    sequence bigint not null,
    milliseconds bigint not null
  ) with (fillfactor = 10);
  `,
];

/** One database of Lazuli, as its schema describes it. */
export interface SchemaInfo {
  /** Identifies the cluster: all front ends on this schema, and the bytes that they share. */
  readonly cluster: string;
}

/**
 * Makes the schema, or brings it up to date, or checks that it is not newer than this program.
 * Errors say in one line what to do. Without `makes`, the schema must be there and up to date.
 */
export async function prepareSchema(
  client: Client,
  schema: string,
  makes: boolean,
): Promise<SchemaInfo> {
  await requireUsableServer(client);
  // Without the lock: all front ends come here after a failover, and one that stops while it has
  // the lock would keep the others away.
  const found = await readSchema(client, schema);
  if (found?.version === SCHEMA_VERSION) return found;
  if (!makes) {
    if (found !== null) throw new Error(olderSchema(schema, found.version));
    throw new Error(`there are no records in the schema ${schema}: ${CHECK_ADDRESS}`);
  }
  return makeSchema(client, schema);
}

/** A lock makes other front ends that start at this moment wait. */
async function makeSchema(client: Client, schema: string): Promise<SchemaInfo> {
  await client.query(`begin; select pg_advisory_xact_lock(${SCHEMA_LOCK})`);
  try {
    if ((await readSchema(client, schema)) === null) {
      await client.query(
        `create schema if not exists ${schema};
        create table ${schema}.lazuli (version integer not null, cluster text not null);
        insert into ${schema}.lazuli values (0, '${randomUUID()}')`,
      );
    }
    const found = (await readSchema(client, schema)) as SchemaInfo & { readonly version: number };
    await client.query(`set local search_path = ${schema}`);
    for (const step of STEPS.slice(found.version)) await client.query(step);
    if (found.version < SCHEMA_VERSION) {
      await client.query(`update lazuli set version = ${SCHEMA_VERSION}`);
    }
    await client.query("commit");
    return found;
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

/** Null if there is none. Throws if it is newer than this program. */
async function readSchema(
  client: Client,
  schema: string,
): Promise<(SchemaInfo & { readonly version: number }) | null> {
  if (!(await hasTable(client, schema))) return null;
  const [row] = await rows(client, `select version, cluster from ${schema}.lazuli`);
  const version = Number(row?.version);
  requireKnown(schema, version);
  return { version, cluster: String(row?.cluster) };
}

const CHECK_ADDRESS = "check the database and ?schema=NAME, or start a front end there first";

function olderSchema(schema: string, version: number): string {
  return (
    `the schema ${schema} was made by an older Lazuli (version ${version}): start a front end of ` +
    "this one first, which brings it up to date"
  );
}

/** Any number that other programs in the database do not lock. */
export const SCHEMA_LOCK = 0x6c617a75;

/**
 * Looks into the catalog's tables. `to_regclass` may answer from the session's cache, which does not
 * hear of a table that another front end has made while this one waited for the advisory lock.
 */
async function hasTable(client: Client, schema: string): Promise<boolean> {
  const [row] = await rows(
    client,
    `select exists (
      select from pg_catalog.pg_class
      join pg_catalog.pg_namespace on pg_namespace.oid = pg_class.relnamespace
      where nspname = '${schema}' and relname = 'lazuli'
    ) as found`,
  );
  return row?.found === true;
}

function requireKnown(schema: string, version: number): void {
  if (version <= SCHEMA_VERSION) return;
  throw new Error(
    `the schema ${schema} was made by a newer Lazuli (version ${version}), this one knows up to ` +
      `${SCHEMA_VERSION}: install a newer Lazuli, or choose another schema with ?schema=NAME`,
  );
}

/** A primary may take its place at any moment, so that another attempt is worth while. */
export class StandbyError extends Error {
  /** As the server says of a write. */
  readonly code = "25006";

  constructor() {
    super("the server is a standby");
  }
}

async function requireUsableServer(client: Client): Promise<void> {
  const [row] = await rows(
    client,
    `select current_setting('server_version') as version,
      current_setting('server_version_num')::integer as number,
      pg_is_in_recovery() as is_standby,
      current_setting('transaction_read_only') = 'on' as is_read_only,
      current_setting('server_encoding') as encoding`,
  );
  requireServerVersion(Number(row?.number), String(row?.version));
  if (row?.is_standby === true) {
    throw new StandbyError();
  }
  if (row?.is_read_only === true) {
    throw new Error(
      "the database is read-only: make it writable (default_transaction_read_only), or choose another",
    );
  }
}

/** `number` is PostgreSQL's `server_version_num`. */
export function requireServerVersion(number: number, version: string): void {
  if (number >= SERVER_VERSION_MIN * 10_000) return;
  throw new Error(
    `the server is PostgreSQL ${version}, which is too old: it takes ${SERVER_VERSION_MIN} or later`,
  );
}

/**
 * Adds a front end, unless it is there from an earlier session. Resolves to its number. It is looked
 * for first: each insert uses up a number, and a write would wait for a standby that is gone.
 */
export async function addFrontEnd(client: Client, id: string): Promise<number> {
  const find = () => rows(client, `select number from front_end where id = '\\x${id}'`);
  let [row] = await find();
  if (row === undefined) {
    await client.query(
      `insert into front_end (id, sequence, milliseconds) values ('\\x${id}', 0, 0)
      on conflict do nothing`,
    );
    [row] = await find();
  }
  return Number(row?.number);
}

export async function rows(
  client: Client,
  text: string,
): Promise<readonly Record<string, unknown>[]> {
  return ((await client.query(text)) as { rows: Record<string, unknown>[] }).rows;
}
