import type { Stamp } from "../../base/stamp.ts";
import type { Access } from "../../rules/access.ts";
import type { Contents } from "../../store/contents.ts";
import type { Store } from "../../store/store.ts";
import type { CacheBreaks } from "./cache-breaks.ts";

/** What every operation of the File service works with. */
export interface FileContext {
  readonly store: Store;
  readonly contents: Contents;
  /** How clients that keep something of a file hear that others need it. */
  readonly breaks: CacheBreaks;
}

/** For what goes by the configuration, too. */
export interface ShareContext extends FileContext {
  settingsOf(account: string): FileSettings;
}

/** What the configuration says of the shares of an account. */
export interface FileSettings {
  /** How long deleted shares can be restored; null if not at all. */
  readonly shareRetentionDays: number | null;
}

export const DEFAULT_FILE_SETTINGS: FileSettings = { shareRetentionDays: null };

export interface ShareAddress {
  readonly account: string;
  readonly share: string;
  /** Null for the share as it is now. */
  readonly snapshot: Stamp | null;
}

/** A file or directory by its names, from the root on; none for the root itself. */
export interface PathAddress extends ShareAddress {
  readonly path: readonly string[];
  /** Whether dots at the end of a name count. */
  readonly trailingDots: boolean;
}

/** Common to whatever is asked of a share. */
export interface ShareAsked {
  readonly at: ShareAddress;
  readonly access: Access;
}

/** What is asked of a share that must exist. */
export interface ShareUse extends ShareAsked {
  readonly leaseId: string | null;
}

/** Common to whatever is asked of a directory. */
export interface PathAsked {
  readonly at: PathAddress;
  readonly access: Access;
}

/** Common to whatever is asked of a file. An id is checked where it is sent. */
export interface FileAsked extends PathAsked {
  readonly leaseId: string | null;
}
