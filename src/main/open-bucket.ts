import { randomUUID } from "node:crypto";
import {
  beginMaker,
  beginPlace,
  collectEnded,
  hasLocalBytes,
  notePlaceClaimed,
} from "../content/extent-makers.ts";
import { claimPlace, probePlace } from "../engine/s3/claim-place.ts";
import { ExtentObjects } from "../engine/s3/extent-objects.ts";
import { S3Extents, type S3ExtentsSetup } from "../engine/s3/extents.ts";
import { MissingSigner, openObjects } from "../engine/s3/open-objects.ts";
import type { S3Failure } from "../engine/s3/s3-failure.ts";
import { failureIn, type S3Objects } from "../engine/s3/s3-objects.ts";
import { type S3Place, s3Url } from "../engine/s3/s3-place.ts";
import type { Machine } from "../machine/machine.ts";
import { type Store, StoreError } from "../store/store.ts";
import type { Dependency } from "./readiness.ts";
import { OutOfReach, StartError } from "./start-error.ts";
import type { Undo } from "./undo.ts";

/** Bytes in a bucket. */
export interface OpenedBucket {
  readonly extents: S3Extents;
  readonly dependency: Dependency;
  /** Collects what earlier processes have left behind; resolves to true while there is more. */
  collect(): Promise<boolean>;
}

/** Opens a bucket for the bytes of records that only this process uses. */
export async function openBucket(
  place: S3Place,
  store: Store,
  machine: Machine,
  undo: Undo,
): Promise<OpenedBucket> {
  try {
    const { objects, dependency } = await openClaimed(place, store, undo);
    const frontEnd = await beginMaker(store);
    const extents = new S3Extents({ objects, machine, frontEnd });
    undo.add(() => extents.close());
    return { extents, dependency, collect: () => collectEnded(store, extents, frontEnd) };
  } catch (error) {
    throw bytesError(error, place);
  }
}

/** Opens a bucket for the bytes of records that several front ends share. */
export async function openSharedBucket(
  place: S3Place,
  store: Store,
  machine: Machine,
  undo: Undo,
  sharing: Required<Pick<S3ExtentsSetup, "frontEnd" | "sweeps" | "unread">>,
): Promise<Omit<OpenedBucket, "collect">> {
  try {
    const { objects, dependency } = await openClaimed(place, store, undo);
    const extents = new S3Extents({ objects, machine, ...sharing });
    undo.add(() => extents.close());
    return { extents, dependency };
  } catch (error) {
    throw bytesError(error, place);
  }
}

async function openClaimed(place: S3Place, store: Store, undo: Undo) {
  const objects = await openObjects(place);
  undo.add(async () => objects.close());
  await claim(store, objects, place);
  const reach = () => probePlace(objects, place.prefix);
  const dependency: Dependency = { name: "the object store", reach };
  return { objects: new ExtentObjects(objects, place.prefix), dependency };
}

async function claim(store: Store, objects: S3Objects, { prefix }: S3Place): Promise<void> {
  if (await store.read(hasLocalBytes)) {
    throw new StartError(
      "The large bodies of these records are in a folder: leave out --bytes, or choose other records.",
    );
  }
  const place = await beginPlace(store, randomUUID());
  await claimPlace(objects, prefix, place);
  if (!place.isClaimed) await notePlaceClaimed(store, place.id);
}

/** One line about why the object store cannot be used, and what to do. */
function bytesError(error: unknown, place: S3Place): unknown {
  if (error instanceof MissingSigner) {
    return new StartError(
      "--bytes s3://… needs the package aws4fetch, which is not installed: run npm install aws4fetch.",
    );
  }
  const failure = failureIn(error);
  if (failure !== null) {
    const isOutage = failure.kind === "unreachable" || failure.kind === "busy";
    const line = reasonOf(failure, place);
    return isOutage ? new OutOfReach(line) : new StartError(line);
  }
  const isOurs = error instanceof StoreError && error.kind === "broken";
  return isOurs ? new StartError(`The bytes cannot be opened: ${error.message}.`) : error;
}

function reasonOf(failure: S3Failure, place: S3Place): string {
  const { kind, status, code, message } = failure;
  const where = place.endpoint.origin;
  if (code === "NoSuchBucket" || (status === 404 && code === "")) {
    return `There is no bucket "${place.bucket}" at ${where}: create it, or name another one with --bytes.`;
  }
  if (code === "InvalidAccessKeyId" || code === "SignatureDoesNotMatch") {
    const half = code === "InvalidAccessKeyId" ? "does not know the key" : "refuses the secret of";
    return `The object store at ${where} ${half} ${place.credentials.accessKeyId}: check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the file with them.`;
  }
  if (status === 401 || status === 403) {
    return `The key ${place.credentials.accessKeyId} may not use ${s3Url(place)} (${code}): permit it to list, read, write and delete objects there.`;
  }
  if (status === 301 || status === 307 || code === "AuthorizationHeaderMalformed") {
    return `The bucket "${place.bucket}" is not in the region ${place.region} at ${where} (${code}): name its region with --s3Region.`;
  }
  if (kind === "garbage" || kind === "refused") {
    return `What answers at ${where} is not an S3 object store (${message}): check --s3Endpoint.`;
  }
  return `The object store at ${where} cannot be reached (${code || message}): check --s3Endpoint, and whether it runs.`;
}
