import assert from "node:assert/strict";
import type { RestError } from "@azure/storage-blob";

/** Waits for a refusal with this status and code. */
export async function refused(
  promise: Promise<unknown>,
  status: number,
  code: string,
): Promise<RestError> {
  const error = await promise.then(
    () => assert.fail(`it was not refused with ${code}`),
    (reason: RestError) => reason,
  );
  // The answer to a HEAD has no body: the client leaves the code in the headers.
  const found = error.code ?? error.response?.headers.get("x-ms-error-code");
  assert.deepEqual([error.statusCode, found], [status, code]);
  return error;
}
