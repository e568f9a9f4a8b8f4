/**
 * What a client knows about its request.
 * - done: it took effect.
 * - refused: it did not, and will not.
 * - busy: it did not, and may be sent again (503, or nobody listens).
 * - unknown: it may have taken effect, or may yet.
 */
export type Outcome<T> =
  | { readonly kind: "done"; readonly value: T }
  | { readonly kind: "refused"; readonly status: number }
  | { readonly kind: "busy" }
  | { readonly kind: "unknown" };

/** The error of a connection that was never made; the same codes may end one that was. */
const NOT_CONNECTED = /^connect /;
/** Far longer than a front end takes to give up. */
const ANSWER_MS_MAX = 30_000;

/** Sends one request of an official client without retries. */
export async function outcomeOf<T>(call: (signal: AbortSignal) => Promise<T>): Promise<Outcome<T>> {
  try {
    return { kind: "done", value: await call(AbortSignal.timeout(ANSWER_MS_MAX)) };
  } catch (error) {
    const { statusCode, message } = error as { statusCode?: number; message: string };
    if (statusCode === undefined) {
      return { kind: NOT_CONNECTED.test(message) ? "busy" : "unknown" };
    }
    if (statusCode === 503) return { kind: "busy" };
    return statusCode >= 500 ? { kind: "unknown" } : { kind: "refused", status: statusCode };
  }
}
