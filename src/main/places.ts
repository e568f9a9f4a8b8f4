import { existsSync } from "node:fs";
import type { S3Place } from "../engine/s3/s3-place.ts";
import { isBucket, type S3Given } from "./bytes-options.ts";
import { readBytesPlace } from "./bytes-place.ts";
import type { Config } from "./config-file.ts";
import { type DatabaseConfig, haveSameRecords, SAME_AS_DEFAULT } from "./configured-databases.ts";
import type { DataPlace } from "./open-data.ts";
import { readFile } from "./read-file.ts";
import { readRecordsAddress, type SharedPlace } from "./shared-place.ts";
import { UsageError } from "./start-error.ts";

/** Where data of some accounts is. */
export interface NamedPlace extends DataPlace {
  /** Null for the data folder, memory, or the records of `--records`. */
  readonly name: string | null;
}

/** What the command line says about places. */
export interface PlaceOptions {
  /** Null if all data stays in memory. */
  readonly location: string | null;
  readonly isLocationGiven: boolean;
  readonly memoryBytesMax: number | null;
  readonly acceptDataLoss: boolean;
  readonly records: string | null;
  readonly bytes: string | null;
  readonly s3: S3Given;
  readonly configFile: string | null;
  /** Null without a lab. */
  readonly lab: unknown;
}

interface Places {
  readonly shared: SharedPlace | null;
  readonly bucket: S3Place | null;
  readonly places: readonly NamedPlace[];
}

/** Reads where the data is, from flags and the configuration file. Throws a `UsageError`. */
export function choosePlaces(options: PlaceOptions, config: Config): Places {
  const [records, bytes] = [chosen(options, config, "records"), chosen(options, config, "bytes")];
  const { databases = [] } = config;
  const forDatabases = databases.some((one) => isBucket(one.bytes));
  const bucket = isBucket(bytes) || !forDatabases ? chooseBucket(bytes, options, config) : null;
  const shared = chooseShared(records, bytes, options);
  if ((shared !== null || databases.length > 0) && options.lab !== null) {
    throw new UsageError("--lab and --records contradict each other: the database has the clock.");
  }
  if ((shared !== null || databases.length > 0) && options.isLocationGiven) {
    const what = databases.length > 0 ? `"databases" in ${options.configFile}` : "shared records";
    throw new UsageError(
      `--location and ${what} contradict each other: data is in a folder, or shared. Keep one.`,
    );
  }
  const named = databases.map((one) => placeOf(one, options, config));
  if (named.length === 0 || shared !== null) {
    const { memoryBytesMax, acceptDataLoss } = options;
    const location = shared === null ? options.location : null;
    const own = { name: null, location, memoryBytesMax, acceptDataLoss, shared, bucket };
    return { shared, bucket, places: [own, ...named] };
  }
  if (bucket !== null) {
    throw new UsageError(
      `--bytes belongs to --records, and ${options.configFile} has "databases": give each of them its "bytes".`,
    );
  }
  return { shared, bucket, places: named };
}

/** Requires that each account is in one of the places. */
export function requirePlaces(
  accounts: readonly { readonly name: string }[],
  places: readonly NamedPlace[],
  placeOfAccount: ReadonlyMap<string, string>,
  source: string,
): void {
  if (places.some(({ name }) => name === null)) return;
  const homeless = accounts.find(({ name }) => !placeOfAccount.has(name));
  if (homeless === undefined) return;
  throw new UsageError(
    `${source}: the account "${homeless.name}" names no database: add "database" to it, ` +
      "or give --records for accounts without one.",
  );
}

/** The place of one of several databases. Throws a `UsageError`. */
export function placeOf(
  { name, records, bytes, s3 }: DatabaseConfig,
  options: Pick<PlaceOptions, "configFile" | "location" | "records" | "s3">,
  config: Config,
): NamedPlace {
  const { configFile, location } = options;
  if (location === null) {
    throw new UsageError(
      `--inMemoryPersistence and "databases" in ${configFile} contradict each other: keep one.`,
    );
  }
  if (options.records !== null && haveSameRecords(options.records, records)) {
    throw new UsageError(`${configFile}: database "${name}": ${SAME_AS_DEFAULT}`);
  }
  const shared = { records, bytes };
  const place = { name, location: null, memoryBytesMax: null, shared };
  if (!isBucket(bytes)) {
    if (s3 === undefined) return { ...place, bucket: null };
    throw new UsageError(
      `${configFile}: database "${name}": "s3" is about a bucket: name it in "bytes".`,
    );
  }
  const files = { read: readFile, exists: existsSync };
  try {
    const bucket = readBytesPlace(bytes, s3 ?? config.s3 ?? null, options.s3, files);
    return { ...place, bucket };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${configFile}: database "${name}": ${error.message}`);
  }
}

/** Flags and configuration file may each name a place, but neither one twice. */
export function chosen(
  options: Pick<PlaceOptions, "records" | "bytes" | "configFile">,
  config: Config,
  name: "records" | "bytes",
): string | null {
  if (options[name] === null || config[name] === undefined) {
    return options[name] ?? config[name] ?? null;
  }
  throw new UsageError(
    `--${name} is given twice, also in ${options.configFile}: keep one of them.`,
  );
}

function chooseShared(
  records: string | null,
  bytes: string | null,
  { location }: PlaceOptions,
): SharedPlace | null {
  if (records === null && (bytes === null || isBucket(bytes))) return null;
  if (records === null) {
    throw new UsageError(
      "--bytes belongs to --records, unless it is s3://bucket/prefix: give both, or neither.",
    );
  }
  if (bytes === null) {
    throw new UsageError(
      "--records needs a place for bytes: give a folder with --bytes, or s3://bucket/prefix.",
    );
  }
  if (location === null) {
    throw new UsageError("--inMemoryPersistence and --records contradict each other: keep one.");
  }
  readRecordsAddress(records);
  return { records, bytes };
}

type BucketOptions = Pick<PlaceOptions, "s3" | "configFile" | "location">;

/** The bucket for bytes, with its key; null if bytes are not in one. Throws a `UsageError`. */
export function chooseBucket(
  bytes: string | null,
  { s3, configFile, location }: BucketOptions,
  config: Config = {},
): S3Place | null {
  const configured = config.s3 ?? null;
  if (!isBucket(bytes)) {
    const what = configured === null ? s3.flag && `--${s3.flag}` : `"s3" in ${configFile}`;
    if (what === null) return null;
    throw new UsageError(`${what} is about a bucket: name it with --bytes s3://bucket/prefix.`);
  }
  if (location === null) {
    throw new UsageError("--inMemoryPersistence and --bytes contradict each other: keep one.");
  }
  if (configured !== null && s3.flag !== null) {
    throw new UsageError(
      `--${s3.flag} and "s3" in ${configFile} are both given: keep one of them.`,
    );
  }
  return readBytesPlace(bytes, configured, s3, { read: readFile, exists: existsSync });
}
