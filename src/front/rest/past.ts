import type { Instant } from "../../base/clock.ts";
import { instantOf, type Stamp, stampOf, stampOfEtag, stampOfIso } from "../../base/stamp.ts";
import type { Retained } from "../../rules/retention.ts";
import type { StoredCopy } from "../../service/shared/copy-field.ts";
import type { RequestHeaders, RestRequest } from "./http/exchange.ts";
import { invalidHeader } from "./request-headers.ts";
import { invalidQuery } from "./request-query.ts";

/** What an import tells of an object's past, as JSON. */
export const PAST = "x-lazuli-past";

/** The past of any object. Each operation takes the fields that its object has. */
export interface GivenPast {
  readonly kind: "current" | "snapshot" | "version";
  /** The name of a deleted container or share. */
  readonly name: string | null;
  readonly id: Stamp | null;
  readonly etag: Stamp | null;
  readonly createdMs: Instant | null;
  readonly modified: Stamp | null;
  readonly modifiedMs: Instant | null;
  /** Null if it is not deleted. */
  readonly retained: Retained | null;
  readonly encryptionContext: string | null;
  readonly isDataLake: boolean;
  /** The copy that made a blob or file. */
  readonly copy: StoredCopy | null;
  readonly quotaGib: number | null;
  /** When the tier of a blob or share was set. */
  readonly tierChangedMs: Instant | null;
}

/** Null if the request has none. */
export function pastOf(headers: RequestHeaders): GivenPast | null {
  const text = headers.get(PAST);
  if (text === undefined) return null;
  const past = readPast(text);
  if (past !== null) return past;
  throw invalidHeader(PAST, text, `It must look like ${EXAMPLE}.`);
}

const EXAMPLE =
  '{"as":"version","id":"2026-11-16T00:17:23.1234567Z","etag":"0x8DB1C2D3E4F5A6B",' +
  '"created":"2026-11-16T00:17:23Z","modified":"2026-11-16T00:17:23Z"}';

function readPast(text: string): GivenPast | null {
  let given: Readonly<Record<string, unknown>>;
  try {
    given = Object(JSON.parse(text));
  } catch {
    return null;
  }
  const { as: kind = "current", quota = null, dataLake = false } = given;
  if (kind !== "current" && kind !== "snapshot" && kind !== "version") return null;
  if (typeof dataLake !== "boolean") return null;
  if (quota !== null && !(Number.isSafeInteger(quota) && Number(quota) > 0)) return null;
  const [name, encryptionContext] = [read(given.name, asIs), read(given.encryptionContext, asIs)];
  // Other servers have ids and ETags of other forms: new ones take their place.
  const id = read(given.id, idOf) ?? null;
  const etag = read(given.etag, stampOfEtag) ?? null;
  const [created, modified] = [read(given.created, timeOf), read(given.modified, timeOf)];
  const tierChanged = read(given.tierChanged, timeOf);
  const [deleted, until] = [read(given.deleted, timeOf), read(given.until, timeOf)];
  const copy = given.copy === undefined ? null : readCopy(given.copy);
  if (copy === undefined) return null;
  if (name === undefined || encryptionContext === undefined) return null;
  if (created === undefined || modified === undefined) return null;
  if (tierChanged === undefined) return null;
  if (deleted === undefined || until === undefined) return null;
  if ((deleted === null) !== (until === null)) return null;
  return {
    kind,
    name,
    id,
    etag,
    createdMs: msOf(created),
    modified,
    modifiedMs: msOf(modified),
    retained:
      deleted === null || until === null
        ? null
        : { deletedMs: instantOf(deleted), untilMs: instantOf(until) },
    encryptionContext,
    isDataLake: dataLake,
    copy,
    quotaGib: quota as number | null,
    tierChangedMs: msOf(tierChanged),
  };
}

/** A copy that is over, as headers tell it; undefined if it cannot be read. */
function readCopy(given: unknown): StoredCopy | undefined {
  const { id, source, status, progress, completed, description = "" } = Object(given);
  const [, done, total] = /^(\d{1,15})\/(\d{1,15})$/.exec(`${progress}`) ?? [];
  const completedMs = Date.parse(`${completed}`);
  const isEnded = status === "success" || status === "aborted" || status === "failed";
  if (!isEnded || total === undefined || !(completedMs >= 0)) return undefined;
  const texts = { id: `${id}`, source: `${source}`, description: `${description}` };
  return { ...texts, status, bytesDone: Number(done), bytesTotal: Number(total), completedMs };
}

/** Null if nothing is given, undefined if it cannot be read. */
function read<T>(given: unknown, parse: (text: string) => T | null): T | null | undefined {
  if (given === undefined) return null;
  return typeof given === "string" ? (parse(given) ?? undefined) : undefined;
}

function asIs(text: string): string {
  return text;
}

/** The time that is the id of a snapshot or blob version, or the version of a deleted container. */
function idOf(text: string): Stamp | null {
  return versionOf(text) ?? stampOfIso(text);
}

function versionOf(text: string): Stamp | null {
  return /^[\dA-F]{16}$/i.test(text) ? BigInt(`0x${text}`) : null;
}

function timeOf(text: string): Stamp | null {
  const exact = stampOfIso(text);
  if (exact !== null) return exact;
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(text) ? Date.parse(text) : Number.NaN;
  return ms >= 0 ? stampOf(ms) : null;
}

function msOf(stamp: Stamp | null): Instant | null {
  return stamp === null ? null : instantOf(stamp);
}

const DELETED_VERSION = "lazuli-version";

/** Which of the deleted containers or shares of a name an export reads. */
export function deletedVersionIn({ method, query }: Pick<RestRequest, "method" | "query">): {
  deletedVersion?: Stamp;
} {
  const value = query.get(DELETED_VERSION);
  if (value === undefined) return {};
  const version = versionOf(value);
  if (version === null) throw invalidQuery(DELETED_VERSION, value, "It must have 16 digits.");
  if (method === "GET" || method === "HEAD") return { deletedVersion: version };
  throw invalidQuery(DELETED_VERSION, value, "What is deleted can only be read: restore it first.");
}
