import type { Asked, RestClient } from "./rest-client.ts";
import { TransferError } from "./transfer-error.ts";

/** The error that made it incomplete says more than one that keeps it from being removed. */
export async function removeHalfWritten(client: RestClient, deletion: Asked): Promise<void> {
  try {
    await client.request({ ...deletion, expects: [404] });
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
  }
}
