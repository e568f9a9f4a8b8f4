import type { Instant } from "../../base/clock.ts";
import type { HolderList } from "../../service/shared/holder.ts";
import type { Usage } from "../../service/shared/usage-row.ts";
import type { RestServiceName, SentRequest } from "../outcome.ts";

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
  /**
   * What takes space. A call goes on with the measuring for a while, if it is under way or was
   * never done; `again` begins it anew.
   */
  usage(again: boolean): Promise<UsageReport>;
  /** The servers that share the same records; null if this one has its own. */
  members(): Promise<readonly MemberFacts[] | null>;
  /** Null without a lab. */
  readonly scenes: SceneFacts | null;
  /** Judges the credentials of a request, without doing it. Null if there is no such service. */
  judge(asked: CredentialsAsked): Promise<CredentialsJudged | null>;
}

/** A server of a cluster. */
export interface MemberFacts {
  readonly number: number;
  readonly name: string;
  readonly address: string;
  readonly heartbeatAgeMs: number;
  readonly isLeader: boolean;
  /** Whether it is the one that answers. */
  readonly isThis: boolean;
  /** Its database, if there are several; null otherwise. */
  readonly database: string | null;
}

/** Conflicts that a lab plays with n clients. */
export interface SceneFacts {
  readonly clientsMin: number;
  readonly clientsMax: number;
  list(): readonly { readonly name: string; readonly title: string }[];
  /** In the first account, unless one is named. Resolves to a refusal if the lab refuses it. */
  play(
    name: string,
    clients: unknown,
    account: string | null,
  ): Promise<PlayedScene | { readonly status: number; readonly message: string }>;
}

export interface PlayedScene {
  readonly title: string;
  /** The swim lanes. */
  readonly svg: string;
  readonly objects: readonly {
    readonly object: string;
    /** Whether an order was found that explains every answer. */
    readonly verdict: string;
    readonly why: string | null;
    /** In the order in which clients sent them. */
    readonly operations: readonly {
      readonly client: string;
      readonly verb: string;
      readonly status: number | null;
      readonly code: string | null;
      /** Its place in the order that was found. */
      readonly order: number | null;
    }[];
  }[];
}

/** A request whose credentials the console shall explain. */
export interface CredentialsAsked {
  readonly service: RestServiceName;
  readonly sent: SentRequest;
  /** The string that the client says it signed; null if unknown. */
  readonly shownText: string | null;
  /** The only account that the session may see; null for the operator. */
  readonly account: string | null;
}

/** What the server thinks of credentials. It contains no signature and no key. */
export interface CredentialsJudged {
  /** `putBlob`; null if the request was refused before it was routed. */
  readonly operation: string | null;
  /** Null if the request names no account of this server. */
  readonly account: string | null;
  readonly auth: string;
  /** Null if the credentials are good. */
  readonly refusal: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly detail: string | null;
    readonly reason: string | null;
  } | null;
  /** Null unless the signature is the reason. */
  readonly signature: {
    readonly serverText: string;
    /** What the client has signed, and its mistake; null if nobody knows. */
    readonly clientText: string | null;
    readonly mistake: string | null;
    /** Whether the text that the client has shown is what it signed; null if it has shown none. */
    readonly isShownText: boolean | null;
  } | null;
  /** What the operation needs of a SAS, and what this one grants; null if that is unknown. */
  readonly need: NeedJudged | null;
  /** The ACL that refuses it; null if none does. */
  readonly acl: AclJudged | null;
}

/** The access control of a directory or file, and what it lacks for a request. */
export interface AclJudged {
  /** "" for the root directory. */
  readonly path: string;
  readonly owner: string;
  readonly group: string;
  /** `user::rwx,group::r-x,other::---` */
  readonly acl: string;
  readonly isSticky: boolean;
  /** The user as ACLs name it, and its groups. */
  readonly user: string;
  readonly groups: readonly string[];
  /** What the user has there: `r-x`. */
  readonly granted: string;
  /** What it needs there; null if rights are not the reason, but who the owner is. */
  readonly needed: string | null;
}

export interface NeedJudged {
  /** `account-sas`, `service-sas`, `owner`… */
  readonly kind: string;
  /** One of these letters suffices, unless `isEvery`. "" if no SAS permits it. */
  readonly letters: string;
  readonly isEvery: boolean;
  /** The resource type of an account SAS. */
  readonly type: string;
  readonly granted: string | null;
  readonly grantedTypes: string | null;
  /** The stored policy that adds to it. */
  readonly policy: string | null;
  /** One of these actions must be in a role of a user with a token. */
  readonly actions: readonly string[];
}

/** What takes space, as it was measured last. */
export interface UsageReport {
  /** Null until it was measured for the first time. */
  readonly usage: MeasuredUsage | null;
  readonly atMs: Instant | null;
  /** Records read so far, while it is being measured. */
  readonly progress: number | null;
}

/** What takes space: the answer of `lazuli usage --json`. */
export interface MeasuredUsage extends Usage {
  /** Null if the bytes are not in a data folder. */
  readonly disk: DiskUsage | null;
}

/** The files of a data folder. */
export interface DiskUsage {
  readonly databaseBytes: number;
  /** All extents, and the bytes in them that contents use. The rest is garbage, or soon reused. */
  readonly extentBytes: number;
  readonly extentBytesInUse: number;
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
