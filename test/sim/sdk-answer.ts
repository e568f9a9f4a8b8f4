import type { RestError } from "@azure/storage-blob";
import type { Random } from "./random.ts";

/** Share of clients that do not wait for their answer. */
const LEAVES = 0.02;
const ITERATIONS_MAX = 6;

/** The outcome of an SDK call: its result, a refusal, or null if the client left. */
export async function answerOf<Done>(
  call: (abortSignal: AbortSignal) => Promise<Done>,
  leavesBy: Random | null,
): Promise<Done | { readonly refused: string } | null> {
  const going = new AbortController();
  const leaves = leavesBy?.chance(LEAVES) ?? false;
  if (leaves) void goAway(going, leavesBy?.below(ITERATIONS_MAX) ?? 0);
  try {
    return await call(going.signal);
  } catch (error) {
    if (going.signal.aborted) return null;
    const { statusCode, code, message, response } = error as RestError;
    if (statusCode === undefined || statusCode >= 500) throw error;
    const index = /^(\d+:)/.exec(message)?.[1] ?? "";
    const name = code ?? response?.headers.get("x-ms-error-code");
    return { refused: `${index}${statusCode} ${name}` };
  }
}

async function goAway(going: AbortController, iterations: number): Promise<void> {
  for (let left = iterations; left > 0; left--) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  going.abort();
}
