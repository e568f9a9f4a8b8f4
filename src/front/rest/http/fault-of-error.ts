import { Fault } from "../../../base/fault.ts";
import { StoreError } from "../../../store/store.ts";

/** The Fault that a client gets for an error. It says whether to try again, and no details. */
export function faultOfError(error: unknown): Fault {
  if (error instanceof Fault) return error;
  if (!(error instanceof StoreError)) return new Fault("InternalError");
  switch (error.kind) {
    case "full":
      return new Fault("InsufficientStorage");
    case "broken":
    case "unreachable":
      return new Fault("ServerBusy");
    case "unknown":
    case "damaged":
      return new Fault("InternalError");
  }
}
