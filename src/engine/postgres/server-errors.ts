import { StoreError } from "../../store/store.ts";

/**
 * Classes of SQLSTATE after which another connection may succeed: lost connections (08), rollbacks
 * by the server (25, 40), lack of resources (53), and a server that stops or ends us (57).
 */
const PASSING = ["08", "25", "40", "53", "57"];
const DISK_FULL = "53100";

/** The error of a call, if the server refuses what it was sent; null if it is worth another try. */
export function refusalOf(error: unknown): StoreError | null {
  const code = codeOf(error);
  if (code === null) return null;
  const message = `the database refused (${code}): ${(error as Error).message}`;
  if (code === DISK_FULL) return new StoreError("full", message, { cause: error });
  if (PASSING.includes(code.slice(0, 2))) return null;
  return new StoreError("broken", message, { cause: error });
}

/** The SQLSTATE of an error that the server reported; null for other errors. */
export function codeOf(error: unknown): string | null {
  // Errors of the operating system have a code, too, but no severity.
  if (!(error instanceof Error && "severity" in error && "code" in error)) return null;
  return typeof error.code === "string" ? error.code : null;
}
