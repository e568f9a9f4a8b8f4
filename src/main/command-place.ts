import type { GivenFlags } from "./account-flags.ts";
import { isBucket, type S3Given } from "./bytes-options.ts";
import { type Config, readConfig } from "./config-file.ts";
import { DEFAULT_DATABASE } from "./configured-databases.ts";
import { chooseBucket, chosen, type NamedPlace, placeOf } from "./places.ts";
import { readFile } from "./read-file.ts";
import { readRecordsAddress, type SharedPlace } from "./shared-place.ts";
import { UsageError } from "./start-error.ts";

/** What a command works on. */
export interface DataAsked {
  readonly location: string;
  /** Null for the data folder. */
  readonly shared: SharedAsked | null;
}

/** Which records a command works on that front ends share, as its flags say it. */
export interface SharedAsked {
  readonly records: string | null;
  readonly bytes: string | null;
  readonly s3: S3Given;
  readonly configFile: string | null;
  /** One of several databases of the configuration file. */
  readonly database: string | null;
}

/** Flags that are about shared records. */
const SHARED_FLAGS = ["records", "config", "database"] as const;

/**
 * Whether a command works on shared records, and not on a data folder. Call it before the
 * environment adds flags: it decides only if the command line does not. Throws a `UsageError`.
 */
export function asksForShared(given: GivenFlags, records: string | undefined): boolean {
  const flag = SHARED_FLAGS.find((name) => given.has(name));
  if (flag === undefined) return Boolean(records) && !given.has("location");
  if (!given.has("location")) return true;
  throw new UsageError(
    `--${flag} and --location contradict each other: data is in a folder, or shared.`,
  );
}

/** The URL of the records; that of a configuration file is for front ends that use the same file. */
export function chooseRecords(asked: SharedAsked): string {
  return chooseRecordsIn(asked, configOf(asked)).records;
}

/** Records and bytes. Throws a `UsageError`. */
export function choosePlace(asked: SharedAsked): NamedPlace & { readonly shared: SharedPlace } {
  const config = configOf(asked);
  const { name, records } = chooseRecordsIn(asked, config);
  const location = "";
  const found = config.databases?.find((one) => one.name === name);
  if (found !== undefined) {
    const place = placeOf(found, { ...asked, location, records: null }, config);
    return { ...place, shared: { records, bytes: found.bytes } };
  }
  const bytes = chosen(asked, config, "bytes");
  if (bytes === null) {
    throw new UsageError(
      "This needs the bytes of these records, too: name their folder or bucket with --bytes.",
    );
  }
  const bucket = isBucket(bytes) ? chooseBucket(bytes, { ...asked, location }, config) : null;
  const shared = { records, bytes };
  return { name: null, location: null, memoryBytesMax: null, shared, bucket };
}

function configOf({ configFile }: SharedAsked): Config {
  return configFile === null ? {} : readConfig(configFile, readFile(configFile).toString("utf8"));
}

interface NamedRecords {
  readonly name: string;
  readonly records: string;
}

function chooseRecordsIn(asked: SharedAsked, config: Config): NamedRecords {
  const { database, configFile } = asked;
  const records = chosen(asked, config, "records");
  const all: readonly NamedRecords[] = [
    ...(records === null ? [] : [{ name: DEFAULT_DATABASE, records }]),
    ...(config.databases ?? []),
  ];
  const [first] = all;
  if (first === undefined) {
    throw new UsageError(
      `${configFile ?? "The command line"} names no records: give them with --records, or leave ` +
        "out --config and --database for a data folder.",
    );
  }
  const names = all.map(({ name }) => name).join(", ");
  if (database === null && all.length > 1) {
    throw new UsageError(`There are several databases: choose one with --database: ${names}.`);
  }
  const found = database === null ? first : all.find(({ name }) => name === database);
  if (found === undefined) {
    throw new UsageError(`There is no database "${database}". There is: ${names}.`);
  }
  readRecordsAddress(found.records);
  return found;
}
