import { UsageError } from "./start-error.ts";

/** What listens, by the name of its flag, and where. */
type Listening = readonly [name: string, at: { readonly host: string; readonly port: number }];

/** Throws a `UsageError` if two would listen on the same port. */
export function requireDistinctPorts(entries: readonly Listening[]): void {
  const taken = new Map<string, string>();
  for (const [service, { host, port }] of entries) {
    const place = `${host} ${port}`;
    const other = taken.get(place);
    if (other !== undefined && port !== 0) {
      throw new UsageError(
        `--${other}Port and --${service}Port are both ${port}: each service needs a port of its own.`,
      );
    }
    taken.set(place, service);
  }
}
