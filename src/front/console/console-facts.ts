import type { Instant } from "../../base/clock.ts";
import type { HolderList } from "../../service/shared/holder-scan.ts";

/** What the console knows of its server; `main` brings it. */
export interface ConsoleFacts {
  readonly version: string;
  readonly startedMs: Instant;
  /** Where the data is, in words. */
  readonly place: string;
  /** By service, reachable from this machine: `http://127.0.0.1:10000`. */
  readonly urls: Readonly<Record<string, string>>;
  /** Whether the services accept bearer tokens now. */
  takesTokens(): boolean;
  /** The accounts as they are configured now. */
  accounts(): readonly ConsoleAccount[];
  /** Somebody is signed in: measures what `figures` tells. */
  begin(): void;
  /** The last session has ended. */
  end(): Promise<void>;
  /** Everything that is held, of all accounts. */
  holders(): Promise<HolderList>;
  /** What is measured now. */
  figures(): Promise<Figures>;
}

export interface ConsoleAccount {
  readonly name: string;
  /** One or two, in Base64. */
  readonly keys: readonly string[];
  /** By REST service, for clients. */
  readonly urls: Readonly<Record<string, string>>;
  readonly connectionString: string;
}

/** Figures by the name of the metric, then by its labels, joined by commas. */
export interface Figures {
  readonly atMs: Instant;
  readonly values: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Counts of durations of requests by bucket, and the upper bounds of the buckets in seconds. */
  readonly durations: { readonly bounds: readonly number[]; readonly counts: readonly number[] };
}
