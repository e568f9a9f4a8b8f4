import type { Instant } from "../../../base/clock.ts";
import { stampOfEtag, stampOfIso } from "../../../base/stamp.ts";
import type { Past } from "../../../service/blob/place-revision.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { invalidHeader } from "../request-headers.ts";

/** What an import tells of a blob's past, as JSON. */
export const PAST = "x-lazuli-past";

/** Null if the request has none. */
export function pastOf(headers: RequestHeaders): Past | null {
  const text = headers.get(PAST);
  if (text === undefined) return null;
  const past = readPast(text);
  if (past !== null) return past;
  throw invalidHeader(PAST, text, `It must look like ${EXAMPLE}.`);
}

const EXAMPLE =
  '{"as":"version","id":"2026-11-16T00:17:23.1234567Z","etag":"0x8DB1C2D3E4F5A6B",' +
  '"created":"2026-11-16T00:17:23Z","modified":"2026-11-16T00:17:23Z"}';

function readPast(text: string): Past | null {
  let given: Readonly<Record<string, unknown>>;
  try {
    given = Object(JSON.parse(text));
  } catch {
    return null;
  }
  const { as: kind = "current" } = given;
  if (kind !== "current" && kind !== "snapshot" && kind !== "version") return null;
  // Other servers have ids and ETags of other forms: new ones take their place.
  const id = read(given.id, stampOfIso) ?? null;
  const etag = read(given.etag, stampOfEtag) ?? null;
  const [createdMs, modifiedMs] = [read(given.created, timeOf), read(given.modified, timeOf)];
  const [deletedMs, untilMs] = [read(given.deleted, timeOf), read(given.until, timeOf)];
  const isWhole = [createdMs, modifiedMs, deletedMs, untilMs].every((time) => time !== undefined);
  if (!isWhole) return null;
  if ((deletedMs === null) !== (untilMs === null)) return null;
  return {
    kind,
    id,
    etag,
    createdMs: createdMs as Instant | null,
    modifiedMs: modifiedMs as Instant | null,
    retained:
      deletedMs === null ? null : { deletedMs: deletedMs as Instant, untilMs: untilMs as Instant },
  };
}

/** Null if nothing is given, undefined if it cannot be read. */
function read<T>(given: unknown, parse: (text: string) => T | null): T | null | undefined {
  if (given === undefined) return null;
  return typeof given === "string" ? (parse(given) ?? undefined) : undefined;
}

function timeOf(text: string): Instant | null {
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return ms >= 0 ? ms : null;
}
