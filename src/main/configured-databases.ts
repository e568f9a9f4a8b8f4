import { type PostgresAddress, readAddress } from "../engine/postgres/address.ts";
import type { S3Options } from "./bytes-options.ts";
import type { Fields } from "./config-fields.ts";
import { readS3Options } from "./configured-s3.ts";

/** A database of the configuration file: records and bytes of some accounts. */
export interface DatabaseConfig {
  readonly name: string;
  /** A `postgres://` URL. */
  readonly records: string;
  /** A folder that all front ends see, or a bucket. */
  readonly bytes: string;
  /** How to reach the bucket; absent for what the server has for all. */
  readonly s3?: S3Options;
}

/** The name of the database of `--records` among several. */
export const DEFAULT_DATABASE = "default";

/** Appears in messages, and in the URL of a health check. */
const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Reads the list of databases. No two of them have a name or their records in common. */
export function readDatabases(top: Fields): DatabaseConfig[] {
  const all = top.objects("databases");
  if (all.length === 0) {
    throw top.wrong(["databases"], "names no database. Give at least one, or leave it out.");
  }
  const known: DatabaseConfig[] = [];
  for (const fields of all) {
    const database = readDatabase(fields);
    if (known.some(({ name }) => name === database.name)) {
      throw fields.problem(["name"], `there are two databases "${database.name}": rename one.`);
    }
    const same = known.find((one) => haveSameRecords(one.records, database.records));
    if (same !== undefined) throw fields.problem(["records"], sameRecords(same.name));
    known.push(database);
  }
  if (top.mayHave("records")) {
    const records = top.text("records");
    top.require("records", () => readAddress(records));
    const same = known.findIndex((one) => haveSameRecords(one.records, records));
    if (same >= 0) throw top.problem(["databases", same, "records"], SAME_AS_DEFAULT);
  }
  return known;
}

export function sameRecords(other: string): string {
  return `the database "${other}" has the same records. Name it once, for all of its accounts.`;
}

export const SAME_AS_DEFAULT =
  "--records names the same records. Leave the database out: accounts that name none are there.";

/** Reads the name of an account's database. */
export function readDatabaseName(fields: Fields, databases: readonly DatabaseConfig[]): string {
  const name = fields.text("database");
  if (databases.some((one) => one.name === name)) return name;
  const known = databases.map((one) => `"${one.name}"`).join(", ");
  const what =
    databases.length === 0
      ? `there is no database "${name}": add it to "databases", or leave it out.`
      : `there is no database "${name}". There is: ${known}.`;
  throw fields.problem(["database"], what);
}

/** Whether two URLs name the same tables, as far as one can see without asking. */
export function haveSameRecords(one: string, other: string): boolean {
  const [a, b] = [readAddress(one), readAddress(other)];
  const isNamedAlike = databaseOf(a) === databaseOf(b) && a.schema === b.schema;
  return isNamedAlike && placesOf(a).some((place) => placesOf(b).includes(place));
}

/** PostgreSQL's default is the name of the user. */
function databaseOf({ database, user }: PostgresAddress): string | undefined {
  return database ?? user;
}

function placesOf({ hosts }: PostgresAddress): string[] {
  return hosts.map(({ host, port }) => `${host.toLowerCase()}:${port}`);
}

function readDatabase(fields: Fields): DatabaseConfig {
  const database = {
    name: fields.text("name"),
    records: fields.text("records"),
    bytes: fields.text("bytes"),
    ...(fields.mayHave("s3") ? { s3: readS3Options(fields.object("s3")) } : {}),
  };
  if (!NAME.test(database.name)) {
    const what = `"${database.name}" must have 1 to 63 lower-case letters, digits and hyphens.`;
    throw fields.problem(["name"], what);
  }
  if (database.name === DEFAULT_DATABASE) {
    const what = `"${DEFAULT_DATABASE}" is the name of the database of --records: choose another.`;
    throw fields.problem(["name"], what);
  }
  fields.require("records", () => readAddress(database.records));
  fields.requireNoOthers();
  return database;
}
