import type { Answer, Call } from "../call.ts";
import { STATUS, StatusError } from "../nt-status.ts";

/** Commands that there is nothing for yet. */
export function handleUnsupported(_call: Call): Answer {
  throw new StatusError(STATUS.NOT_SUPPORTED);
}
