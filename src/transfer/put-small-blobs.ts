import { KIB } from "../base/limits.ts";
import type { Target } from "./existing.ts";
import type { BlobItem, BlobRevision, Written } from "./item.ts";
import {
  blobHeaders,
  deletion,
  heldItem,
  isCurrent,
  isPutWhole,
  PUT,
  pastOf,
  TAKEN,
} from "./put-blob.ts";
import type { Asked, Headers, RestClient, Together } from "./rest-client.ts";
import { TransferError } from "./transfer-error.ts";

/** Blobs up to this length go together with others. */
const SMALL_BYTES_MAX = 64 * KIB;

/** Whether one request writes the whole blob to a server of ours. */
export function isSmallPut({ revisions, staged = [] }: BlobItem, target: Target): boolean {
  const [revision] = revisions;
  if (revision === undefined || revisions.length > 1 || staged.length > 0) return false;
  if (revision.body.bytes > SMALL_BYTES_MAX || !isPutWhole(revision)) return false;
  return target.isNew || target.existing === "overwrite" || isCurrent(revision);
}

/** Writes small blobs of one container, in few requests. */
export async function putSmallBlobs(
  client: RestClient,
  container: string,
  items: readonly BlobItem[],
  { isNew, existing }: Target,
): Promise<(Written | TransferError)[]> {
  const replaces = !isNew && existing === "overwrite";
  const once: Headers = isNew || replaces ? {} : { "If-None-Match": "*" };
  const pathOf = ({ name }: BlobItem) => `${container}/${name}`;
  const held = replaces ? await Promise.all(items.map(heldOrError)) : items;
  const readable = held.filter((one) => one instanceof TransferError === false) as BlobItem[];
  const puts = (item: BlobItem): Asked => {
    const [revision] = item.revisions as readonly [BlobRevision];
    const headers = { ...blobHeaders(revision), ...once, ...pastOf(revision) };
    return { ...PUT, path: pathOf(item), headers, body: revision.body, expects: TAKEN };
  };
  const deletions = replaces ? readable.map((item) => deletion(pathOf(item))) : [];
  const deleted = await client.together(container, deletions);
  const free = readable.filter((_, at) => !(deleted[at] instanceof TransferError));
  const answers = await client.together(container, free.map(puts));
  const outcomes = new Map(readable.map((item, at) => [item, deleted[at] as Together]));
  for (const [at, item] of free.entries()) outcomes.set(item, answers[at] as Together);
  return held.map((item) => {
    const outcome = item instanceof TransferError ? item : (outcomes.get(item) as Together);
    if (outcome instanceof TransferError) return outcome;
    return outcome.status < 300 ? "written" : "skipped";
  });
}

async function heldOrError(item: BlobItem): Promise<BlobItem | TransferError> {
  try {
    return await heldItem(item);
  } catch (error) {
    if (error instanceof TransferError) return error;
    throw error;
  }
}
