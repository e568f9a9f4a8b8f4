import assert from "node:assert/strict";
import azure from "azure-storage";

type Legacy = azure.TableService | azure.QueueService | azure.BlobService | azure.FileService;

/** Turns a callback call of the legacy client into a promise. */
export function answerOf<Result = unknown>(
  service: Legacy,
  method: string,
  ...sent: unknown[]
): Promise<Result> {
  const call = Reflect.get(service, method) as (...sent: unknown[]) => void;
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, result: Result) => (error ? reject(error) : resolve(result));
    call.call(service, ...sent, done);
  });
}

/** Waits for a refusal with this status and code, and returns its message. */
export async function refusedLegacy(
  promise: Promise<unknown>,
  status: number,
  code: string,
): Promise<string> {
  const error = await promise.then(
    () => assert.fail(`it was not refused with ${code}`),
    (reason: azure.StorageError) => reason,
  );
  assert.deepEqual([error.statusCode, error.code], [status, code]);
  return error.message;
}

/** A policy for a SAS that is valid for some minutes. */
export function policyOf(Permissions: string, more: object = {}): azure.common.SharedAccessPolicy {
  const Start = new Date(Date.now() - 60_000);
  const Expiry = new Date(Date.now() + 600_000);
  return { AccessPolicy: { Permissions, Start, Expiry, ...more } };
}

/** Both endpoints of an account. */
export function hostsOf(url: string): azure.StorageHost {
  return { primaryHost: url, secondaryHost: `${url}-secondary` };
}

/** Statistics come from the secondary endpoint. */
export function statsOf(service: Legacy): Promise<azure.common.models.ServiceStats> {
  const { SECONDARY_ONLY: locationMode } = azure.StorageUtilities.LocationMode;
  return answerOf(service, "getServiceStats", { locationMode });
}
