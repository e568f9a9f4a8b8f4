import { isIP } from "node:net";
import type { Bytes } from "../base/bytes.ts";
import { parseS3Url, type S3Place } from "../engine/s3/s3-place.ts";
import { ADDRESS_STYLES, type S3Given, type S3Keys, type S3Options } from "./bytes-options.ts";
import { UsageError } from "./start-error.ts";

const DEFAULT_REGION = "us-east-1";
const REGION = /^[a-z0-9-]{1,64}$/;

/** Reads files; for a missing one it throws a `StartError`. */
export interface PlaceFiles {
  read(file: string): Bytes;
  exists(file: string): boolean;
}

/**
 * Checks a bucket, and reads the files that name its key and authorities. What the configuration
 * file says comes before the environment. Throws a `UsageError`.
 */
export function readBytesPlace(
  url: string,
  configured: S3Options | null,
  given: S3Given,
  files: PlaceFiles,
): S3Place {
  const { bucket, prefix } = readUrl(url);
  const region = configured?.region ?? given.region ?? DEFAULT_REGION;
  if (!REGION.test(region)) {
    throw new UsageError(`"${region}" is no region of S3: write it as in ${DEFAULT_REGION}.`);
  }
  const ownEndpoint = configured?.endpoint ?? given.endpoint;
  const endpoint = readEndpoint(ownEndpoint, region);
  const style = configured?.addressStyle ?? given.addressStyle;
  const isPathStyle =
    style === null
      ? // Buckets in host names need DNS records, which an endpoint of one's own seldom has.
        ownEndpoint !== null || bucket.includes(".")
      : requireStyle(style, endpoint) === "path";
  const credentials = chooseKeys(configured, given, files);
  const caFile = configured?.caFile ?? given.caFile;
  const authorities = caFile === null ? null : files.read(caFile);
  return { endpoint, region, bucket, prefix, isPathStyle, credentials, authorities };
}

function readUrl(url: string): Pick<S3Place, "bucket" | "prefix"> {
  try {
    return parseS3Url(url);
  } catch (error) {
    throw new UsageError(`--bytes ${url} cannot be used: ${(error as Error).message}.`);
  }
}

function readEndpoint(given: string | null, region: string): URL {
  const url = given ?? `https://s3.${region}.amazonaws.com`;
  const parsed = URL.canParse(url) ? new URL(url) : null;
  const isHttp = parsed?.protocol === "http:" || parsed?.protocol === "https:";
  if (parsed !== null && isHttp && parsed.search === "" && parsed.username === "") return parsed;
  throw new UsageError(
    `The S3 endpoint must be a URL such as http://10.1.2.3:9000, without keys; not "${url}".`,
  );
}

function requireStyle(style: string, endpoint: URL): string {
  if (!ADDRESS_STYLES.some((one) => one === style)) {
    throw new UsageError(`The S3 address style is ${ADDRESS_STYLES.join(" or ")}; not "${style}".`);
  }
  if (style === "host" && isIP(endpoint.hostname.replace(/^\[|\]$/g, "")) !== 0) {
    throw new UsageError(
      `The S3 endpoint ${endpoint.origin} has no host name that a bucket could go before: use the address style "path".`,
    );
  }
  return style;
}

/** Keys in the order of how directly they are given. */
function chooseKeys(configured: S3Options | null, given: S3Given, files: PlaceFiles): S3Keys {
  if (configured !== null && configured.keys !== null) return configured.keys;
  const file = configured?.credentialsFile ?? given.credentialsFile;
  if (file !== null) return requireKeys(file, given.profile, files);
  if (given.keys !== null) return given.keys;
  if (given.homeFile !== null && files.exists(given.homeFile)) {
    return requireKeys(given.homeFile, given.profile, files);
  }
  throw new UsageError(
    "The object store needs a key: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, " +
      "or name a file with them in --s3Credentials.",
  );
}

function requireKeys(file: string, profile: string, files: PlaceFiles): S3Keys {
  const keys = keysOfProfile(files.read(file).toString("utf8"), profile);
  if (keys !== null) return keys;
  throw new UsageError(
    `${file} has no aws_access_key_id and aws_secret_access_key under [${profile}]. ` +
      "Add them, or choose another profile with AWS_PROFILE.",
  );
}

/** Reads the keys of a profile from the text of a credentials file; null if they are not there. */
export function keysOfProfile(text: string, profile: string): S3Keys | null {
  let section = "";
  const found = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const [, name] = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line) ?? [];
    if (name !== undefined) section = name;
    const [, field, value] = /^\s*(\w+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (section === profile && field !== undefined) found.set(field, value ?? "");
  }
  const accessKeyId = found.get("aws_access_key_id");
  const secretAccessKey = found.get("aws_secret_access_key");
  if (!accessKeyId || !secretAccessKey) return null;
  return { accessKeyId, secretAccessKey, sessionToken: found.get("aws_session_token") || null };
}
