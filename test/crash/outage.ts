import { AssertionError } from "node:assert/strict";

/** Distinguishes the errors of a server that is gone from those that must fail a test. */
export type IsOutage = (error: unknown) => boolean;

/** The connection was refused, or closed before an answer came. */
export const isUnanswered: IsOutage = (error) => {
  if (!(error instanceof Error) || error instanceof AssertionError) return false;
  if (error.name === "RestError") return statusOf(error) === undefined;
  const { code } = error as NodeJS.ErrnoException;
  const isRefused = code === "ECONNREFUSED" || code === "ECONNRESET" || code === "EPIPE";
  return isRefused || error.message === "the server closed the connection";
};

/** A server whose disk fails may still report that before it stops. */
export const isUnansweredOrFailed: IsOutage = (error) =>
  isUnanswered(error) ||
  (statusOf(error) ?? 0) >= 500 ||
  (error instanceof AssertionError && error.message.startsWith("status 0x"));

function statusOf(error: unknown): number | undefined {
  return (error as { statusCode?: number } | null)?.statusCode;
}
