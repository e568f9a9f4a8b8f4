export const HEALTH_PATH = "/healthz";

/** Asked by balancers, which then send requests elsewhere. */
const FOR_REQUESTS = `${HEALTH_PATH}?for=requests`;
/** As above, for balancers that send writes elsewhere, too. */
const FOR_WRITES = `${HEALTH_PATH}?for=writes`;

export interface Health {
  /** Whether the process serves at all. */
  readonly isServing: boolean;
  /** Whether it is about to stop, and no more requests should be sent to it. */
  readonly isStopping: boolean;
  /** Why most requests would fail now, although a restart would not help; null if they succeed. */
  readonly outage: string | null;
  /** Whether writes are refused because the disk is full. */
  readonly isFull: boolean;
}

export const HEALTHY: Health = {
  isServing: true,
  isStopping: false,
  outage: null,
  isFull: false,
};

/**
 * Without a parameter it tells whether the process is alive: a restart helps if it is not. A full
 * disk still serves readers: only a check that asks about writes gets a 503 then.
 */
export function healthAnswer(
  target: string,
  { isServing, isStopping, outage, isFull }: Health,
): { readonly status: 200 | 503; readonly text: string } {
  if (!isServing) return { status: 503, text: "not serving\n" };
  if (isStopping) return { status: 503, text: "stopping\n" };
  const isForWrites = target === FOR_WRITES;
  if (outage !== null) {
    const isRefused = isForWrites || target === FOR_REQUESTS;
    return { status: isRefused ? 503 : 200, text: `not ready: ${outage}\n` };
  }
  if (!isFull) return { status: 200, text: "ok\n" };
  return { status: isForWrites ? 503 : 200, text: "full: reads and deletes only\n" };
}
