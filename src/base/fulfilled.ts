/** The value of a settled promise; throws its reason if it was rejected. */
export function fulfilled<T>(result: PromiseSettledResult<T>): T {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}
