import { isDeepStrictEqual } from "node:util";
import type { AccountSettings } from "../front/rest/auth/account.ts";
import type { AccountConfig, Config } from "./config-file.ts";
import type { Settings } from "./settings.ts";
import { UsageError } from "./start-error.ts";

/** The parts of the settings that a reload can change. */
export type Reloadable = Pick<Settings, "config" | "statedAccounts" | "tls">;

/** The words for a change of each part of the configuration file. */
const PARTS: Readonly<Record<Exclude<keyof Config, "accounts">, string>> = {
  oauth: "another token issuer",
  roles: "other roles",
  copySources: "other sources of copies",
  maxConnectionsPerAddress: "another limit of connections per address",
  records: "other records (only after a restart)",
  bytes: "another place of bytes (only after a restart)",
  s3: "another way to the bucket (only after a restart)",
  databases: "other databases (only after a restart)",
};

/** The words for a change of an account, with the part that has changed. */
const ACCOUNT_PARTS: readonly [string, (account: AccountConfig) => unknown][] = [
  ["other keys", ({ keys }) => keys],
  ["other domains", ({ domains = [] }) => domains],
  ["other settings", ({ blob, file }) => [blob, file]],
];

/** The most names in one part of the line. */
const NAMES_MAX = 10;

/** Says what differs, in a few words each: names, and never keys. */
export function changesBetween(before: Reloadable, after: Reloadable): string[] {
  const changes = accountChanges(before.statedAccounts, after.statedAccounts);
  for (const [name, what] of Object.entries(PARTS) as [keyof typeof PARTS, string][]) {
    if (!isDeepStrictEqual(before.config[name], after.config[name])) changes.push(what);
  }
  if (!isDeepStrictEqual(before.tls, after.tls)) changes.push("another certificate");
  return changes;
}

/** Whether both trust the same issuer, with its keys in the same place. */
export function haveSameIssuer(before: Reloadable, after: Reloadable): boolean {
  return isDeepStrictEqual(before.config.oauth, after.config.oauth);
}

/**
 * Refuses what a reload cannot do: accounts go on where they are. Throws a `UsageError` about an
 * account that would be in another database, or in one that the server has not opened.
 */
export function requireSamePlaces(before: Spread, after: Spread): void {
  const known = new Set(before.statedAccounts.map(({ name }) => name));
  for (const { name } of after.statedAccounts) {
    const [from, to] = [before.placeOfAccount.get(name), after.placeOfAccount.get(name)];
    const [old, other] = [titleOf(from), titleOf(to)];
    if (known.has(name) && from !== to) {
      throw new UsageError(
        `The account "${name}" is in ${old}, and would be in ${other}: to move it, stop all front ends, ` +
          "start them with the new configuration, and copy its data (lazuli export, before; lazuli import, after).",
      );
    }
    if (!before.places.some((place) => place.name === (to ?? null))) {
      throw new UsageError(
        `The account "${name}" would be in ${other}, which this server has not opened: restart it.`,
      );
    }
  }
}

type Spread = Pick<Settings, "statedAccounts" | "placeOfAccount" | "places">;

function titleOf(name: string | undefined): string {
  return name === undefined ? "the database of --records" : `the database "${name}"`;
}

function accountChanges(
  before: readonly AccountSettings[],
  after: readonly AccountSettings[],
): string[] {
  const [old, current] = [byName(before), byName(after)];
  const added = [...current.keys()].filter((name) => !old.has(name));
  const removed = [...old.keys()].filter((name) => !current.has(name));
  const stayed = [...current].filter(([name]) => old.has(name));
  const others = ACCOUNT_PARTS.map(([what, part]): [string, string[]] => {
    const changed = stayed.filter(
      ([name, account]) => !isDeepStrictEqual(part(old.get(name) ?? account), part(account)),
    );
    return [`${what} of the account`, changed.map(([name]) => name)];
  });
  const all: [string, string[]][] = [
    ["added the account", added],
    ["removed the account", removed],
    ...others,
  ];
  return all.filter(([, names]) => names.length > 0).map(([what, names]) => told(what, names));
}

function told(what: string, names: readonly string[]): string {
  const more = names.length - NAMES_MAX;
  const shown = names.slice(0, NAMES_MAX).join(", ");
  return `${what}${names.length > 1 ? "s" : ""} ${shown}${more > 0 ? ` and ${more} more` : ""}`;
}

function byName(accounts: readonly AccountConfig[]): Map<string, AccountConfig> {
  return new Map(accounts.map((account) => [account.name, account]));
}
