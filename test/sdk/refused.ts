import assert from "node:assert/strict";
import type { RestError } from "@azure/storage-blob";

/** Asserts that a promise is refused with this status and code. */
export async function refused(
  promise: Promise<unknown>,
  status: number,
  code: string,
): Promise<RestError> {
  const error = await promise.then(
    () => assert.fail(`it was not refused with ${code}`),
    (reason: RestError) => reason,
  );
  // A response to HEAD has no body, so the code is in the headers.
  const found = error.code ?? error.response?.headers.get("x-ms-error-code");
  assert.deepEqual([error.statusCode, found], [status, code]);
  return error;
}
