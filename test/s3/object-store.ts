import { randomUUID } from "node:crypto";
import { ExtentObjects } from "../../src/engine/s3/extent-objects.ts";
import { type ObjectsOptions, openObjects } from "../../src/engine/s3/open-objects.ts";
import type { S3Objects } from "../../src/engine/s3/s3-objects.ts";
import type { S3Place } from "../../src/engine/s3/s3-place.ts";
import { S3Requests } from "../../src/engine/s3/s3-requests.ts";
import { skipWithoutDebianPackage } from "../programs/debian-program.ts";
import { type Radosgw, startRadosgw } from "./radosgw.ts";

const PACKAGES = "ceph-mon ceph-osd radosgw";
const PROBE = "command -v ceph-mon && command -v ceph-osd && command -v radosgw";

/** A real S3 server with a bucket for this run. */
export interface ObjectStore {
  /** A place in it that no other test uses. */
  newPlace(): S3Place;
  stop(): Promise<void>;
}

/** Why there is no object store for tests; null if there is one. */
export function skipWithoutObjectStore(): string | null {
  if (process.env.LAZULI_TEST_S3) return null;
  const why = skipWithoutDebianPackage("Ceph's radosgw", PACKAGES, PROBE);
  return why === null ? null : `${why}, or name a server in LAZULI_TEST_S3=http://key:secret@host`;
}

/** Uses the server that LAZULI_TEST_S3 names, or starts one. */
export async function startObjectStore(): Promise<ObjectStore> {
  const given = process.env.LAZULI_TEST_S3;
  if (given) return storeAt(placeOf(given), async () => {});
  const radosgw = await startRadosgw();
  return storeAt(placeOf(urlOf(radosgw)), () => radosgw.stop());
}

/** The address of a server with its key, as in LAZULI_TEST_S3. */
export function urlOf({ endpoint, accessKeyId, secretAccessKey }: Radosgw): string {
  const url = new URL(endpoint);
  url.username = accessKeyId;
  url.password = secretAccessKey;
  return url.href;
}

/** A bucket with a new name, at such an address. */
export function placeOf(url: string): S3Place {
  const endpoint = new URL(url);
  const credentials = {
    accessKeyId: decodeURIComponent(endpoint.username),
    secretAccessKey: decodeURIComponent(endpoint.password),
    sessionToken: null,
  };
  endpoint.username = "";
  endpoint.password = "";
  return {
    endpoint,
    region: process.env.AWS_REGION ?? "us-east-1",
    bucket: `lazuli-${randomUUID()}`,
    prefix: "",
    isPathStyle: true,
    credentials,
    authorities: null,
  };
}

/** Creates the bucket of a place. */
export async function createBucket(place: S3Place): Promise<void> {
  const { AwsV4Signer } = await import("aws4fetch");
  const limits = { silentMsMax: 60_000, connectionsMax: 1 };
  const requests = new S3Requests(place, AwsV4Signer, limits, Date.now);
  await requests.send({ method: "PUT", name: "" });
  requests.close();
}

async function storeAt(place: S3Place, stop: () => Promise<void>): Promise<ObjectStore> {
  await createBucket(place);
  let places = 0;
  return { newPlace: () => ({ ...place, prefix: `place-${++places}/` }), stop };
}

/** The objects of a place, as the engine uses them. */
export async function objectsAt(
  place: S3Place,
  options?: ObjectsOptions,
): Promise<{ readonly objects: S3Objects; readonly extents: ExtentObjects }> {
  const objects = await openObjects(place, options);
  return { objects, extents: new ExtentObjects(objects, place.prefix) };
}
