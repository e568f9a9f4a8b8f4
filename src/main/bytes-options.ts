import type { GivenFlags } from "./account-flags.ts";
import { UsageError } from "./start-error.ts";

export const ADDRESS_STYLES = ["path", "host"] as const;

/** Where a bucket is and how to use it, as flags or the configuration file say it. */
export interface S3Options {
  readonly endpoint: string | null;
  readonly region: string | null;
  readonly addressStyle: string | null;
  /** A file in the format of AWS. */
  readonly credentialsFile: string | null;
  readonly caFile: string | null;
  /** The keys themselves; null if they are to be found elsewhere. */
  readonly keys: S3Keys | null;
}

export interface S3Keys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

/** What the command line and the environment say about buckets. */
export interface S3Given extends S3Options {
  /** The first flag of the command line that is about a bucket; null if there is none. */
  readonly flag: string | null;
  /** The profile in a credentials file. */
  readonly profile: string;
  /** The credentials file to look for if no other place has keys; null if there is none. */
  readonly homeFile: string | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

const S3_FLAGS = ["s3Endpoint", "s3Region", "s3AddressStyle", "s3Credentials", "s3Ca"] as const;

/** Whether a place for bytes is a bucket, and not a folder. */
export function isBucket(bytes: string | null): bytes is string {
  return bytes?.startsWith("s3:") === true;
}

/** The first flag that is about a bucket. Call it before the environment adds some. */
export function firstS3Flag(given: GivenFlags): string | null {
  return S3_FLAGS.find((flag) => given.has(flag)) ?? null;
}

/** Reads flags and AWS's variables. Throws a `UsageError` if one half of a key is missing. */
export function readS3Options(given: GivenFlags, env: Environment, flag: string | null): S3Given {
  const { HOME: home } = env;
  const homeFile = home ? `${home}/.aws/credentials` : null;
  return {
    endpoint: given.text("s3Endpoint"),
    region: given.text("s3Region"),
    addressStyle: given.text("s3AddressStyle"),
    credentialsFile: given.text("s3Credentials"),
    caFile: given.text("s3Ca"),
    keys: readKeys(env),
    flag,
    profile: env.AWS_PROFILE || "default",
    homeFile: env.AWS_SHARED_CREDENTIALS_FILE || homeFile,
  };
}

function readKeys(env: Environment): S3Keys | null {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = env;
  if (!id && !secret) return null;
  if (!id || !secret) {
    const missing = id ? "AWS_SECRET_ACCESS_KEY" : "AWS_ACCESS_KEY_ID";
    throw new UsageError(`${missing} is missing: a key of S3 has two halves. Set both, or none.`);
  }
  const sessionToken = env.AWS_SESSION_TOKEN || null;
  return { accessKeyId: id, secretAccessKey: secret, sessionToken };
}
