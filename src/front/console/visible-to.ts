import type { Session } from "./sessions.ts";

/** Whether a session may see something of an account: the operator sees what all do. */
export function visibleTo({ account }: Session): (of: { account: string | null }) => boolean {
  return (of) => account === null || of.account === account;
}
