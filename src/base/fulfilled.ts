/** The value that a promise had when it settled; throws what it was rejected with. */
export function fulfilled<T>(result: PromiseSettledResult<T>): T {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}
