// The console's own API: docs/reference/console-api.md. The types below are its answers.

export interface Figures {
  readonly atMs: number;
  readonly values: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly durations: { readonly bounds: readonly number[]; readonly counts: readonly number[] };
}

export interface AccountFacts {
  readonly name: string;
  readonly keys: readonly string[];
  readonly urls: Readonly<Record<string, string>>;
  readonly connectionString: string;
}

export interface Home {
  readonly version: string;
  readonly startedMs: number;
  readonly urls: Readonly<Record<string, string>>;
  readonly accounts: readonly AccountFacts[];
  /** Whether bearer tokens are accepted. */
  readonly takesTokens: boolean;
  /** Both only for the operator. */
  readonly place?: string;
  readonly figures?: Figures;
}

export interface Holder {
  readonly account: string;
  readonly container: string;
  readonly path: string;
  readonly held: Held;
}

export type Held =
  | {
      readonly kind: "lease";
      readonly object: "blob" | "container" | "share" | "file";
      readonly id: string;
      readonly state: "leased" | "breaking";
      readonly durationSeconds: number;
      readonly untilMs: number | null;
    }
  | {
      readonly kind: "handle";
      readonly id: string;
      readonly sessionId: string;
      readonly clientIp: string;
      readonly access: readonly string[];
      readonly shareMode: readonly string[];
      readonly isDirectory: boolean;
      readonly deletesOnClose: boolean;
      readonly openedMs: number;
    }
  | {
      readonly kind: "lock";
      readonly handle: string;
      readonly offset: string;
      readonly length: string;
      readonly isExclusive: boolean;
    }
  | {
      readonly kind: "cache";
      readonly form: "oplock" | "lease";
      readonly rights: string;
      readonly isBreaking: boolean;
      readonly handles: number;
    }
  | {
      readonly kind: "message";
      readonly id: string;
      readonly popReceipt: string;
      readonly dequeueCount: number;
      readonly putMs: number;
      readonly sinceMs: number;
      readonly untilMs: number;
    }
  | {
      readonly kind: "copy";
      readonly object: "blob" | "file";
      readonly id: string;
      readonly source: string;
      readonly bytesDone: number;
      readonly bytesTotal: number;
    }
  | { readonly kind: "deletePending"; readonly isDirectory: boolean };

export interface HolderList {
  readonly holders: readonly Holder[];
  readonly atMs: number | null;
  readonly isCut: boolean;
}

export interface SeenRequest {
  readonly number: number;
  readonly atMs: number;
  readonly tookMs: number;
  readonly service: string;
  readonly operation: string;
  readonly account: string | null;
  readonly container: string | null;
  readonly object: string;
  readonly method: string | null;
  readonly target: string | null;
  readonly status: number;
  readonly code: string | null;
  readonly auth: string;
  readonly requestBytes: number;
  readonly responseBytes: number;
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly remoteAddress: string;
  readonly agent: string | null;
  readonly conditions: readonly string[];
  readonly leaseId: string | null;
  readonly etag: string | null;
  readonly isWrite: boolean;
}

export interface Explained {
  readonly request: SeenRequest;
  readonly winner: SeenRequest | null;
  readonly before: readonly SeenRequest[];
}

export interface Member {
  readonly number: number;
  readonly name: string;
  readonly address: string;
  readonly heartbeatAgeMs: number;
  readonly isLeader: boolean;
  readonly isThis: boolean;
  readonly database: string | null;
}

export interface SceneList {
  /** Null without a lab. */
  readonly scenes: readonly { readonly name: string; readonly title: string }[] | null;
  readonly clientsMin?: number;
  readonly clientsMax?: number;
}

export interface PlayedScene {
  readonly title: string;
  readonly svg: string;
  readonly objects: readonly {
    readonly object: string;
    readonly verdict: string;
    readonly why: string | null;
    readonly operations: readonly {
      readonly client: string;
      readonly verb: string;
      readonly status: number | null;
      readonly code: string | null;
      readonly order: number | null;
    }[];
  }[];
}

/** What the server thinks of the credentials of a request. */
export interface Judged {
  readonly operation: string | null;
  readonly account: string | null;
  readonly auth: string;
  readonly refusal: {
    readonly status: number;
    readonly code: string;
    readonly message: string;
    readonly detail: string | null;
    readonly reason: string | null;
  } | null;
  readonly signature: {
    readonly serverText: string;
    readonly clientText: string | null;
    readonly mistake: string | null;
    readonly isShownText: boolean | null;
  } | null;
  readonly need: {
    readonly kind: string;
    readonly letters: string;
    readonly isEvery: boolean;
    readonly type: string;
    readonly granted: string | null;
    readonly grantedTypes: string | null;
    readonly policy: string | null;
  } | null;
}

/** What takes space. */
export interface Space {
  /** The largest first. */
  readonly rows: readonly {
    readonly service: "blob" | "queue" | "table" | "file";
    readonly account: string;
    readonly name: string;
    /** By kind: current, snapshots, versions and so on. */
    readonly amounts: Readonly<
      Record<string, { readonly objects: number; readonly bytes: number }>
    >;
  }[];
  /** Smaller ones, which have no row; null if there are none. */
  readonly others: { readonly count: number; readonly bytes: number } | null;
  /** When it was measured; null if the first time is under way. */
  readonly atMs: number | null;
  /** Records read so far; null if nothing is being measured. */
  readonly progress: number | null;
  /** Only for the operator, and null without a data folder. */
  readonly disk?: {
    readonly databaseBytes: number;
    readonly extentBytes: number;
    readonly extentBytesInUse: number;
  } | null;
}

/** An answer that is no success: the words of the server. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Tells the server that it is the page that asks: other sites cannot send this. */
export const PAGE_HEADERS = { "x-lazuli-console": "1" };

export async function getJson<T>(path: string): Promise<T> {
  return answerOf<T>(await fetch(path, { headers: PAGE_HEADERS }));
}

export async function postJson<T>(path: string, json: object): Promise<T> {
  const headers = { ...PAGE_HEADERS, "content-type": "application/json" };
  return answerOf<T>(await fetch(path, { method: "POST", headers, body: JSON.stringify(json) }));
}

async function answerOf<T>(response: Response): Promise<T> {
  const json = await response.json();
  if (response.ok) return json as T;
  throw new ApiError(response.status, json.code, json.message);
}

/** Subscribes to live events. Returns a function that ends it; the browser reconnects by itself. */
export function listen<T>(
  name: "requests" | "holders" | "figures",
  take: (value: T) => void,
  onState: (isOpen: boolean) => void = () => {},
): () => void {
  const source = new EventSource(`/api/events?of=${name}`);
  source.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent).data)));
  source.addEventListener("open", () => onState(true));
  source.addEventListener("error", () => onState(false));
  return () => source.close();
}
