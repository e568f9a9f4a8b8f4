import { DropConnection } from "../front/smb/drop-connection.ts";
import { type NtStatus, STATUS, StatusError } from "../front/smb/nt-status.ts";
import type { GatedRequest, Releasable, SmbGate } from "../front/smb/smb-gate.ts";
import { LabCall } from "./lab-call.ts";
import type { AnswerEffect } from "./rule.ts";
import type { RulesAtWork } from "./rules-at-work.ts";

/** SMB has none. */
const NO_HEADERS = { get: () => undefined };
const STATUS_PREFIX = "STATUS_";

/** The NT statuses that refuse a request, by their names. */
export const REFUSALS: ReadonlyMap<string, NtStatus> = new Map(
  Object.entries(STATUS)
    .filter(([name, status]) => status >= 0xc0000000 && name !== "MORE_PROCESSING_REQUIRED")
    .map(([name, status]) => [`${STATUS_PREFIX}${name}`, status]),
);

/** A request over SMB. It goes by the server's clock. */
class SmbCall extends LabCall {
  constructor({ operation, account, share, path, requestId }: GatedRequest) {
    const missing = { method: "", clientRequestId: null, headers: NO_HEADERS };
    const about = { operation, account, container: share, object: path, requestId };
    super({ service: "smb", ...about, ...missing }, null);
  }

  answered(_: number, { code }: AnswerEffect): Error {
    return new StatusError(REFUSALS.get(code ?? "") ?? STATUS.INTERNAL_ERROR);
  }

  dropped(): Error {
    return new DropConnection();
  }
}

/** Lets rules act on the requests of SMB clients that are logged on. */
export class RulesForSmb implements SmbGate {
  readonly #work: RulesAtWork;

  constructor(work: RulesAtWork) {
    this.#work = work;
  }

  pass<Answer extends Releasable>(
    request: GatedRequest,
    handle: () => Promise<Answer>,
  ): Promise<Answer> {
    return this.#work.handle(new SmbCall(request), handle, ({ borrowed, share }) => {
      borrowed?.release();
      share?.release();
    });
  }
}
