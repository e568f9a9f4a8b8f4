import type { Outcome, RestOutcome, SmbOutcome } from "../front/outcome.ts";

/** Formats a line of the access log, without its end. */
export function accessLine(outcome: Outcome): string {
  const { service, remoteAddress, requestId, operation, account, auth, code } = outcome;
  const time = new Date(outcome.atMs).toISOString();
  const bytes = `${outcome.requestBytes} ${outcome.responseBytes}`;
  const took = `${outcome.tookMs.toFixed(1)}ms${isAborted(outcome) ? " aborted" : ""}`;
  return (
    `${time} ${service} ${remoteAddress} ${asked(outcome)} ${outcome.status} ${bytes} ${took} ` +
    `${requestId} ${operation} ${account ?? "-"} ${auth} ${code ?? "-"}`
  );
}

function asked(outcome: Outcome): string {
  return outcome.service === "smb" ? '"- -"' : restAsked(outcome);
}

function restAsked({ method, target }: RestOutcome): string {
  return `"${method ?? "-"} ${target ?? "-"}"`;
}

function isAborted(outcome: RestOutcome | SmbOutcome): boolean {
  return outcome.service !== "smb" && outcome.aborted;
}
