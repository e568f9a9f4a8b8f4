import type { Copy, Deletable, Versioned } from "./item.ts";
import type { Headers, RestClient } from "./rest-client.ts";

/** The header by which servers of ours learn what clients cannot set. Others are not sent it. */

const PAST = "x-lazuli-past";

export function pastHeaders(past: object): Headers {
  return { [PAST]: JSON.stringify(past) };
}

type Kept = Versioned & { readonly copy?: Copy; readonly tierChanged?: string };

/** ETag and time of a container, share, directory or file. */
export async function versionHeaders(
  client: RestClient,
  service: "blob" | "file",
  { etag, modified, copy, tierChanged }: Kept,
): Promise<Headers> {
  if (etag === undefined || !(await client.isOurs(service))) return {};
  const times = { modified: isoOf(modified), tierChanged: isoOf(tierChanged) };
  return pastHeaders({ etag, ...times, ...(copy === undefined ? {} : { copy }) });
}

/** Makes the deletion of a container or share one that cannot be restored. */
export const GONE: Headers = pastHeaders({
  deleted: new Date(0).toISOString(),
  until: new Date(0).toISOString(),
});

/** What tells items of a deleted container or share from those of others. */
export function versionOf({ version }: Deletable): Pick<Deletable, "version"> {
  return version === undefined ? {} : { version };
}

/** The parameter by which what lies in a deleted container or share is read. */
export function versionQuery({ version }: Deletable): Headers {
  return version === undefined ? {} : { "lazuli-version": version };
}

export function isoOf(time: string | undefined): string | undefined {
  const ms = Date.parse(time ?? "");
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
