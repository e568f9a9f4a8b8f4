import type { Stamp } from "../../base/stamp.ts";
import type { Access } from "../../rules/access.ts";
import type { Contents } from "../../store/contents.ts";
import type { Store } from "../../store/store.ts";
import type { CacheBreaks } from "./cache-breaks.ts";

/** The context of every operation of the File service. */
export interface FileContext {
  readonly store: Store;
  readonly contents: Contents;
  /** Tells clients with cached data that others need the file. */
  readonly breaks: CacheBreaks;
}

/** The context of operations that depend on the configuration. */
export interface ShareContext extends FileContext {
  /** Accounts that are not listed have the defaults. A reload replaces the whole context. */
  readonly settingsByAccount: ReadonlyMap<string, FileSettings>;
}

/** The configuration of an account's shares. */
export interface FileSettings {
  /** How long deleted shares can be restored; null if soft delete is off. */
  readonly shareRetentionDays: number | null;
}

export const DEFAULT_FILE_SETTINGS: FileSettings = { shareRetentionDays: null };

export function settingsOf({ settingsByAccount }: ShareContext, account: string): FileSettings {
  return settingsByAccount.get(account) ?? DEFAULT_FILE_SETTINGS;
}

export interface ShareAddress {
  readonly account: string;
  readonly share: string;
  /** Of a deleted share, which only an export reads. */
  readonly deletedVersion?: Stamp;
  /** Null for the current share. */
  readonly snapshot: Stamp | null;
}

/** A file or directory by its names from the root; no names for the root itself. */
export interface PathAddress extends ShareAddress {
  readonly path: readonly string[];
  /** Whether dots at the end of a name are significant. */
  readonly trailingDots: boolean;
}

/** Common to every request to a share. */
export interface ShareAsked {
  readonly at: ShareAddress;
  readonly access: Access;
}

/** A request to a share that must exist. */
export interface ShareUse extends ShareAsked {
  readonly leaseId: string | null;
}

/** Common to every request to a directory. */
export interface PathAsked {
  readonly at: PathAddress;
  readonly access: Access;
}

/** Common to every request to a file. A lease id that is sent is checked. */
export interface FileAsked extends PathAsked {
  readonly leaseId: string | null;
}
