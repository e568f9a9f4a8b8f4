import { bytesOf } from "../../service/shared/usage-row.ts";
import type { ShownUsage } from "./answers.ts";
import type { UsageReport } from "./console-facts.ts";
import type { Session } from "./sessions.ts";
import { visibleTo } from "./visible-to.ts";

/** Rows in one answer; smaller ones are summed up. */
const ROWS_MAX = 1_000;

/** What a session may see of the space that is taken. */
export function usageFor(session: Session, { usage, atMs, progress }: UsageReport): ShownUsage {
  const sized = (usage?.rows ?? [])
    .filter(visibleTo(session))
    .map((row) => ({ row, bytes: bytesOf(row.amounts) }))
    .sort((one, other) => other.bytes - one.bytes);
  const small = sized.slice(ROWS_MAX);
  const others = { count: small.length, bytes: small.reduce((sum, { bytes }) => sum + bytes, 0) };
  return {
    rows: sized.slice(0, ROWS_MAX).map(({ row }) => row),
    others: small.length === 0 ? null : others,
    atMs,
    progress,
    ...(session.account === null && usage !== null
      ? { total: usage.total, unreachable: usage.unreachable, disk: usage.disk }
      : {}),
  };
}
