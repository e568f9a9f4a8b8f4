import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { type Retrying, S3Objects } from "./s3-objects.ts";
import { type S3Place, s3Url } from "./s3-place.ts";
import { type RequestLimits, S3Requests } from "./s3-requests.ts";

const LIMITS: RequestLimits = { silentMsMax: 15_000, connectionsMax: 64 };

const RETRYING: Retrying = {
  attemptsMax: 7,
  msMax: 30_000,
  pause: (ms) => wait(ms),
  now: Date.now,
};

export interface ObjectsOptions {
  readonly limits?: Partial<RequestLimits>;
  readonly retrying?: Partial<Retrying>;
  /** This machine's clock, for signatures. */
  readonly now?: () => number;
}

const MISSING_CODES: readonly unknown[] = ["ERR_MODULE_NOT_FOUND", "MODULE_NOT_FOUND"];

/** Thrown if the package that signs requests is not installed. */
export class MissingSigner extends Error {}

/** Reaches the objects of a bucket. Loads what only servers with such a place need. */
export async function openObjects(
  place: S3Place,
  { limits, retrying, now = Date.now }: ObjectsOptions = {},
): Promise<S3Objects> {
  const { AwsV4Signer } = await import("aws4fetch").catch((error) => {
    if (!MISSING_CODES.includes(error.code)) throw error;
    throw new MissingSigner("the package aws4fetch is not installed", { cause: error });
  });
  const requests = new S3Requests(place, AwsV4Signer, { ...LIMITS, ...limits }, now);
  return new S3Objects(s3Url(place), requests, { ...RETRYING, ...retrying }, randomUUID());
}
