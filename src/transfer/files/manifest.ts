import type { BlobRevision, Body, Item } from "../item.ts";
import { TransferError } from "../transfer-error.ts";

/**
 * The manifest of an export: a line of JSON for each item, between a first line that says what it
 * is and a last one without which it is not whole. Bodies are files beside it.
 */
export const MANIFEST_NAME = "manifest.jsonl";
const FORMAT = 3;
/**
 * Format 1 had no versions, deleted blobs, uncommitted blocks, ACLs nor snapshots of shares, and
 * format 2 no deleted containers and shares.
 */
const FORMATS: readonly unknown[] = [1, 2, FORMAT];

/** A body in a manifest. */
export interface StoredBody {
  readonly file: string;
  readonly bytes: number;
  /** Of the whole file, in hexadecimal. */
  readonly sha256: string;
}

export interface ManifestStart {
  readonly lazuli: "export";
  readonly format: typeof FORMAT;
  readonly account: string;
  readonly made: string;
}

export function firstLine(account: string, nowMs: number): string {
  const made = new Date(nowMs).toISOString();
  const start: ManifestStart = { lazuli: "export", format: FORMAT, account, made };
  return `${JSON.stringify(start)}\n`;
}

export function lastLine(items: number): string {
  return `${JSON.stringify({ end: { items } })}\n`;
}

/** Checks the first line. Throws a `TransferError`. */
export function readFirstLine(text: string, path: string): ManifestStart {
  const found = parse(text, path, 1) as Partial<ManifestStart>;
  if (found.lazuli !== "export") throw new TransferError(`${path} is not a manifest of an export.`);
  if (FORMATS.includes(found.format)) return found as ManifestStart;
  throw new TransferError(
    `${path} has the format ${found.format}, and this version reads ${FORMATS.join(", ")}. Update Lazuli.`,
  );
}

/** The number of items if this is the last line, else null. */
export function endOf(line: object): number | null {
  const { end } = line as { end?: { items?: unknown } };
  return typeof end?.items === "number" ? end.items : null;
}

export function parse(text: string, path: string, at: number): object {
  try {
    const found = JSON.parse(text);
    if (typeof found === "object" && found !== null) return found;
  } catch {
    // Falls through: both are no line of a manifest.
  }
  throw noLine(path, at);
}

export function noLine(path: string, at: number): TransferError {
  return new TransferError(`${path}:${at} is not a line of a manifest. It is damaged.`);
}

type StoreBody = (path: string, body: Body, item: Item, at: number) => Promise<StoredBody>;

/** The line of an item, whose bodies `store` writes under these paths. */
export async function lineOf(item: Item, path: string, store: StoreBody): Promise<string> {
  switch (item.kind) {
    case "blob": {
      const revisions = [];
      for (const [at, revision] of item.revisions.entries()) {
        const own = path + endOfPath(revision);
        revisions.push({ ...revision, body: await store(own, revision.body, item, at) });
      }
      const staged = [];
      for (const [at, { id, body }] of (item.staged ?? []).entries()) {
        const stored = await store(`${path}%@block-${at}`, body, item, item.revisions.length + at);
        staged.push({ id, body: stored });
      }
      return `${JSON.stringify({ ...item, revisions, ...(staged.length > 0 ? { staged } : {}) })}\n`;
    }
    case "file":
      return `${JSON.stringify({ ...item, body: await store(path, item.body, item, 0) })}\n`;
    default:
      return `${JSON.stringify(item)}\n`;
  }
}

/** What tells the files of a blob's revisions apart. */
function endOfPath({ snapshot, version, isEarlier, deleted }: BlobRevision): string {
  const id = snapshot ?? (isEarlier === true ? version : undefined) ?? deleted;
  return id === undefined ? "" : `%@${id.replaceAll(":", "-")}`;
}

/** The item of a line, with its bodies from `open`. */
export function itemOf(line: object, open: (stored: StoredBody, until: number) => Body): Item {
  const item = line as Item & { body?: unknown };
  if (item.kind === "blob") {
    const revisions = item.revisions.map((revision) => ({
      ...revision,
      body: open(revision.body as unknown as StoredBody, lastOf(revision)),
    }));
    const staged = (item.staged ?? []).map(({ id, body }) => {
      const stored = body as unknown as StoredBody;
      return { id, body: open(stored, stored.bytes) };
    });
    return { ...item, revisions, staged };
  }
  if (item.kind !== "file") return item;
  return { ...item, body: open(item.body as unknown as StoredBody, lastOf(item)) };
}

/** Where reading ends: behind the last range. */
function lastOf({ ranges, body }: { ranges?: readonly (readonly number[])[]; body: Body }): number {
  return ranges?.at(-1)?.[1] ?? (ranges === undefined ? body.bytes : 0);
}
