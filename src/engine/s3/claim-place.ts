import { StoreError } from "../../store/store.ts";
import type { S3Objects } from "./s3-objects.ts";

const MARK = "lazuli-records";

/**
 * Writes the id of the records to their place in the object store, or compares it with the one that
 * is there: records with the objects of others would lose their own and collect foreign ones.
 */
export async function claimPlace(
  objects: S3Objects,
  prefix: string,
  place: { readonly id: string; readonly isClaimed: boolean },
): Promise<void> {
  const found = await objects.readText(`${prefix}${MARK}`);
  if (found === place.id) return;
  if (found !== null) throw takenError(objects.url);
  if (place.isClaimed) {
    throw new StoreError(
      "broken",
      `${objects.url} does not have the bytes of these records: name the bucket and prefix that ` +
        "were used before, or restore them from a backup",
    );
  }
  try {
    await objects.create(`${prefix}${MARK}`, Buffer.from(place.id));
  } catch (error) {
    // Another process was first: of the same records, or of others.
    const first = await objects.readText(`${prefix}${MARK}`);
    if (first === place.id) return;
    throw first === null ? error : takenError(objects.url);
  }
}

/** Rejects if the place cannot be read now. */
export function probePlace(objects: S3Objects, prefix: string): Promise<void> {
  return objects.probe(`${prefix}${MARK}`);
}

function takenError(url: string): StoreError {
  return new StoreError(
    "broken",
    `${url} has the bytes of other records: choose another prefix, which nobody uses`,
  );
}
