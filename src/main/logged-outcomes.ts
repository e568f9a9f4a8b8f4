import type { Outcome } from "../front/outcome.ts";

/** SMB operations with a line of their own: who came, what they opened, and when they left. */
const SMB_LOGGED: ReadonlySet<string> = new Set([
  "Negotiate",
  "SessionSetup",
  "Logoff",
  "TreeConnect",
  "TreeDisconnect",
  "Create",
]);
/** The steps of a log-on before the last one. */
const SMB_MORE_PROCESSING_REQUIRED = 0xc0000016;
/** Errors by which a client learns that it has seen all, or that what it cancelled is cancelled. */
const SMB_EXPECTED: ReadonlySet<string> = new Set(["STATUS_END_OF_FILE", "STATUS_CANCELLED"]);

/**
 * Whether the access log has a line for an outcome. It has one for each REST request. SMB clients
 * send dozens of requests for each file: of these, those that were refused are logged, and those
 * that begin or end something.
 */
export function isLogged(outcome: Outcome): boolean {
  if (outcome.service !== "smb") return true;
  const { operation, status, code } = outcome;
  if (code !== null) return !SMB_EXPECTED.has(code);
  return SMB_LOGGED.has(operation) && status !== SMB_MORE_PROCESSING_REQUIRED;
}
